/** A waiting session as the page shows it, with its actions. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningRunner } from "#main/runner/runner.ts";
import { type ModelServer, startModelServer } from "#test/model-server/model-server.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import { chromiumFile } from "#test/services/chromium.ts";
import "#test/services/bubblewrap.ts";
import { launchBrowser, PHONE, SLOW, Visitor } from "../visitor.ts";

describe.skipIf(!chromiumFile)("states in the page", { timeout: 120_000 }, () => {
  let platform: Platform;
  let model: ModelServer;
  let browser: Browser;
  let visitor: Visitor;
  let second: RunningRunner | undefined;
  beforeAll(async () => {
    model = await startModelServer();
    platform = await startPlatform({
      runner: false,
      env: {
        MUSTER_MODEL: "anthropic/test-1",
        ANTHROPIC_API_KEY: "key",
        ANTHROPIC_BASE_URL: model.url,
      },
    });
    browser = await launchBrowser();
    visitor = await Visitor.arrive(browser, platform);
    await visitor.signIn();
  });
  afterAll(async () => {
    await visitor.leave();
    await browser.close();
    await second?.stop();
    await platform.stop();
    await model.close();
  });

  const activity = () => visitor.page.getByTestId("activity");
  const notice = () => visitor.page.getByRole("status", { name: "Waiting" });
  const bash = (command: string) => `CALL bash ${JSON.stringify({ command })}`;

  it("shows that a session waits for a runner, sleeps and wakes by a button, and continues elsewhere", async () => {
    const { page } = visitor;
    const session = await platform.createSession({
      runtime: "native",
      prompt: bash("echo kept > made.txt"),
    });
    await visitor.open(session.id);
    await activity().getByText("Waiting for a runner").waitFor(SLOW);
    await notice().getByText("No runner is connected").waitFor();
    await page.setViewportSize(PHONE);
    expect(await visitor.overflow()).toBe(0);
    await page.setViewportSize({ width: 1280, height: 800 });
    const first = await platform.startRunner("first");
    await activity().getByText("Done").waitFor(SLOW);
    await notice().waitFor({ state: "detached" });

    await page.getByRole("button", { name: "Put session to sleep" }).click();
    await activity().getByText("Asleep").waitFor();
    await page.getByRole("button", { name: "Wake session" }).click();
    await activity().getByText("Done").waitFor();

    await first.stop();
    const read = await platform.prompt(session.id, bash("cat made.txt"));
    await activity().getByText("Waiting for its machine").waitFor(SLOW);
    await notice().getByText("is not connected").waitFor();
    await visitor.picture("waiting-for-its-machine");
    second = await platform.startRunner("second");
    await page.getByRole("button", { name: "Continue on another machine" }).click();
    await page.getByText("Session moved to another machine").waitFor();
    await platform.promptIn(read.id, "settled");
    await activity().getByText("Done").waitFor(SLOW);
    await visitor.log.getByText("continues on another one, in a new workspace").first().waitFor();
  });
});
