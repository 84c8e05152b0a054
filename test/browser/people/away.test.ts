import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { inviteToken, PASSWORD } from "#test/clients/people.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import { chromiumFile } from "#test/services/chromium.ts";
import { launchBrowser, PHONE, SLOW, Visitor } from "../visitor.ts";

/** Longer than the page waits between two attempts. */
const BACK = { timeout: 30_000 };
const NETWORK = "net::ERR";

/** A page whose server goes away and comes back, and tabs whose person signs out. */
describe.skipIf(!chromiumFile)("a page without its server or its person", SLOW, () => {
  const home = mkdtempSync(join(tmpdir(), "muster-away-"));
  let platform: Platform;
  let browser: Browser;
  let visitor: Visitor;

  beforeAll(async () => {
    browser = await launchBrowser();
    platform = await startPlatform({ home });
  });
  afterEach(async () => {
    visitor.forgive(NETWORK);
    visitor.forgive("WebSocket");
    visitor.forgive(401);
    await visitor.leave();
  });
  afterAll(async () => {
    await browser.close();
    await platform.stop();
    rmSync(home, { recursive: true, force: true });
  });

  const restart = async () => {
    const MUSTER_PORT = new URL(platform.url).port;
    platform = await startPlatform({ home, env: { MUSTER_PORT } });
  };
  const kept = (page: Page) =>
    page.evaluate<string>("JSON.stringify([{...localStorage}, {...sessionStorage}])");
  const promptsOf = async (id: string) => (await platform.api.prompts.list({ id })).items;

  it("keeps a prompt while the server is away, and sends it by itself, once", async () => {
    visitor = await Visitor.arrive(browser, platform);
    await visitor.signIn();
    const session = await platform.createSession({ runtime: "echo", title: "Otters" });
    await visitor.open(session.id);
    await platform.stop();
    await visitor.prompt.fill("first words");
    await visitor.page.keyboard.press("Enter");
    await visitor.prompt.fill("second words");
    await visitor.page.keyboard.press("Enter");
    const queue = visitor.page.getByRole("region", { name: "Queue" });
    await queue
      .getByText(/Sent as soon as the server responds/)
      .first()
      .waitFor();
    await visitor.picture("away-desktop");
    await visitor.page.setViewportSize(PHONE);
    await visitor.picture("away-phone");
    expect(await visitor.overflow()).toBeLessThanOrEqual(0);
    await restart();
    await visitor.log.getByText("second words").nth(1).waitFor(BACK);
    await queue.waitFor({ state: "detached" });
    const prompts = await promptsOf(session.id);
    expect(prompts.map(({ content }) => content)).toEqual(["second words", "first words"]);
    expect(prompts.every(({ dispatchId }) => dispatchId !== null)).toBe(true);
    expect(await kept(visitor.page)).not.toContain("first words");
  });

  it("sends it after a reload too, also from another page", async () => {
    visitor = await Visitor.arrive(browser, platform);
    await visitor.signIn();
    const session = await platform.createSession({ runtime: "echo", title: "Herons" });
    await visitor.open(session.id);
    // Only this route is blocked: the page itself must load.
    await visitor.page.route("**/prompts", (route) => route.abort());
    await visitor.prompt.fill("kept words");
    await visitor.page.keyboard.press("Enter");
    const queue = visitor.page.getByRole("region", { name: "Queue" });
    await queue.getByText(/Sent as soon as the server responds/).waitFor();
    await visitor.page.reload();
    await queue.getByText("kept words").waitFor();
    await visitor.page.unroute("**/prompts");
    await visitor.page.goto(`${platform.url}/inbox`);
    await expect.poll(async () => (await promptsOf(session.id)).length, BACK).toBe(1);
    // The server has the prompt before the page has the answer.
    await expect.poll(() => kept(visitor.page)).not.toContain("kept words");
  });

  it("shows a later refusal with its reason, and loses no word", async () => {
    visitor = await Visitor.arrive(browser, platform);
    await visitor.signIn();
    const session = await platform.createSession({ runtime: "echo", title: "Ducks" });
    await visitor.open(session.id);
    await visitor.page.route("**/prompts", (route) => route.abort());
    await visitor.prompt.fill("too late");
    await visitor.page.keyboard.press("Enter");
    await visitor.page.getByText(/Sent as soon as the server responds/).waitFor();
    await platform.api.sessions.delete({ id: session.id });
    await visitor.page.unroute("**/prompts");
    await visitor.page.reload();
    const queue = visitor.page.getByRole("region", { name: "Queue" });
    await queue.getByText("too late").waitFor();
    await queue.getByText(/This session is archived/).waitFor(BACK);
    visitor.forgive(409);
    await queue.getByRole("button", { name: "Discard" }).click();
    await queue.waitFor({ state: "detached" });
    expect(await kept(visitor.page)).not.toContain("too late");
  });

  it("clears drafts and content in every tab when one of them signs out", async () => {
    visitor = await Visitor.arrive(browser, platform);
    const { page } = visitor;
    await visitor.signIn();
    const session = await platform.createSession({ runtime: "echo", title: "Secret otters" });
    await visitor.open(session.id);
    await visitor.prompt.fill("half a thought");
    const other = await page.context().newPage();
    await other.goto(platform.url);
    await other.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in to Muster" }).waitFor();
    expect(await page.content()).not.toContain("Secret otters");
    for (const tab of [page, other]) expect(await kept(tab)).not.toContain("half a thought");
    await visitor.picture("signed-out-elsewhere-desktop");
    visitor.forgive(401);
  });

  it("keeps a draft when the sign-in expires, and sends it once its person is back", async () => {
    visitor = await Visitor.arrive(browser, platform);
    const { page } = visitor;
    await visitor.signIn();
    const session = await platform.createSession({ runtime: "echo", title: "Grebes" });
    await visitor.open(session.id);
    await page.route("**/prompts", (route) => route.abort());
    await visitor.prompt.fill("words over an outage");
    await page.keyboard.press("Enter");
    await page.getByText(/Sent as soon as the server responds/).waitFor();
    await visitor.prompt.fill("half a thought");
    // A browser drops the cookie of an expired sign-in.
    await page.context().clearCookies();
    await page.unroute("**/prompts");
    await page.getByRole("heading", { name: "Sign in to Muster" }).waitFor(BACK);
    expect(await page.content()).not.toContain("Grebes");
    for (const words of ["words over an outage", "half a thought"])
      expect(await kept(page)).toContain(words);
    await visitor.signIn();
    await expect.poll(async () => (await promptsOf(session.id)).length, BACK).toBe(1);
    await expect.poll(() => kept(page)).not.toContain("words over an outage");
    await visitor.open(session.id);
    expect(await visitor.prompt.inputValue()).toBe("half a thought");
  });

  it("discards in every tab, and retries what the server asked to wait for", async () => {
    visitor = await Visitor.arrive(browser, platform);
    const { page } = visitor;
    await visitor.signIn();
    const session = await platform.createSession({ runtime: "echo", title: "Coots" });
    await visitor.open(session.id);
    await page.context().route("**/prompts", (route) => route.abort());
    await visitor.prompt.fill("discarded words");
    await page.keyboard.press("Enter");
    const queueOf = (tab: Page) => tab.getByRole("region", { name: "Queue" });
    await queueOf(page)
      .getByText(/Sent as soon as/)
      .waitFor();
    const other = await page.context().newPage();
    await other.goto(`${platform.url}/sessions/${session.id}`);
    await queueOf(other).getByRole("button", { name: "Discard" }).click();
    await queueOf(page).waitFor({ state: "detached" });
    await page.context().unroute("**/prompts");
    let busy = 0;
    await page.context().route("**/prompts", (route) => {
      if (route.request().method() !== "POST" || busy > 0) return route.continue();
      busy += 1;
      const error = { code: "rate_limited", message: "Too many requests." };
      const headers = { "retry-after": "2" };
      return route.fulfill({ status: 429, headers, json: { error } });
    });
    await visitor.prompt.fill("patient words");
    await page.keyboard.press("Enter");
    await queueOf(page)
      .getByText(/Too many requests\. Saved here; retrying automatically\./)
      .waitFor();
    await visitor.picture("busy-desktop");
    await visitor.log.getByText("patient words").nth(1).waitFor(BACK);
    const prompts = await promptsOf(session.id);
    expect(prompts.map(({ content }) => content)).toEqual(["patient words"]);
    visitor.forgive(429);
  });

  it("a prompt that makes the server fail does not block its session", async () => {
    visitor = await Visitor.arrive(browser, platform);
    const { page } = visitor;
    await visitor.signIn();
    const session = await platform.createSession({ runtime: "echo", title: "Terns" });
    await visitor.open(session.id);
    await page.route("**/prompts", (route) => {
      if (!route.request().postData()?.includes("poison")) return route.continue();
      const error = { code: "internal_error", message: "Something went wrong on the server." };
      return route.fulfill({ status: 500, json: { error } });
    });
    await visitor.prompt.fill("poison");
    await page.keyboard.press("Enter");
    await visitor.prompt.fill("good words");
    await page.keyboard.press("Enter");
    await visitor.log.getByText("good words").nth(1).waitFor(BACK);
    const queue = page.getByRole("region", { name: "Queue" });
    await queue.getByText("Something went wrong on the server.").waitFor();
    await visitor.picture("failed-desktop");
    await page.unroute("**/prompts");
    await queue.getByRole("button", { name: "Try again" }).click();
    await visitor.log.getByText("poison").nth(1).waitFor(BACK);
    visitor.forgive(500);
  });

  it("notices that its person was signed out on the server", async () => {
    visitor = await Visitor.arrive(browser, platform);
    await visitor.signIn();
    await visitor.prompt.fill("half a thought");
    await platform.api.auth.signOutEverywhere();
    await visitor.page.getByRole("heading", { name: "Sign in to Muster" }).waitFor(BACK);
    expect(await kept(visitor.page)).not.toContain("half a thought");
    visitor.forgive(401);
  });

  it("says so when another tab signed someone else in", async () => {
    visitor = await Visitor.arrive(browser, platform);
    const { page } = visitor;
    await platform.createSession({ runtime: "echo", title: "Secret herons" });
    // This tab signed the first person in, and was not reloaded since.
    await visitor.signIn();
    await page.getByRole("treeitem", { name: /^Secret herons/ }).click();
    await visitor.prompt.fill("half a thought");
    const other = await page.context().newPage();
    await other.goto(`${platform.url}/join#token=${await inviteToken(platform)}`);
    const form = other.getByRole("form", { name: "Join" });
    await form.getByLabel("Name").fill("Ben");
    await form.getByLabel("E-mail").fill("ben@example.org");
    await form.getByLabel("Password").fill(PASSWORD);
    await form.getByRole("button", { name: "Join", exact: true }).click();
    await other.getByRole("navigation", { name: "Sessions" }).waitFor();
    await page.getByRole("heading", { name: "Someone else is signed in now" }).waitFor();
    expect(await page.content()).not.toContain("Secret herons");
    expect(await kept(page)).not.toContain("half a thought");
    await visitor.picture("somebody-else-desktop");
    await page.getByRole("button", { name: "Continue as Ben" }).click();
    await page.getByRole("navigation", { name: "Sessions" }).waitFor();
    expect(await page.getByText("Secret herons").count()).toBe(0);
  });
});
