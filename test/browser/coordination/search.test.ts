import type { Browser, Request } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { SearchPage } from "#features/search/contract.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import { chromiumFile } from "#test/services/chromium.ts";
import { launchBrowser, PHONE, SLOW, Visitor } from "../visitor.ts";

const DESK = { width: 1280, height: 800 };
/** More than one page of history, so that the searched entry must be loaded first. */
const LINES = 260;
const NEEDLE = "The <b>capybara</b> sits at the far end.";

/** One search box over everything, on every page, while typing. */
describe.skipIf(!chromiumFile)("the search", SLOW, () => {
  let platform: Platform;
  let browser: Browser;
  let visitor: Visitor;

  beforeAll(async () => {
    platform = await startPlatform();
    browser = await launchBrowser();
    const { id } = await platform.createSession({ title: "Capybara notes" });
    const said = Array.from({ length: LINES }, (_, at) => `say Line ${at} of many.`);
    const { id: promptId } = await platform.prompt(id, [`say ${NEEDLE}`, ...said].join("\n"));
    await platform.promptIn(promptId, "settled");
    await platform.createSession({ title: "Something else" });
    const { body } = await platform.request<{ user: { id: string } }>("GET", "/api/me");
    await platform.request("POST", "/api/messages", {
      to: body.user.id,
      content: "Remember the capybara.",
    });
    await indexed();
  });
  afterAll(async () => {
    await browser.close();
    await platform.stop();
  });
  beforeEach(async () => {
    visitor = await Visitor.arrive(browser, platform);
    await visitor.page.setViewportSize(DESK);
    await visitor.signIn();
  });
  afterEach(() => visitor.leave());

  /** Waits until new content is in the index. */
  async function indexed(): Promise<void> {
    await vi.waitFor(
      async () => {
        const { body } = await platform.request<SearchPage>("GET", "/api/search?q=capybara");
        expect(new Set(body.items.map(({ kind }) => kind)).size).toBe(3);
      },
      { timeout: 20_000 },
    );
  }

  const field = () => visitor.page.getByRole("searchbox", { name: "Search everything" });
  const result = (kind: string) =>
    visitor.page
      .getByRole("list", { name: "Results" })
      .getByRole("link")
      .filter({ hasText: new RegExp(`${kind} · `) });
  const message = () => result("Message").filter({ hasText: "Remember the" });

  it("opens by a key, finds while typing, and opens a transcript at the found line", async () => {
    const { page, log } = visitor;
    await page.keyboard.press("Control+k");
    await expect.poll(() => page.locator("[data-search-box]:focus").count()).toBe(1);
    await page.keyboard.type("capybara");
    await result("Session").first().waitFor();
    await message().waitFor();
    const line = result("Transcript").filter({ hasText: "far end" }).first();
    // A match is shown as text, and highlighted.
    await line.getByText("<b>").waitFor();
    expect(await line.locator("b").count()).toBe(0);
    expect(await line.locator("mark").first().innerText()).toBe("capybara");
    await visitor.picture("search-desktop");

    await page.getByRole("button", { name: "Transcripts" }).click();
    await result("Session").waitFor({ state: "detached" });
    await field().press("ArrowDown");
    expect(await page.locator("[data-result]:focus").count()).toBe(1);
    await page.keyboard.press("ArrowUp");
    expect(await page.locator("[data-search-box]:focus").count()).toBe(1);
    await line.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Capybara notes" }).waitFor();
    await log.locator("[data-found]").getByText("capybara").waitFor();
    await visitor.picture("search-entry-desktop");
    await page.goBack();
    await expect.poll(() => field().inputValue()).toBe("capybara");
    await line.waitFor();
    expect(await page.getByRole("button", { name: "Transcripts", pressed: true }).count()).toBe(1);
  });

  it("drops an outdated query, and says when nothing was found or the search failed", async () => {
    const { page } = visitor;
    await page.getByRole("link", { name: "Search everything" }).click();
    await page.getByText("Search sessions, transcripts").waitFor();
    // The first query is never answered; the second must not wait for it.
    await page.route("**/api/search?q=capybara&*", () => undefined);
    const isFirst = (request: Request) => request.url().includes("/api/search?q=capybara&");
    const asked = page.waitForEvent("request", isFirst);
    const dropped = page.waitForEvent("requestfailed", isFirst);
    await field().fill("capybara");
    await asked;
    await field().fill("quuxphone");
    await dropped;
    await page.getByText("No results.").waitFor();
    await page.unrouteAll({ behavior: "ignoreErrors" });

    const error = { code: "search_too_slow", message: "Ask with fewer words." };
    await page.route("**/api/search?*", (route) => route.fulfill({ status: 503, json: { error } }));
    await field().fill("remember capybara");
    await page.getByRole("alert").getByText("Ask with fewer words.").waitFor();
    await page.unrouteAll();
    await page.getByRole("button", { name: "Try again" }).click();
    await message().waitFor();
    visitor.forgive(503);
  });

  it("continues from the list of sessions, and works on a phone", async () => {
    const { page } = visitor;
    const list = page.getByRole("searchbox", { name: "Search sessions" });
    await list.fill("capybara");
    await page.getByRole("button", { name: "Search everything for “capybara”" }).waitFor();
    await list.press("Enter");
    await message().waitFor();
    expect(await field().inputValue()).toBe("capybara");
    expect(await list.inputValue()).toBe("");
    await page.setViewportSize(PHONE);
    await visitor.picture("search-phone");
    expect(await visitor.overflow()).toBeLessThanOrEqual(0);
    await message().click();
    await page.getByRole("article").getByText("Remember the capybara.").waitFor();
    // An address typed by hand; and a query entered at once opens its first match when it arrives.
    await page.goto(`${platform.url}/search?q=quuxphone`);
    await page.getByText("No results.").waitFor();
    await field().fill("Remember the capybara");
    await page.getByRole("button", { name: "Messages" }).click();
    await field().press("Enter");
    await page.getByRole("article").getByText("Remember the capybara.").waitFor();
  });
});
