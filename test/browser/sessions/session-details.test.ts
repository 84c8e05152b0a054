import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Platform, startPlatform } from "#test/platform.ts";
import { chromiumFile } from "#test/services/chromium.ts";
import { launchBrowser, PHONE, SLOW, Visitor } from "../visitor.ts";

const REPO = "https://git.test/acme/web-app.git";
const SECRET = "hush-0123456789-otters";

/** Details of one session on the page, and redaction. */
describe.skipIf(!chromiumFile)("one session on the page", SLOW, () => {
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
    await visitor.signIn();
  });
  afterEach(() => visitor.leave());

  const entries = async (id: string) => (await platform.api.sessions.transcript({ id })).items;

  it("shows its repository and branch, in full by keyboard and by a tap", async () => {
    const { page } = visitor;
    const title = "Build the shop of a very long name that does not fit into its line at all";
    const place = { repo: REPO, branch: "feature/payment-by-invoice" };
    const { id } = await platform.createSession({ title, runtime: "echo", ...place });
    await visitor.open(id);
    const where = page.getByTestId("location");
    await where.getByText("acme/web-app · feature/payment-by-invoice").waitFor();
    const full = page.getByRole("tooltip");
    await where.focus();
    await full.getByText(REPO).waitFor();
    await visitor.picture("location-focused-desktop");
    await page.keyboard.press("Escape");
    await full.waitFor({ state: "detached" });
    const row = page.getByRole("treeitem", { name: /^Build the shop/ });
    expect(await row.textContent()).toContain("acme/web-app");

    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize(PHONE);
      await where.click();
      await full.getByText(REPO).waitFor();
      await visitor.picture(`location-phone-${colorScheme}`);
      expect(await visitor.overflow()).toBeLessThanOrEqual(0);
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: /^All sessions/ }).click();
      await row.waitFor();
      await visitor.picture(`list-phone-${colorScheme}`);
      await page.keyboard.press("Escape");
    }
  });

  it("is put to sleep, woken, budgeted and archived on a phone, by keyboard", async () => {
    const { page } = visitor;
    const { id } = await platform.createSession({ title: "Pocket", runtime: "echo" });
    await page.setViewportSize(PHONE);
    await visitor.open(id);
    const choose = async (name: string) => {
      await page.getByRole("button", { name: "More actions" }).press("Enter");
      const item = page.getByRole("menuitem", { name });
      await item.waitFor();
      await visitor.picture("more-actions-phone");
      await item.press("Enter");
    };
    await choose("Put session to sleep");
    const activity = page.getByTestId("activity");
    await activity.getByText("Asleep").waitFor();
    await choose("Wake session");
    await activity.getByText("Idle").waitFor();
    await choose("Budget and memory");
    const budget = page.getByRole("dialog", { name: "Budget and memory" });
    await budget.getByLabel("Budget in dollars").fill("2.50");
    await visitor.picture("budget-phone");
    await budget.getByRole("button", { name: "Save" }).click();
    await choose("Budget and memory: $2.50");
    await page.keyboard.press("Escape");
    await choose("Archive session");
    await page.getByRole("alertdialog").getByRole("button", { name: "Archive" }).click();
    await page.getByRole("status").getByText("Session archived").waitFor();
    expect(await visitor.overflow()).toBeLessThanOrEqual(0);
  });

  it("redacts an entry after a confirmation that says what stays", async () => {
    const { page, log } = visitor;
    const { id } = await platform.createSession({ title: "Leak", runtime: "echo" });
    const { id: promptId } = await platform.prompt(id, `the key is ${SECRET}`);
    await platform.promptIn(promptId, "settled");
    await visitor.open(id);
    await log.getByText(SECRET).first().waitFor();
    const remove = log.getByRole("button", { name: "Remove this prompt" });
    await remove.focus();
    await visitor.picture("redact-button-desktop");
    await page.keyboard.press("Enter");
    const asking = page.getByRole("alertdialog");
    await asking.getByText(/These stay/).waitFor();
    await visitor.picture("redact-dialog-desktop");
    await asking.getByRole("button", { name: "Cancel" }).click();
    expect(JSON.stringify(await entries(id))).toContain(SECRET);

    await page.setViewportSize(PHONE);
    await page.emulateMedia({ colorScheme: "dark" });
    await log.getByRole("article", { name: /^Prompt by/ }).hover();
    await visitor.picture("redact-button-phone-dark");
    expect(await visitor.overflow()).toBeLessThanOrEqual(0);
    await remove.click();
    await asking.getByRole("button", { name: "Remove permanently" }).click();
    await log.getByText("[removed]").waitFor();
    await remove.waitFor({ state: "detached" });
    await log.getByRole("button", { name: "Remove this answer" }).click();
    await asking.getByRole("button", { name: "Remove permanently" }).click();
    await log.getByText(SECRET).waitFor({ state: "detached" });
    expect(JSON.stringify(await entries(id))).not.toContain(SECRET);
    await page.reload();
    await log.getByText("[removed]").first().waitFor();
    await visitor.picture("redacted-phone-dark");
  });
});
