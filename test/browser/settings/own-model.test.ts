import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type ModelServer, startModelServer } from "#test/model-server/model-server.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import { bubblewrapFile } from "#test/services/bubblewrap.ts";
import { chromiumFile } from "#test/services/chromium.ts";
import { launchBrowser, PHONE, SLOW, Visitor } from "../visitor.ts";

const KEY = "sk-house-0123456789-abcdefgh";
const TABLE = ["| river | otters |", "|---|--:|", "| Tay | 12 |", "- [x] counted, ~~none~~"];

/** From the demo to one's own model, and to work on one's own files. */
describe.skipIf(!chromiumFile || !bubblewrapFile)("one's own model", SLOW, () => {
  let platform: Platform;
  let model: ModelServer;
  let browser: Browser;
  let visitor: Visitor;
  const folder = mkdtempSync(join(tmpdir(), "muster-own-"));

  beforeAll(async () => {
    model = await startModelServer();
    platform = await startPlatform({ env: { MUSTER_RUNTIME: "native" } });
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await platform.stop();
    await model.close();
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    visitor = await Visitor.arrive(browser, platform);
    await visitor.signIn();
  });
  afterEach(() => visitor.leave());

  const form = () => visitor.page.getByRole("form", { name: "New session" });
  const dialog = () => visitor.page.getByRole("dialog", { name: "Add a model" });

  it("is one click away from the demo, and answers", async () => {
    const { page, log } = visitor;
    await page.getByRole("button", { name: "New session" }).click();
    await form().getByRole("button", { name: "Make me a tiny web page" }).click();
    expect(await form().getByLabel("Prompt").inputValue()).toContain("otters");
    await visitor.picture("first-time-desktop");

    await form().getByRole("button", { name: "Add a model" }).click();
    await dialog().getByRole("button", { name: "Add", exact: true }).click();
    await dialog().getByText("Anthropic needs a key.").waitFor();
    await visitor.picture("add-model-desktop");
    await dialog().getByText("Custom endpoint").click();
    await dialog().getByLabel("Name").fill("house");
    await dialog().getByLabel("URL").fill("http://models.example");
    const key = dialog().getByRole("textbox", { name: /^Key/ });
    await key.fill(KEY);
    expect(await key.getAttribute("type")).toBe("password");
    await page.keyboard.press("Enter");
    await dialog().getByText("Use https://.").waitFor();
    visitor.forgive(422);
    visitor.forgive(400);
    await visitor.picture("add-model-refused-desktop");
    await dialog().getByLabel("URL").fill(model.url);
    await dialog().getByRole("button", { name: "Add", exact: true }).click();
    await dialog().waitFor({ state: "detached" });

    // It is selected at once, and the demo is no longer mentioned.
    await expect.poll(() => form().getByLabel("Model").inputValue()).toBe("house/test-1");
    expect(await page.getByText("You're on the built-in demo model").count()).toBe(0);
    expect(page.url()).not.toContain("sk-house");
    const kept =
      "JSON.stringify([{...localStorage}, {...sessionStorage}, document.body.innerHTML])";
    expect(await page.evaluate<string>(kept)).not.toContain("sk-house");

    await form().getByLabel("Prompt").fill("SAY pong");
    await form().getByRole("button", { name: "Start session" }).click();
    await log.getByText("pong", { exact: true }).waitFor();
    await page.getByText("Model house/test-1:").waitFor({ state: "attached" });
    expect(model.requests.at(-1)?.headers.authorization).toBe(`Bearer ${KEY}`);
  });

  it("shows which model an automatic choice used, also after a reload", async () => {
    const { page } = visitor;
    const session = await platform.createSession({ runtime: "native", title: "Whichever" });
    expect(session.model).toBeNull();
    await visitor.open(session.id);
    await visitor.prompt.fill("SAY one");
    await page.keyboard.press("Enter");
    const name = page.getByText("Model house/test-1:");
    await name.waitFor({ state: "attached" });
    await page.reload();
    await name.waitFor({ state: "attached" });
  });

  it("shows why a model does not answer, and can be changed and removed", async () => {
    const { page } = visitor;
    await page.getByRole("link", { name: "Models" }).click();
    await page.getByRole("heading", { name: "Models" }).waitFor();
    await page.getByRole("button", { name: "Add a model" }).click();
    await dialog().getByText("Custom endpoint").click();
    await dialog().getByLabel("Name").fill("mute");
    await dialog().getByLabel("URL").fill("http://127.0.0.1:9/v1");
    await dialog().getByRole("button", { name: "Add", exact: true }).click();
    await dialog().getByText("mute is saved, but not usable yet").waitFor();
    await visitor.picture("add-model-failed-desktop");
    await dialog().getByRole("button", { name: "Edit" }).click();
    await dialog().getByLabel("URL").fill(model.url);
    await dialog().getByRole("button", { name: "Save" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    const mute = page.getByRole("region", { name: "mute" });
    await mute.getByText("mute/test-1").waitFor();
    await visitor.picture("models-desktop");

    await mute.getByRole("button", { name: "Remove mute" }).click();
    const confirm = page.getByRole("alertdialog");
    await confirm.getByRole("button", { name: "Cancel" }).click();
    await mute.getByRole("button", { name: "Remove mute" }).click();
    await confirm.getByRole("button", { name: "Remove" }).click();
    await mute.waitFor({ state: "detached" });

    // A stored key is not sent to a new address.
    await page.getByRole("button", { name: "Edit house" }).click();
    const change = page.getByRole("dialog", { name: "Edit house" });
    await change.getByText("ending in efgh").waitFor();
    await change.getByLabel("URL").fill("http://127.0.0.1:9");
    await change.getByRole("button", { name: "Save" }).click();
    await change.getByText("Send the key together with the address").waitFor();
    visitor.forgive(409);
    await page.setViewportSize(PHONE);
    await visitor.picture("change-model-phone");
    await page.keyboard.press("Escape");
    await visitor.picture("models-phone");
    expect(await visitor.overflow()).toBeLessThanOrEqual(0);
  });

  it("works on one's own repository, and writes tables", async () => {
    const { page, log } = visitor;
    writeFileSync(join(folder, "rivers.md"), "The Tay has otters.");
    const git = (...args: string[]) =>
      execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.com", ...args], {
        cwd: folder,
        stdio: "ignore",
      });
    git("init", "-b", "counts");
    git("add", ".");
    git("commit", "-m", "rivers");

    await page.keyboard.press("n");
    const sheet = page.getByRole("dialog", { name: "New session" });
    await sheet.getByLabel("Works on").selectOption("repo");
    await sheet.getByLabel("Repository").fill("git@example.com:otters/rivers.git");
    const says = TABLE.map((line) => `SAY ${line}`).join("\n");
    const looks = 'CALL bash {"command": "git log --format=%s; cat rivers.md"}';
    await sheet.getByLabel("Prompt").fill(`${looks}\n${says}`);
    await sheet.getByRole("button", { name: "Start session" }).click();
    await sheet.getByText("SSH is not available").waitFor();
    await visitor.picture("works-on-desktop");
    await sheet.getByLabel("Repository").fill(`file://${folder}`);
    await sheet.getByLabel("Branch").fill("counts");
    await sheet.getByLabel("Model").selectOption("house/test-1");
    await sheet.getByRole("button", { name: "Start session" }).click();
    await log.getByRole("button", { name: "Tool bash: done" }).click();
    await log.getByText("The Tay has otters.").waitFor();
    await log.getByRole("cell", { name: "Tay" }).waitFor();
    expect(await log.getByRole("cell", { name: "12" }).count()).toBe(1);
    expect(await log.locator("del").innerText()).toBe("none");
    expect(await log.getByRole("checkbox").isChecked()).toBe(true);
    await visitor.picture("table-desktop");
    await page.setViewportSize(PHONE);
    expect(await visitor.overflow()).toBeLessThanOrEqual(0);
    await visitor.picture("table-phone");
  });
});
