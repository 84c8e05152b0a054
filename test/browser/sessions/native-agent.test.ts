import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Platform, startPlatform } from "#test/platform.ts";
import { bubblewrapFile } from "#test/services/bubblewrap.ts";
import { chromiumFile } from "#test/services/chromium.ts";
import { launchBrowser, PHONE, SLOW, Visitor } from "../visitor.ts";

const OTTERS = "make me a tiny web page about otters and show me";
const DELETES = "rm -rf /tmp/muster-demo-drafts";

/**
 * A new user without a key: the demo model, real tools, an approval, a denial, a question, and the
 * results.
 */
describe.skipIf(!chromiumFile || !bubblewrapFile)("the native agent in the page", SLOW, () => {
  let platform: Platform;
  let browser: Browser;
  let visitor: Visitor;

  beforeAll(async () => {
    platform = await startPlatform({
      env: { MUSTER_RUNTIME: "native", MUSTER_MODEL: "demo/story" },
    });
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

  const gate = () => visitor.page.getByTestId("gate");
  const closed = () => visitor.page.getByTestId("gate-closed");
  const needsYou = () => visitor.page.getByRole("navigation", { name: "Needs you" });
  const activity = (is: string) => visitor.page.locator(`[data-activity=${is}]`);

  async function newSession(title: string, prompt?: string): Promise<string> {
    const session = await platform.createSession({ title, runtime: "native" });
    if (prompt !== undefined) await platform.prompt(session.id, prompt);
    return session.id;
  }

  it("makes a page: asks before it deletes, continues when allowed, shows the result", async () => {
    const { page, log } = visitor;
    await page.getByText("You're on the built-in demo model").waitFor();
    await visitor.picture("home-demo-desktop");
    await page.getByRole("button", { name: "New session" }).click();
    const form = page.getByRole("form", { name: "New session" });
    await form.getByLabel("Model").selectOption("demo/story");
    await form.getByText("free", { exact: true }).waitFor();
    await form.getByLabel(/title/i).fill("Otters");
    await form.getByLabel(/prompt/i).fill(OTTERS);
    await form.getByRole("button", { name: "Start session" }).click();

    await gate().getByText("Run this command?").waitFor();
    expect(await gate().getByRole("region", { name: "Command" }).innerText()).toBe(DELETES);
    await gate().getByText("Rule: recursive delete").waitFor();
    await needsYou().getByText("Otters").waitFor();
    await activity("needs_you").first().waitFor();
    await expect.poll(() => page.title()).toMatch(/^\(1\) /);
    await visitor.picture("gate-desktop");

    await page.reload();
    await gate().getByText("expires in 24 h").waitFor();
    expect(await log.locator("[data-row]:has([data-testid=gate])").count()).toBe(1);
    await gate().getByRole("button", { name: "Allow once" }).dblclick();
    await closed().getByText("You allowed this once").waitFor();
    await activity("done").first().waitFor();
    await needsYou().waitFor({ state: "detached" });
    await expect.poll(() => page.title()).not.toContain("(1)");

    await page.getByRole("button", { name: /Changes/ }).click();
    const changes = page.getByRole("complementary", { name: "Changes" });
    await changes.getByText("<title>Otters</title>").waitFor();
    await visitor.picture("changes-desktop");
    await changes.getByRole("button", { name: "Preview index.html" }).click();
    const frame = page.frameLocator("iframe");
    await frame.getByRole("heading", { name: "Otters", exact: true }).waitFor();
    const inside = page.frames().find((one) => one.url().includes("/preview/"));
    // A string, because this file is compiled without the browser's types.
    expect(await inside?.evaluate("self.origin")).toBe("null");
    expect(await page.locator("iframe").getAttribute("sandbox")).toBe("");
    await visitor.picture("preview-desktop");
    await page.getByRole("button", { name: "Run scripts" }).click();
    await page.locator("iframe[sandbox=allow-scripts]").waitFor();
    await frame.getByRole("heading", { name: "Otters", exact: true }).waitFor();
    await page.keyboard.press("Escape");

    await page.reload();
    await closed().getByText("You allowed this once").waitFor();
  });

  it("denies with a reason, and shows invisible characters", async () => {
    const { page, log, prompt } = visitor;
    await visitor.open(await newSession("No"));
    await prompt.fill("run git push origin \u202eniam");
    await page.keyboard.press("Enter");
    await prompt.fill("half a thought");
    await gate().getByText("U+202E").waitFor();
    // The focus stays in the text field of a person who types.
    expect(await page.locator("textarea:focus").inputValue()).toBe("half a thought");
    await gate().getByRole("button", { name: "Deny" }).click();
    await page.keyboard.type("not today");
    await page.keyboard.press("Enter");
    await closed().getByText("You denied this: not today").waitFor();
    await log.getByRole("button", { name: "Tool bash: denied" }).click();
    await log.getByRole("region", { name: "Why it was denied" }).waitFor();
    await visitor.picture("denied-desktop");
    await page.reload();
    await log.getByRole("button", { name: "Tool bash: denied" }).waitFor();
  });

  it("allows always only with the rule shown, and then does not ask again", async () => {
    const { page, log, prompt } = visitor;
    await visitor.open(await newSession("Always", `run ${DELETES}`));
    await gate().getByRole("button", { name: "Always allow…" }).click();
    const dialog = page.getByRole("dialog", { name: "Always allow this?" });
    expect(await dialog.getByRole("region", { name: "Rule" }).innerText()).toBe(DELETES);
    await visitor.picture("always-desktop");
    await dialog.getByRole("button", { name: "Always allow" }).click();
    await closed().getByText("You chose to always allow this").waitFor();
    await prompt.fill(`run ${DELETES}`);
    await page.keyboard.press("Enter");
    await log.getByRole("button", { name: "Tool bash: done" }).nth(1).waitFor();
    expect(await closed().count()).toBe(1);

    await page.getByRole("link", { name: "Rules" }).click();
    await visitor.picture("rules-desktop");
    await page.getByRole("button", { name: `Remove the rule for bash: ${DELETES}` }).click();
    await page.getByText("No rules yet.").waitFor();
  });

  it("answers a question, also with free text", async () => {
    const { log, page, prompt } = visitor;
    await visitor.open(await newSession("Colours"));
    await prompt.fill("ask me about colours");
    await page.keyboard.press("Enter");
    await gate().getByText("Question for you").waitFor();
    // The focus moves to the question for a person who waits.
    expect(await page.locator("[data-testid=gate]:focus").count()).toBe(1);
    const send = gate().getByRole("button", { name: "Send" });
    expect(await send.isDisabled()).toBe(true);
    await gate().getByLabel("Green").check();
    await gate().getByLabel("Other answer").fill("Teal");
    expect(await gate().getByLabel("Green").isChecked()).toBe(false);
    await visitor.picture("question-desktop");
    await send.click();
    await log.getByText("You answered").waitFor();
    await log.getByText("Teal").first().waitFor();
    await activity("done").first().waitFor();
  });

  it("says so when someone else decided first", async () => {
    const { page } = visitor;
    // Nobody has this session open: it is listed without a reload.
    await newSession("Late", OTTERS);
    await needsYou().getByText("Late").click();
    await gate().waitFor();
    await page.route("**/api/approvals/*", async (route) => {
      if (route.request().method() !== "POST") return route.continue();
      const { pathname } = new URL(route.request().url());
      await platform.request("POST", pathname, { decision: "deny", reason: "first" });
      await route.continue();
    });
    await gate().getByRole("button", { name: "Allow once" }).click();
    await closed().getByText("You denied this: first").waitFor();
    await activity("done").first().waitFor();
    visitor.forgive(409);
  });

  it("works on a phone: the list, the card, the changes", async () => {
    const { page } = visitor;
    await page.setViewportSize(PHONE);
    const id = await newSession("On the road", OTTERS);
    await page.goto(platform.url);
    await needsYou().getByText("On the road").click();
    await gate().waitFor();
    await visitor.picture("gate-phone");
    expect(await visitor.overflow()).toBeLessThanOrEqual(0);
    await page.getByRole("button", { name: /Changes/ }).click();
    await page
      .getByRole("dialog", { name: "Changes" })
      .getByText("<title>Otters</title>")
      .waitFor();
    await visitor.picture("changes-phone");
    expect(await visitor.overflow()).toBeLessThanOrEqual(0);
    await page.getByRole("button", { name: "Close changes" }).click();
    await platform.request("DELETE", `/api/sessions/${id}?force=true`);
    await closed()
      .getByText(/No longer needed/)
      .waitFor();
  });

  it("shows the usage", async () => {
    const { page } = visitor;
    const id = await newSession("Counting", "what can you do?");
    await visitor.open(id);
    await page.getByText(/tokens · \$0/).waitFor();
    await page.getByRole("link", { name: "Usage" }).click();
    await page.getByRole("heading", { name: "Usage" }).waitFor();
    await page.getByRole("button", { name: "By model" }).click();
    await page.getByRole("rowheader", { name: "demo/story" }).waitFor();
    await visitor.picture("usage-desktop");
    await page.getByRole("button", { name: "By session" }).click();
    await page.getByRole("link", { name: "Counting" }).last().click();
    await page.waitForURL(`**/sessions/${id}`);
  });
});
