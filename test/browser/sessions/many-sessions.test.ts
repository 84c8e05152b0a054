import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Platform, startPlatform } from "#test/platform.ts";
import { chromiumFile } from "#test/services/chromium.ts";
import { launchBrowser, PHONE, SLOW, Visitor } from "../visitor.ts";

/** Far more than one page of the list. */
const OTHERS = 200;

/** The list of a person with hundreds of sessions, most of them newer than the open one. */
describe.skipIf(!chromiumFile)("a list of hundreds of sessions", SLOW, () => {
  let platform: Platform;
  let browser: Browser;
  let visitor: Visitor;
  let leaf: string;
  let archived: string;

  beforeAll(async () => {
    browser = await launchBrowser();
    platform = await startPlatform({ runner: false });
    const { body } = await platform.request<{ session: { id: string } }>(
      "POST",
      "/api/me/orchestrator",
      {},
    );
    const child = (parentSessionId: string, title: string) =>
      platform.createSession({ parentSessionId, title });
    for (let at = 1; at <= 60; at++) await child(body.session.id, `Errand ${at}`);
    archived = (await platform.createSession({ title: "Put away" })).id;
    await platform.request("DELETE", `/api/sessions/${archived}`);
    const top = await platform.createSupervisor({ title: "Old leader" });
    leaf = (await child(top.id, "Old worker")).id;
    for (let at = 1; at <= OTHERS; at++) await platform.createSession({ title: `Other ${at}` });
    visitor = await Visitor.arrive(browser, platform);
    await visitor.signIn();
  });
  afterAll(async () => {
    await visitor.leave();
    await browser.close();
    await platform.stop();
  });

  const row = (name: string) =>
    visitor.page.getByRole("tree").getByRole("treeitem", { name: new RegExp(`^${name}\\b`) });

  it("has all children of the orchestrator", async () => {
    await row("Errand 1").waitFor();
    await row("Errand 60").waitFor();
    expect(await row("Errand 1").getAttribute("aria-level")).toBe("2");
    await visitor.picture("many-sessions-desktop");
  });

  it("has the open session, its ancestors and its children, and scrolls to it", async () => {
    await visitor.open(leaf);
    await row("Old worker").waitFor();
    await row("Old leader").waitFor();
    expect(await row("Old worker").getAttribute("aria-level")).toBe("2");
    await expect
      .poll(() => row("Old worker").evaluate((node) => node.getBoundingClientRect().bottom))
      .toBeLessThanOrEqual(900);
    await visitor.picture("many-sessions-open-desktop");
    await row("Old leader").click();
    await visitor.page.getByRole("heading", { name: "Old leader" }).waitFor();
    await row("Old worker").waitFor();
  });

  it("has the open session when its parent is folded, and in filtered views", async () => {
    const { page } = visitor;
    await visitor.open(leaf);
    await row("Old leader").focus();
    await page.keyboard.press("ArrowLeft");
    await expect.poll(() => row("Old leader").getAttribute("aria-expanded")).toBe("false");
    await row("Old worker").waitFor();
    await page.reload();
    await row("Old worker").waitFor();
    await row("Old leader").focus();
    await page.keyboard.press("ArrowRight");
    await expect.poll(() => row("Old leader").getAttribute("aria-expanded")).toBe("true");

    const list = page.getByRole("navigation", { name: "Sessions" });
    const apart = list.getByRole("link", { name: /Open now/ });
    await list.getByLabel("Show").selectOption("working");
    await apart.waitFor();
    expect(await apart.textContent()).toContain("Old worker");
    await list.getByLabel("Search sessions").fill("zzz");
    await list.getByText("No matching sessions.").waitFor();
    await apart.waitFor();
    await visitor.picture("open-session-in-filtered-list-desktop");
    await list.getByLabel("Search sessions").fill("Old worker");
    await list.getByLabel("Show").selectOption("open");
    await list.getByRole("link", { name: /^Old worker/ }).waitFor();
    await apart.waitFor({ state: "detached" });
    await list.getByLabel("Search sessions").fill("");
  });

  it("has an archived session only while it is open", async () => {
    await visitor.open(archived);
    await row("Put away").waitFor();
    await row("Old leader").waitFor({ state: "detached" });
    await row("Other 200").click();
    await row("Put away").waitFor({ state: "detached" });
  });

  it("does the same in the drawer of a phone", async () => {
    await visitor.page.setViewportSize(PHONE);
    await visitor.open(leaf);
    await visitor.page.getByRole("button", { name: /^All sessions/ }).click();
    await row("Old worker").waitFor();
    await visitor.picture("many-sessions-phone");
    expect(await visitor.overflow()).toBeLessThanOrEqual(0);
  });
});
