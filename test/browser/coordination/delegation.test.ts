import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Platform, startPlatform } from "#test/platform.ts";
import { bubblewrapFile } from "#test/services/bubblewrap.ts";
import { chromiumFile } from "#test/services/chromium.ts";
import { launchBrowser, PHONE, SLOW, Visitor } from "../visitor.ts";

const STORY = "Let two agents research otters and make a page about them";
/** Limit for two agents in sequence on a busy machine. */
const PLAYED = { timeout: 30_000 };
/** The narrowest window that shows a page beside a list. */
const SMALL_DESKTOP = { width: 1280, height: 800 };

/** An image of one red pixel. */
const FACE =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==";

describe.skipIf(!chromiumFile || !bubblewrapFile)("delegation in the page", SLOW, () => {
  let platform: Platform;
  let browser: Browser;
  let visitor: Visitor;

  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser.close());
  beforeEach(async () => {
    platform = await startPlatform({
      env: { MUSTER_RUNTIME: "native", MUSTER_MODEL: "demo/story" },
    });
    visitor = await Visitor.arrive(browser, platform);
    await visitor.page.setViewportSize(SMALL_DESKTOP);
    await visitor.signIn();
  });
  afterEach(async () => {
    await visitor.leave();
    await platform.stop();
  });

  const tree = () => visitor.page.getByRole("tree");
  const node = (name: string | RegExp) => tree().getByRole("treeitem", { name });
  const header = () => visitor.page.getByTestId("activity");
  const menuOf = (name: string) =>
    visitor.page.getByRole("button", { name: `Actions for ${name}` });
  const choose = async (name: string, action: RegExp) => {
    await node(new RegExp(name)).hover();
    await menuOf(name).click();
    await visitor.page.getByRole("menuitem", { name: action }).click();
  };

  async function askForTheStory() {
    const { page, prompt } = visitor;
    await page.getByRole("button", { name: STORY }).click();
    expect(await prompt.inputValue()).toBe(STORY);
    await page.keyboard.press("Enter");
  }

  async function secondCameAfterFirst() {
    const { items } = await platform.api.sessions.list();
    const idOf = (title: string) => items.find((one) => one.title === title)?.id ?? "";
    const prompts = await Promise.all(
      ["Research: otters", "Page: otters"].map(
        async (title) => (await platform.api.prompts.list({ id: idOf(title) })).items[0],
      ),
    );
    const [research, page] = prompts;
    expect(research?.settledAt).not.toBeNull();
    expect(Date.parse(page?.acceptedAt ?? "")).toBeGreaterThanOrEqual(
      Date.parse(research?.settledAt ?? ""),
    );
  }

  it("opens in a conversation without a form, and plays the story with two children", async () => {
    const { page, log } = visitor;
    await page.getByRole("heading", { name: "What can I help with?" }).waitFor();
    await page.getByText("You're on the built-in demo model").waitFor();
    await page.getByRole("form", { name: "Name your orchestrator" }).waitFor();
    await visitor.picture("home-first-desktop");
    await askForTheStory();

    await node(/Research: otters/).waitFor(PLAYED);
    await log.getByText("Waiting for agents").first().waitFor();
    await visitor.picture("story-research-desktop");
    const second = node(/Page: otters/);
    await second.waitFor(PLAYED);
    await second.getByText("Needs you", { exact: true }).first().waitFor(PLAYED);
    await header()
      .getByText(/Waiting for 1 agent, 1 needs you/)
      .waitFor();
    expect(await second.getAttribute("aria-level")).toBe("2");
    await visitor.picture("story-needs-you-desktop");

    await page.getByRole("navigation", { name: "Needs you" }).getByText("Page: otters").click();
    await page.getByRole("navigation", { name: "Parent" }).getByRole("link").waitFor();
    await log
      .getByRole("article", { name: /Prompt by/ })
      .getByRole("link")
      .first()
      .waitFor();
    await visitor.picture("child-desktop");
    await page.getByTestId("gate").getByRole("button", { name: "Allow once" }).click();
    await page.getByTestId("gate-closed").waitFor();
    await page.getByRole("navigation", { name: "Parent" }).getByRole("link").click();

    await log.getByText("Both child sessions are done.").waitFor(PLAYED);
    const news = log.getByRole("article", { name: "Updates from child sessions" });
    expect(await news.count()).toBe(2);
    await news.first().getByText("finished its turn").waitFor();
    await page.getByText(/incl. children/).waitFor();
    await secondCameAfterFirst();
    await visitor.picture("story-done-desktop");
    await news.first().getByRole("button", { name: "Message from child" }).click();
    await news
      .first()
      .getByText(/worker\.ended: "Research: otters"/)
      .waitFor();
    await news.first().getByRole("link", { name: "Research: otters" }).click();
    await page.getByRole("heading", { name: "Research: otters", exact: true }).waitFor();
  });

  it("walks the tree by keyboard, and steers, stops, detaches and ends sessions from it", async () => {
    const { page, log } = visitor;
    const parentSessionId = (await platform.api.orchestrators.create()).session.id;
    for (const title of ["Alpha", "Beta", "Gamma"]) {
      const child = { title, parentSessionId, runtime: "scripted" };
      const { id } = await platform.createSession(child);
      await platform.prompt(id, title === "Alpha" ? "hang" : "say hello");
    }
    await node(/Gamma/).waitFor();
    await node(/Alpha.*Working/).waitFor();

    const orchestrator = tree().getByRole("treeitem").first();
    await orchestrator.focus();
    await page.keyboard.press("ArrowLeft");
    expect(await orchestrator.getAttribute("aria-expanded")).toBe("false");
    expect(await node(/Alpha/).count()).toBe(0);
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowDown");
    expect(await page.locator("[role=treeitem]:focus").innerText()).toContain("Beta");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByRole("menuitem", { name: "Open" }).waitFor();
    await visitor.picture("tree-menu-desktop");
    await page.keyboard.press("Escape");
    await page.getByRole("menu").waitFor({ state: "detached" });
    expect(await page.locator("button:focus").getAttribute("aria-label")).toContain("Beta");
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Beta" }).waitFor();

    await choose("Alpha", /Send a message/);
    const dialog = page.getByRole("dialog", { name: "Message to Alpha" });
    await expect.poll(() => dialog.locator("textarea:focus").count()).toBe(1);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    expect(await page.locator("button:focus").getAttribute("aria-label")).toContain("Alpha");
    await choose("Alpha", /Send a message/);
    await dialog.getByLabel("Message").fill("say steered");
    await dialog.getByLabel(/Now/).check();
    await visitor.picture("tree-steer-desktop");
    await dialog.getByRole("button", { name: "Send" }).click();
    await node(/Alpha/).click();
    await log.getByText("steered", { exact: true }).last().waitFor();

    await choose("Beta", /Send a message/);
    await page.getByRole("dialog").getByLabel("Message").fill("hang");
    await page.getByRole("dialog").getByRole("button", { name: "Send" }).click();
    await node(/Beta.*Working/).waitFor();
    await choose("Beta", /Stop turn/);
    await expect.poll(() => node(/Beta.*Working/).count()).toBe(0);

    await choose("Gamma", /Detach/);
    await page.getByRole("alertdialog").getByRole("button", { name: "Detach" }).click();
    await expect.poll(() => node(/Gamma/).getAttribute("aria-level")).toBe("1");
    await choose("Beta", /End session/);
    await page.getByRole("alertdialog").getByRole("button", { name: "End session" }).click();
    await node(/Beta/).waitFor({ state: "detached" });
    expect(await node(/Alpha/).getAttribute("aria-level")).toBe("2");
  });

  it("asks for an orchestrator once, and says what to do when there is none", async () => {
    const { page } = visitor;
    const guest = await Visitor.arrive(browser, platform);
    let asked = 0;
    await page.getByRole("heading", { name: "What can I help with?" }).waitFor();
    await guest.page.route("**/api/me/orchestrator", async (route) => {
      const isStart = route.request().method() === "POST";
      asked += isStart ? 1 : 0;
      const error = { code: "session_limit_reached", message: "Too many. End one first." };
      if (isStart) return route.fulfill({ status: 429, json: { error } });
      return route.fulfill({ json: { session: null, identity: null, needsRestart: false } });
    });
    await guest.signIn();
    await guest.page.getByRole("heading", { name: "Couldn't start your orchestrator" }).waitFor();
    await guest.page.getByText("Too many. End one first.").waitFor();
    await guest.picture("home-trouble-desktop");
    expect(asked).toBe(1);
    await guest.page.unroute("**/api/me/orchestrator");
    await guest.page.getByRole("button", { name: "Try again" }).click();
    await guest.page.getByRole("heading", { name: "What can I help with?" }).waitFor();
    guest.forgive(429);
    await guest.leave();
  });

  it("works on a phone: the conversation first, the tree in a drawer", async () => {
    const { page, log } = visitor;
    await page.setViewportSize(PHONE);
    await page.getByRole("heading", { name: "What can I help with?" }).waitFor();
    await visitor.picture("home-first-phone");
    expect(await visitor.overflow()).toBeLessThanOrEqual(0);
    await askForTheStory();
    await page
      .getByRole("navigation", { name: "Needs you" })
      .getByText("Page: otters")
      .waitFor(PLAYED);
    await visitor.picture("story-phone");
    expect(await visitor.overflow()).toBeLessThanOrEqual(0);
    await page.getByRole("button", { name: /All sessions/ }).click();
    await node(/Page: otters/).waitFor();
    await visitor.picture("tree-phone");
    await node(/Page: otters/).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.getByTestId("gate").getByRole("button", { name: "Allow once" }).click();
    await visitor.picture("child-phone");
    expect(await visitor.overflow()).toBeLessThanOrEqual(0);
    await page.getByRole("navigation", { name: "Parent" }).getByRole("link").click();
    await log.getByText("Both child sessions are done.").waitFor(PLAYED);
    // Going back does not reopen the drawer.
    expect(await page.getByRole("dialog").count()).toBe(0);
    await visitor.picture("story-done-phone");
    expect(await visitor.overflow()).toBeLessThanOrEqual(0);
  });

  it("is named at the first visit or in the settings, and restarted after a confirmation", async () => {
    const { page } = visitor;
    const form = page.getByRole("form", { name: "Name your orchestrator" });
    await form.getByRole("textbox").fill("Ada");
    await form.getByRole("button", { name: "Save" }).click();
    await form.waitFor({ state: "detached" });
    await node(/Ada/).waitFor();
    await page.getByRole("heading", { name: "Ada", exact: true }).waitFor();

    await page.getByRole("link", { name: "Settings" }).click();
    const settings = page.getByRole("form", { name: "Your orchestrator" });
    await settings.getByLabel("Avatar").fill("🦉");
    await settings.getByLabel("Handle").fill("system");
    await settings.getByText("@system is taken.").waitFor();
    await settings.getByRole("button", { name: /^Use @/ }).click();
    await settings.getByText("available").waitFor();
    await settings.getByLabel("Style").selectOption("terse");
    await settings.getByLabel("Custom instructions").fill("Call me captain.");
    await settings.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved. Applies").waitFor();
    await settings.getByLabel("Upload an image").setInputFiles({
      name: "face.png",
      mimeType: "image/png",
      buffer: Buffer.from(FACE, "base64"),
    });
    await settings.getByRole("button", { name: "Save" }).click();
    await settings.locator('img[src^="data:image/webp"]').waitFor();
    // In the list the image comes from the server, which stores it.
    await tree().locator("img").first().waitFor();
    await page.getByLabel("Sleep after").selectOption({ label: "1 hour" });
    await page.getByText("Saved", { exact: true }).waitFor();
    await visitor.picture("settings-orchestrator-desktop");
    await page.getByRole("button", { name: "Restart" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Restart" }).click();
    await page.getByText("Restarted 1 time").waitFor();
    await page.setViewportSize(PHONE);
    await visitor.picture("settings-orchestrator-phone");
    expect(await visitor.overflow()).toBeLessThanOrEqual(0);
    expect(await platform.api.orchestrators.get()).toMatchObject({
      identity: {
        name: "Ada",
        avatar: expect.stringMatching(/^\/api\/agents\/usr_\w+\/avatar\?v=/),
        style: "terse",
        customInstructions: "Call me captain.",
      },
      needsRestart: false,
    });
  });
});
