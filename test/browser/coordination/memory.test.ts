import { readFileSync } from "node:fs";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ApiRoutes, BodyOf } from "#client/index.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import { chromiumFile } from "#test/services/chromium.ts";
import { launchBrowser, PHONE, SLOW, Visitor } from "../visitor.ts";

const DESK = { width: 1280, height: 800 };
/** Limit for one step on a busy machine. */
const PATIENT_MS = 15_000;
const PATIENT = { timeout: PATIENT_MS };

/** A person reviews memories and corrects them. */
describe.skipIf(!chromiumFile)("memory in the page", SLOW, () => {
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

  const remember = (body: BodyOf<ApiRoutes["memory"]["create"]>) =>
    platform.api.memory.create({ body });
  const rememberForSession = (body: BodyOf<ApiRoutes["memory"]["createSession"]>) =>
    platform.api.memory.createSession({ body });

  it("is written, found, changed, pinned, exported and deleted", async () => {
    const visitor = await Visitor.arrive(browser, platform);
    const { page } = visitor;
    page.setDefaultTimeout(PATIENT_MS);
    await page.setViewportSize(DESK);
    await visitor.signIn();
    const items = page.getByRole("list", { name: "Memories", exact: true }).getByRole("listitem");
    const item = (text: string) => items.filter({ hasText: text });
    const dialog = (name: string) => page.getByRole("dialog", { name });
    const count = (wanted: number) => expect.poll(() => items.count(), PATIENT).toBe(wanted);

    await page.getByRole("link", { name: "Memory", exact: true }).click();
    await page.getByText("No memories yet. Tell your orchestrator").waitFor();
    await visitor.picture("memory-empty-desktop");
    await page.getByRole("button", { name: "New memory", exact: true }).click();
    const form = page.getByRole("form", { name: "Memory" });
    await expect.poll(() => form.locator("textarea:focus").count(), PATIENT).toBe(1);
    await page.keyboard.type("Checkout means the payments service");
    await form.getByLabel("Title").fill("Checkout");
    await form.getByLabel("Category").fill("repo_affinity");
    await page.keyboard.press("Control+Enter");
    await item("Checkout means").getByText("written by you just now · fresh · not used").waitFor();

    // A memory that an agent writes appears without a reload.
    await remember({ content: "Deploys are on Fridays", category: "workflow" });
    await remember({ content: "Wants short answers", category: "preference" });
    await count(3);
    await page.getByText("3 memories, 0 pinned, room for 197 more.").waitFor();
    await page.getByRole("button", { name: "Pin Wants short answers" }).click();
    await item("Wants short").getByText("kept permanently").waitFor();

    // Reviewing memories does not count as using them.
    const search = page.getByRole("searchbox", { name: "Search memories" });
    await search.fill("payments?");
    await count(1);
    await item("Checkout means").getByText("not used yet").waitFor();
    await visitor.picture("memory-found-desktop");
    await search.fill("submarines");
    await page.getByText("No matching memories.").waitFor();
    await search.fill("");
    await page.getByLabel("Category", { exact: true }).selectOption("workflow");
    await count(1);
    await item("Fridays").waitFor();
    await page.getByLabel("Category", { exact: true }).selectOption("");
    await page.getByLabel("Pinned").check();
    await item("Wants short").waitFor();
    await count(1);
    await page.getByLabel("Pinned").uncheck();
    await count(3);

    await page.getByRole("button", { name: "Edit Checkout" }).click();
    await form.getByLabel("What to remember").fill("Checkout means the shop service");
    await form.getByRole("button", { name: "Save" }).click();
    await item("the shop service").waitFor();
    await dialog("Edit memory").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Edit Checkout" }).click();
    await page.getByText("Earlier versions (1)").click();
    await dialog("Edit memory").getByText("Checkout means the payments service").waitFor();
    await visitor.picture("memory-edit-desktop");
    await page.keyboard.press("Escape");
    await dialog("Edit memory").waitFor({ state: "detached" });

    const saving = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export" }).click();
    const saved = await saving;
    expect(saved.suggestedFilename()).toBe("muster-memory-orchestrator.zip");
    const zip = readFileSync(await saved.path());
    await page.getByRole("button", { name: "Delete Checkout" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();
    await count(2);
    await page.getByLabel("Files to import").setInputFiles([
      { name: "memory.zip", mimeType: "application/zip", buffer: zip },
      { name: "own.md", mimeType: "text/markdown", buffer: Buffer.from("Likes otters") },
      { name: "long.md", mimeType: "text/markdown", buffer: Buffer.from("x".repeat(5_000)) },
      { name: "picture.md", mimeType: "text/markdown", buffer: Buffer.from([0x89, 0x50, 0xff]) },
    ]);
    const report = dialog("Imported");
    await report.getByText("2 new memories.").waitFor();
    await report.getByText("2 memories were already up to date.").waitFor();
    await report.getByText("long.md: Its content is longer than 4000 characters.").waitFor();
    await report.getByText("picture.md: Not UTF-8 text.").waitFor();
    await visitor.picture("memory-import-desktop");
    await report.getByRole("button", { name: "Done" }).click();
    await item("the shop service").waitFor();
    await item("Likes otters").waitFor();
    await visitor.picture("memory-desktop");
    expect(await visitor.overflow()).toBeLessThanOrEqual(0);

    await page.getByRole("button", { name: "Clean up…" }).click();
    await dialog("Clean up memories").getByText("No memories match.").waitFor();
    await dialog("Clean up memories").getByLabel("Relevance").selectOption("1.3");
    await visitor.picture("memory-prune-desktop");
    await dialog("Clean up memories").getByRole("button", { name: "Delete 3 memories" }).click();
    await dialog("Clean-up finished").getByText("3 memories removed.").waitFor();
    await dialog("Clean-up finished").getByText("Likes otters").waitFor();
    await dialog("Clean-up finished").getByRole("button", { name: "Done" }).click();
    await count(1);
    await item("Wants short").waitFor();
    await visitor.leave();
  });

  it("shows the memories of each repository, and fits a phone", async () => {
    const [api, web] = ["https://github.com/acme/api", "https://github.com/acme/web"];
    await rememberForSession({ repo: api, content: `Tests need redis ${"x".repeat(600)}` });
    await rememberForSession({ repo: web, content: "Uses pnpm" });
    await rememberForSession({ content: "Of nothing in particular" });
    const visitor = await Visitor.arrive(browser, platform);
    const { page } = visitor;
    page.setDefaultTimeout(PATIENT_MS);
    await page.setViewportSize(PHONE);
    await visitor.signIn();
    await page.goto(`${platform.url}/memory`);
    const items = page.getByRole("list", { name: "Memories", exact: true }).getByRole("listitem");
    await page.getByRole("link", { name: "Repositories" }).click();
    await expect.poll(() => items.count(), PATIENT).toBe(3);
    await visitor.picture("memory-phone");
    expect(await visitor.overflow()).toBeLessThanOrEqual(0);
    const chooser = page.getByLabel("Repository", { exact: true });
    await chooser.selectOption({ label: "acme/web · 1" });
    await expect
      .poll(() => items.allInnerTexts(), PATIENT)
      .toEqual([expect.stringContaining("Uses pnpm")]);
    await chooser.selectOption({ label: "no repository · 1" });
    await expect
      .poll(() => items.allInnerTexts(), PATIENT)
      .toEqual([expect.stringContaining("Of nothing in particular")]);
    await chooser.selectOption({ label: "acme/api · 1" });
    await items.getByRole("button", { name: "Show all" }).click();
    expect(await visitor.overflow()).toBeLessThanOrEqual(0);
    await page.getByRole("button", { name: "New memory", exact: true }).click();
    const form = page.getByRole("form", { name: "Memory" });
    expect(await form.getByLabel("Repository").inputValue()).toBe("github.com/acme/api");
    await form.getByLabel("What to remember").fill("The port is 8080");
    await visitor.picture("memory-new-phone");
    expect(await visitor.overflow()).toBeLessThanOrEqual(0);
    await form.getByRole("button", { name: "Save" }).click();
    await items.filter({ hasText: "The port is 8080" }).getByText("acme/api").waitFor();
    await visitor.leave();
  });
});
