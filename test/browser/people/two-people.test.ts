import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inviteToken, PASSWORD } from "#test/clients/people.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import { chromiumFile } from "#test/services/chromium.ts";
import { launchBrowser, SLOW, Visitor } from "../visitor.ts";

const HERS = "Heron migration";
const HIS = "Otter census";
/** Words sent to each page, shown or not. */
const SENT = /Heron|Otter/g;

/** An admin and a member at the same time, each with their own window and live connection. */
describe.skipIf(!chromiumFile)("two people in two browsers", SLOW, () => {
  let platform: Platform;
  let browser: Browser;
  beforeAll(async () => {
    platform = await startPlatform();
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await platform.stop();
  });

  it("see their own sessions and nothing of each other's, while both work", async () => {
    const ada = await Visitor.arrive(browser, platform);
    const ben = await Visitor.arrive(browser, platform);
    const toAda = overhear(ada.page);
    const toBen = overhear(ben.page);
    await ada.signIn();
    await joinAs(ben.page, "Ben");

    const hers = await begin(ada, HERS);
    const his = await begin(ben, HIS);
    // The prompt and its echo.
    await ada.log.getByText(HERS).nth(1).waitFor();
    await ben.log.getByText(HIS).nth(1).waitFor();
    // Both lists are live: each shows its own person's new session.
    const list = (page: Page) => page.getByRole("navigation", { name: "Sessions" });
    await list(ada.page).getByText(HERS).waitFor();
    await list(ben.page).getByText(HIS).waitFor();
    expect(await list(ada.page).getByText(HIS).count()).toBe(0);
    expect(await list(ben.page).getByText(HERS).count()).toBe(0);

    for (const [visitor, foreign] of [
      [ada, his],
      [ben, hers],
    ] as const) {
      await visitor.page.goto(foreign);
      await visitor.page.getByText("Session not found").waitFor();
      visitor.forgive(404);
    }
    expect(new Set(toAda)).toEqual(new Set(["Heron"]));
    expect(new Set(toBen)).toEqual(new Set(["Otter"]));
    await ada.leave();
    await ben.leave();
  });

  async function joinAs(page: Page, name: string): Promise<void> {
    await page.goto(`${platform.url}/join#token=${await inviteToken(platform)}`);
    const form = page.getByRole("form", { name: "Join" });
    await form.getByLabel("Name").fill(name);
    await form.getByLabel("E-mail").fill(`${name.toLowerCase()}@example.org`);
    await form.getByLabel("Password").fill(PASSWORD);
    await form.getByRole("button", { name: "Join", exact: true }).click();
    await page.getByRole("navigation", { name: "Sessions" }).waitFor();
  }
});

/** Starts a session on the page with its first prompt; returns its address. */
async function begin({ page }: Visitor, title: string): Promise<string> {
  await page.getByRole("button", { name: "New session" }).click();
  const form = page.getByRole("form", { name: "New session" });
  await form.getByLabel("Title").fill(title);
  await form.getByLabel("Prompt").fill(title);
  await form.getByRole("button", { name: "Start session" }).click();
  await page.waitForURL(/\/sessions\/ses_/);
  return page.url();
}

/**
 * Collects the marked words in everything the server sends to a page: answers, streams and frames.
 */
function overhear(page: Page): string[] {
  const heard: string[] = [];
  const note = (text: string) => heard.push(...(text.match(SENT) ?? []));
  page.on("response", (response) => {
    if (response.url().includes("/api/"))
      void response.text().then(note, () => {
        // It has no body, or was cut off by navigation.
      });
  });
  page.on("websocket", (socket) => {
    socket.on("framereceived", ({ payload }) => note(payload.toString()));
  });
  return heard;
}
