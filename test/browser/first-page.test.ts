import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Platform, startPlatform } from "#test/platform.ts";
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
const DESKTOP = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844 };
/** Set to a folder to keep pictures of what the journeys saw. */
const pictures = process.env.MUSTER_TEST_PICTURES;

/** The first page as a person uses it, in a real browser. */
describe.skipIf(!chromiumFile)("the first page", () => {
  let platform: Platform;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let complaints: string[];

  beforeAll(async () => {
    platform = await startPlatform();
    browser = await chromium.launch({ executablePath: chromiumFile ?? "", args: QUIET });
  });
  afterAll(async () => {
    await browser.close();
    await platform.stop();
  });

  beforeEach(async () => {
    context = await browser.newContext({ viewport: DESKTOP });
    page = await context.newPage();
    page.setDefaultTimeout(6_000);
    complaints = [];
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning")
        complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(error.message));
  });
  afterEach(async () => {
    await context.close();
    expect(complaints).toEqual([]);
  });

  async function signIn(): Promise<void> {
    const { body } = await platform.request<{ link: string }>("POST", "/api/auth/links", {});
    await page.goto(body.link);
    await page.getByRole("navigation", { name: "Sessions" }).waitFor();
    expect(page.url()).not.toContain("token");
  }

  async function picture(name: string): Promise<void> {
    if (pictures !== undefined) await page.screenshot({ path: `${pictures}/${name}.png` });
  }

  const prompt = () => page.getByRole("textbox", { name: "Prompt" });
  const log = () => page.getByRole("log", { name: "Transcript" });

  async function open(sessionId: string): Promise<void> {
    await page.goto(`${platform.url}/sessions/${sessionId}`);
    await log().waitFor();
  }

  it("signs in by the link, starts a session and shows the answer", async () => {
    await signIn();
    await picture("empty-desktop");
    await page.keyboard.press("n");
    const dialog = page.getByRole("dialog");
    await dialog.waitFor();
    await picture("new-session-desktop");
    await dialog.getByLabel(/title/i).fill("Greeting");
    await dialog.getByLabel(/prompt/i).fill("Hello from the browser");
    await page.keyboard.press("Control+Enter");
    await log().getByText("Hello from the browser").nth(1).waitFor();
    await page.getByTestId("receipt").first().waitFor();
    await picture("session-desktop");
  });

  it("streams a turn as it is written, queues what follows, and cuts it when steered", async () => {
    const session = await platform.createSession({ title: "Streaming" });
    await signIn();
    await open(session.id);
    await prompt().fill("stream 400 15");
    await page.keyboard.press("Enter");
    await log().getByText("token3").waitFor();
    await prompt().fill("say the queued one");
    await page.keyboard.press("Enter");
    const queue = page.getByRole("region", { name: "Queue" });
    await queue.getByText("say the queued one").waitFor();
    await picture("streaming-desktop");
    await queue.getByRole("button", { name: "Send now" }).click();
    await log().getByText("the queued one", { exact: true }).waitFor();
    const { body } = await platform.request<{ items: { outcome: string }[] }>(
      "GET",
      `/api/sessions/${session.id}/prompts`,
    );
    expect(body.items.map((item) => item.outcome).sort()).toEqual(["completed", "superseded"]);
  });

  it("loses nothing when the page is reloaded in the middle of a turn", async () => {
    const session = await platform.createSession({ title: "Reload" });
    await platform.prompt(session.id, "say first\nstream 120 10\nsay last");
    await signIn();
    await open(session.id);
    await log().getByText("token5").waitFor();
    await page.reload();
    await log().getByText("last", { exact: true }).waitFor();
    expect(await log().getByText("first", { exact: true }).count()).toBe(1);
  });

  it("says what the server refuses, and keeps the words", async () => {
    const session = await platform.createSession({ title: "Full" });
    await platform.prompt(session.id, "hang");
    for (let i = 0; i < 100; i++) await platform.prompt(session.id, "say later");
    await signIn();
    await open(session.id);
    await prompt().fill("one too many");
    await page.keyboard.press("Enter");
    await page
      .getByText(/100 prompts are waiting/)
      .first()
      .waitFor();
    expect(await prompt().inputValue()).toBe("one too many");
    // The browser itself notes a refused request; that is no fault of the page.
    complaints = complaints.filter((text) => !text.includes("429"));
    await platform.request("DELETE", `/api/sessions/${session.id}?force=true`);
    await page.getByText(/takes no more prompts/).waitFor();
  });

  it("works on a phone", async () => {
    await page.setViewportSize(PHONE);
    const session = await platform.createSession({ title: "On the road" });
    await platform.prompt(session.id, "think about it\nsay **Bold**\nsay answer\ntool look {}");
    await signIn();
    await picture("list-phone");
    await open(session.id);
    await log().getByText("answer", { exact: true }).waitFor();
    await picture("session-phone");
    // As text, because this file is compiled without the browser's types.
    const overflow = await page.evaluate<number>(
      "document.documentElement.scrollWidth - window.innerWidth",
    );
    expect(overflow).toBeLessThanOrEqual(0);
  });
});
