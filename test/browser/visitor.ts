/** A person at a real browser who signs in, looks and clicks; errors of the page are collected. */
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { expect } from "vitest";
import type { Platform } from "#test/platform.ts";
import { chromiumFile } from "#test/services/chromium.ts";

const QUIET = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
/** A browser, a sandbox and several turns are slow on a busy machine. */
export const SLOW = { timeout: 60_000 };
const DESKTOP = { width: 1440, height: 900 };
export const PHONE = { width: 390, height: 844 };
/** Folder for screenshots of the journeys, if set. */
const pictures = process.env.MUSTER_TEST_PICTURES;

export function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: chromiumFile ?? "", args: QUIET });
}

export class Visitor {
  readonly page: Page;
  readonly #context: BrowserContext;
  readonly #platform: Platform;
  #complaints: string[] = [];

  private constructor(context: BrowserContext, page: Page, platform: Platform) {
    this.#context = context;
    this.page = page;
    this.#platform = platform;
    page.setDefaultTimeout(8_000);
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning")
        this.#complaints.push(message.text());
    });
    page.on("pageerror", (error) => this.#complaints.push(error.message));
  }

  static async arrive(browser: Browser, platform: Platform): Promise<Visitor> {
    const context = await browser.newContext({ viewport: DESKTOP });
    return new Visitor(context, await context.newPage(), platform);
  }

  /** Closes the page, and fails if the page reported an error. */
  async leave(): Promise<void> {
    await this.#context.close();
    expect(this.#complaints).toEqual([]);
  }

  /** Accepts an expected complaint: the browser itself logs every refused request. */
  forgive(what: number | string): void {
    this.#complaints = this.#complaints.filter((text) => !text.includes(String(what)));
  }

  async signIn(): Promise<void> {
    const { link } = await this.#platform.api.auth.createLink();
    await this.page.goto(link);
    const list = this.page.getByRole("navigation", { name: "Sessions" });
    // On a phone the list is in a drawer.
    await list.or(this.page.getByRole("button", { name: /^All sessions/ })).waitFor();
    expect(this.page.url()).not.toContain("token");
  }

  async open(sessionId: string): Promise<void> {
    await this.page.goto(`${this.#platform.url}/sessions/${sessionId}`);
    await this.log.waitFor();
  }

  get prompt() {
    return this.page.getByRole("textbox", { name: "Prompt" });
  }

  get log() {
    return this.page.getByRole("log", { name: "Transcript" });
  }

  /** Pixels by which the page is wider than its window. */
  overflow(): Promise<number> {
    // A string, because this file is compiled without the browser's types.
    return this.page.evaluate<number>("document.documentElement.scrollWidth - window.innerWidth");
  }

  async picture(name: string): Promise<void> {
    if (pictures !== undefined) await this.page.screenshot({ path: `${pictures}/${name}.png` });
  }
}
