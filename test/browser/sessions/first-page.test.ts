import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Platform, startPlatform } from "#test/platform.ts";
import { chromiumFile } from "#test/services/chromium.ts";
import { launchBrowser, PHONE, SLOW, Visitor } from "../visitor.ts";

/** The first page as a person uses it, in a real browser. */
describe.skipIf(!chromiumFile)("the first page", SLOW, () => {
  let platform: Platform;
  let browser: Browser;
  let visitor: Visitor;

  beforeAll(async () => {
    platform = await startPlatform();
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await platform.stop();
  });
  beforeEach(async () => {
    visitor = await Visitor.arrive(browser, platform);
  });
  afterEach(() => visitor.leave());

  it("signs in by the link, starts a session and shows the answer", async () => {
    const { page, log } = visitor;
    await visitor.signIn();
    await visitor.picture("empty-desktop");
    await page.keyboard.press("n");
    const dialog = page.getByRole("dialog");
    await dialog.waitFor();
    await visitor.picture("new-session-desktop");
    await dialog.getByLabel(/title/i).fill("Greeting");
    await dialog.getByLabel(/prompt/i).fill("Hello from the browser");
    await page.keyboard.press("Control+Enter");
    await log.getByText("Hello from the browser").nth(1).waitFor();
    await page.getByTestId("receipt").first().waitFor();
    await visitor.picture("session-desktop");
  });

  it("streams a turn as it is written, queues the next prompt, and cuts the turn when steered", async () => {
    const { page, log, prompt } = visitor;
    const session = await platform.createSession({ title: "Streaming" });
    await visitor.signIn();
    await visitor.open(session.id);
    await prompt.fill("stream 400 15");
    await page.keyboard.press("Enter");
    await log.getByText("token3").waitFor();
    await prompt.fill("say the queued one");
    await page.keyboard.press("Enter");
    const queue = page.getByRole("region", { name: "Queue" });
    await queue.getByText("say the queued one").waitFor();
    await visitor.picture("streaming-desktop");
    await queue.getByRole("button", { name: "Send now" }).click();
    await log.getByText("the queued one", { exact: true }).waitFor();
    const { body } = await platform.request<{ items: { outcome: string }[] }>(
      "GET",
      `/api/sessions/${session.id}/prompts`,
    );
    expect(body.items.map((item) => item.outcome).sort()).toEqual(["completed", "superseded"]);
  });

  it("loses nothing when the page is reloaded in the middle of a turn", async () => {
    const { page, log } = visitor;
    const session = await platform.createSession({ title: "Reload" });
    await platform.prompt(session.id, "say first\nstream 120 10\nsay last");
    await visitor.signIn();
    await visitor.open(session.id);
    await log.getByText("token5").waitFor();
    await page.reload();
    await log.getByText("last", { exact: true }).waitFor();
    expect(await log.getByText("first", { exact: true }).count()).toBe(1);
  });

  it("shows a refusal, and keeps the words", async () => {
    const { page, prompt } = visitor;
    const session = await platform.createSession({ title: "Full" });
    await platform.prompt(session.id, "hang");
    for (let i = 0; i < 100; i++) await platform.prompt(session.id, "say later");
    await visitor.signIn();
    await visitor.open(session.id);
    await prompt.fill("one too many");
    await page.keyboard.press("Enter");
    await page
      .getByText(/100 prompts are queued/)
      .first()
      .waitFor();
    expect(await prompt.inputValue()).toBe("one too many");
    visitor.forgive(429);
    await platform.request("DELETE", `/api/sessions/${session.id}?force=true`);
    await page.getByText(/accepts no more prompts/).waitFor();
  });

  it("works on a phone", async () => {
    const { page, log } = visitor;
    await page.setViewportSize(PHONE);
    const session = await platform.createSession({ title: "On the road" });
    await platform.prompt(session.id, "think about it\nsay **Bold**\nsay answer\ntool look {}");
    await visitor.signIn();
    await visitor.picture("list-phone");
    await visitor.open(session.id);
    await log.getByText("answer", { exact: true }).waitFor();
    await visitor.picture("session-phone");
    expect(await visitor.overflow()).toBeLessThanOrEqual(0);
  });
});
