import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Platform, startPlatform } from "#test/platform.ts";
import { chromiumFile } from "#test/services/chromium.ts";
import { launchBrowser, PHONE, SLOW, Visitor } from "../visitor.ts";

const DESK = { width: 1280, height: 800 };

/** A spawn call as a line of a script. */
const spawn = (input: Record<string, string>) =>
  `tool orchestrate_spawn_worker ${JSON.stringify(input)}`;

/** The panel of supervisor mode, from the first click to the last. It is live: nothing is reloaded. */
describe.skipIf(!chromiumFile)("supervisor mode", SLOW, () => {
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

  it("is enabled, shows its workers, and is disabled", async () => {
    const { id } = await platform.createSession({ title: "Lead" });
    const visitor = await Visitor.arrive(browser, platform);
    const { page } = visitor;
    await page.setViewportSize(DESK);
    await visitor.signIn();
    await visitor.open(id);
    const panel = page.getByRole("region", { name: "Workers and supervisor mode" });
    const button = page.getByRole("button", { name: /^Workers/ });
    const confirm = (action: string) =>
      page.getByRole("alertdialog").getByRole("button", { name: action }).click();
    const worker = (name: string) =>
      panel
        .getByRole("list", { name: "Workers" })
        .getByRole("listitem")
        .filter({ has: page.getByRole("link", { name }) });

    await button.click();
    await visitor.picture("orchestration-standalone-desktop");
    await panel.getByRole("button", { name: "Enable supervisor mode" }).click();
    await panel.getByText("No workers yet.").waitFor();

    // The supervisor stays busy, so notices about its workers wait.
    await platform.prompt(
      id,
      [
        spawn({ name: "counter", initialPrompt: "say I counted 7." }),
        spawn({ name: "sleeper", initialPrompt: "sleep 600000" }),
        // Its first prompt is no script, so its turn fails.
        spawn({ name: "briefed", initialPrompt: "say Hello.", contextSummary: "It is in lib/." }),
        "hang",
      ].join("\n"),
    );
    await worker("sleeper").getByText("streaming").waitFor();
    await worker("briefed").getByText("Handoff").waitFor();
    await worker("counter").getByText("idle").waitFor();
    await panel.getByText("3 of 8 active").waitFor();
    await panel.getByText("2 pending events").waitFor();
    await panel.getByRole("button", { name: /^Inbox/ }).click();
    const inbox = panel.getByRole("list", { name: "Inbox" }).getByRole("listitem");
    await inbox.filter({ hasText: "I counted 7." }).getByText("pending").waitFor();
    await inbox.filter({ hasText: "briefed" }).getByText("Failed").waitFor();
    await visitor.picture("orchestration-supervisor-desktop");
    await page.setViewportSize(PHONE);
    await visitor.picture("orchestration-supervisor-phone");
    expect(await visitor.overflow()).toBeLessThanOrEqual(0);
    await page.setViewportSize(DESK);

    await worker("sleeper").getByRole("button", { name: "Kill sleeper" }).click();
    await confirm("Kill");
    await worker("sleeper").getByText("cold").waitFor();
    await inbox.filter({ hasText: "Deleted" }).waitFor();
    await worker("sleeper").getByRole("button", { name: "Resume sleeper" }).click();
    await worker("sleeper").getByText("idle").waitFor();
    await worker("counter").getByRole("button", { name: "Detach counter" }).click();
    await confirm("Detach");
    await worker("counter").waitFor({ state: "detached" });
    await inbox.filter({ hasText: "Detached" }).waitFor();

    await worker("briefed").getByRole("link").click();
    await button.click();
    await panel.getByText("Handoff").waitFor();
    await visitor.picture("orchestration-worker-desktop");
    await panel.getByRole("link", { name: "Lead" }).click();
    await page.getByRole("heading", { name: "Lead" }).waitFor();
    await button.click();
    await panel.getByRole("button", { name: "Clear inbox" }).click();
    await confirm("Clear inbox");
    await panel.getByRole("button", { name: /^Inbox/ }).waitFor({ state: "detached" });
    await panel.getByRole("button", { name: "Disable supervisor mode" }).click();
    await confirm("Disable");
    await panel.getByRole("button", { name: "Enable supervisor mode" }).waitFor();
    await page.setViewportSize(PHONE);
    await visitor.picture("orchestration-standalone-phone");
    expect(await visitor.overflow()).toBeLessThanOrEqual(0);
    await visitor.leave();
    await platform.request("POST", `/api/sessions/${id}/stop`, {});
  });

  it("is hidden where the server does not offer it", async () => {
    const closed = await startPlatform({ env: { ORCHESTRATION_DISABLED: "true" } });
    const { id } = await closed.createSession({ title: "Alone" });
    const visitor = await Visitor.arrive(browser, closed);
    await visitor.signIn();
    await visitor.open(id);
    await visitor.page.getByRole("button", { name: "Archive session" }).waitFor();
    expect(await visitor.page.getByRole("button", { name: /^Workers/ }).count()).toBe(0);
    const refused = await closed.request("POST", `/api/v1/orchestration/sessions/${id}/enable`, {});
    expect(refused).toMatchObject({
      status: 403,
      body: { error: { code: "orchestration_disabled" } },
    });
    await visitor.leave();
    await closed.stop();
  });
});
