import { rmSync } from "node:fs";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makePathWithoutSandbox } from "#test/path-without-sandbox.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import { chromiumFile } from "#test/services/chromium.ts";
import { launchBrowser, PHONE, Visitor } from "../visitor.ts";

const STORY = "Let two agents research otters and make a page about them";
const SMALL_DESKTOP = { width: 1280, height: 800 };
const STORY_MS = 180_000;
const PLAYED = { timeout: 60_000 };

/** A machine on which nothing can be installed: the page says so, and the story still ends. */
describe.skipIf(!chromiumFile)(
  "a machine without a sandbox, in the page",
  { timeout: STORY_MS },
  () => {
    let platform: Platform;
    let browser: Browser;
    let visitor: Visitor;
    let path: string;

    beforeAll(async () => {
      path = makePathWithoutSandbox();
      platform = await startPlatform({
        env: { PATH: path, MUSTER_RUNTIME: "native", MUSTER_MODEL: "demo/story" },
      });
      browser = await launchBrowser();
      visitor = await Visitor.arrive(browser, platform);
      await visitor.page.setViewportSize(SMALL_DESKTOP);
      await visitor.signIn();
    });
    afterAll(async () => {
      await visitor.leave();
      await browser.close();
      await platform.stop();
      rmSync(path, { recursive: true, force: true });
    });

    const card = () => visitor.page.getByTestId("sandbox-card");
    const bar = () => visitor.page.getByRole("region", { name: "Work without a sandbox" });

    it("shows one card: the missing program, the command, and the alternatives", async () => {
      const { page } = visitor;
      await page.getByRole("heading", { name: /Agents cannot run commands on .* yet/ }).waitFor();
      expect(await card().count()).toBe(1);
      await card().getByText("Bubblewrap is not installed").waitFor();
      await card().getByText("sudo apt-get install -y bubblewrap", { exact: true }).waitFor();
      await card().getByRole("button", { name: "Check again" }).click();
      await card().getByText("Still no sandbox.").waitFor();
      await visitor.picture("sandbox-card-desktop");
      await page.setViewportSize(PHONE);
      expect(await visitor.overflow()).toBe(0);
      await visitor.picture("sandbox-card-phone");
      await card().getByRole("button", { name: "Hide" }).click();
      await visitor.picture("sandbox-card-hidden-phone");
      await card().getByRole("button", { name: "Show steps" }).click();
      await page.setViewportSize(SMALL_DESKTOP);
    });

    it("pauses the story, and plays it to its end after consent, which can be withdrawn", async () => {
      const { page, log } = visitor;
      await page.getByRole("button", { name: STORY }).click();
      await page.keyboard.press("Enter");
      const research = page.getByRole("treeitem", { name: /Research: otters/ });
      await research.waitFor(PLAYED);
      await research.click();
      await page
        .getByText(/Bubblewrap is not installed/)
        .nth(1)
        .waitFor(PLAYED);
      await visitor.picture("sandbox-waits-desktop");

      await card().getByText("Or work without a sandbox on this machine").click();
      await visitor.picture("sandbox-consent-desktop");
      await card().getByRole("button", { name: "Work without a sandbox" }).click();
      await bar().waitFor();
      // Two agents, and each of their commands asks.
      const done = page.getByText("Both child sessions are done.");
      const needs = page.getByRole("navigation", { name: "Needs you" });
      const isDone = async () => {
        if (await done.first().isVisible()) return true;
        const gate = page.getByTestId("gate").getByRole("button", { name: "Allow once" });
        if (
          await gate
            .first()
            .isEnabled({ timeout: 100 })
            .catch(() => false)
        ) {
          await visitor.picture("sandbox-asks-desktop");
          await gate.first().click();
        } else if (await needs.getByRole("link").first().isVisible()) {
          await needs.getByRole("link").first().click();
        } else {
          const parent = page.getByRole("navigation", { name: "Parent" }).getByRole("link");
          if (await parent.isVisible()) await parent.click();
        }
        return false;
      };
      await expect.poll(isDone, { timeout: STORY_MS, interval: 500 }).toBe(true);
      await log.waitFor();
      await visitor.picture("sandbox-story-done-desktop");
      await page.getByText("without a sandbox", { exact: true }).first().waitFor();
      await page.setViewportSize(PHONE);
      expect(await visitor.overflow()).toBe(0);
      await visitor.picture("sandbox-open-phone");
      await page.setViewportSize(SMALL_DESKTOP);

      await bar().getByRole("button", { name: "Require a sandbox" }).click();
      await page.getByRole("heading", { name: /Agents cannot run commands on .* yet/ }).waitFor();
      await visitor.picture("sandbox-revoked-desktop");
    });
  },
);
