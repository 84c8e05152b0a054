import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Platform, startPlatform } from "#test/platform.ts";
import { chromiumFile } from "#test/services/chromium.ts";
import { type GitHost, startGitHost } from "#test/services/git-host.ts";
import { launchBrowser, PHONE, SLOW, Visitor } from "../visitor.ts";

const VALUE = "hush-0123456789-otters";
const EVERYTHING =
  "JSON.stringify([{...localStorage}, {...sessionStorage}, document.documentElement.outerHTML, [...document.querySelectorAll('input')].map((field) => field.value)])";

/** Settings: personas, repositories, secrets, keys and members. */
describe.skipIf(!chromiumFile)("the settings", SLOW, () => {
  let platform: Platform;
  let browser: Browser;
  let host: GitHost;
  let visitor: Visitor;

  beforeAll(async () => {
    platform = await startPlatform();
    browser = await launchBrowser();
    host = await startGitHost();
  });
  afterAll(async () => {
    await host.stop();
    await browser.close();
    await platform.stop();
  });
  beforeEach(async () => {
    visitor = await Visitor.arrive(browser, platform);
    await visitor.signIn();
    await visitor.page.getByRole("link", { name: "Settings" }).click();
    await tab("Personas").click();
  });
  afterEach(() => visitor.leave());

  const tab = (name: string) =>
    visitor.page.getByRole("navigation", { name: "Settings" }).getByRole("link", { name });
  const region = (name: string) => visitor.page.getByRole("region", { name, exact: true });
  const row = (words: string) => visitor.page.getByRole("listitem").filter({ hasText: words });
  const confirm = (action: string) =>
    visitor.page.getByRole("alertdialog").getByRole("button", { name: action }).click();
  const toast = (words: string) => visitor.page.getByRole("status").getByText(words).waitFor();

  it("a persona is written, used, changed, refreshed and deleted", async () => {
    const { page, log } = visitor;
    await page.getByRole("link", { name: "New persona" }).click();
    const editor = page.getByRole("form", { name: "Persona" });
    await editor.getByRole("button", { name: "Create persona" }).click();
    await editor.getByText("Enter a name.").waitFor();
    await editor.getByLabel("Name", { exact: true }).fill("Otter keeper");
    await editor.getByLabel("Visibility").selectOption("shared");
    await editor.getByLabel("Text").fill("You keep otters.");
    await editor.getByRole("button", { name: "Add a file" }).click();
    const second = editor.getByRole("group", { name: "File 2" });
    await second.getByLabel("File name").fill("rules.md");
    await second.getByLabel("Order").fill("5");
    await second.getByLabel("Text").fill("Count twice.");
    await editor.getByRole("button", { name: "Create persona" }).click();
    await toast("Saved Otter keeper as version 1");
    await region("Versions").getByText("Version 1").waitFor();
    await visitor.picture("persona-desktop");

    await page.keyboard.press("n");
    const sheet = page.getByRole("dialog", { name: "New session" });
    await sheet.getByLabel("Persona").selectOption("otter-keeper");
    await sheet.getByLabel("Prompt").fill("Hello otters");
    await visitor.picture("new-session-persona-desktop");
    await sheet.getByRole("button", { name: "Start session" }).click();
    await log.getByText("Hello otters").nth(1).waitFor();
    await page.getByText("Persona otter-keeper:").waitFor({ state: "attached" });
    const session = page.url();
    await visitor.picture("session-persona-desktop");

    await page.getByRole("link", { name: "Settings" }).click();
    await tab("Personas").click();
    await page.getByRole("link", { name: "Otter keeper" }).click();
    // The files are in their order.
    const first = editor.getByRole("group", { name: "File 1" });
    await expect.poll(() => first.getByLabel("File name").inputValue()).toBe("rules.md");
    await first.getByLabel("Text").fill("Count three times.");
    await editor.getByRole("button", { name: "Save" }).click();
    await toast("Saved Otter keeper as version 2");
    await region("Versions").getByText("Version 2").waitFor();

    await page.goto(session);
    await page.setViewportSize(PHONE);
    await page.getByRole("button", { name: "Update persona otter-keeper" }).click();
    await toast("otter-keeper updated to version 2");
    await visitor.picture("session-persona-phone");
    expect(await visitor.overflow()).toBeLessThanOrEqual(0);

    await page.goto(`${platform.url}/settings/personas`);
    await row("Otter keeper")
      .getByRole("button", { name: "Make Otter keeper the default" })
      .click();
    await row("Otter keeper").getByText("Default", { exact: true }).waitFor();
    await row("Otter keeper")
      .getByRole("button", { name: /^Unset / })
      .click();
    await row("Otter keeper").getByText("Make default").waitFor();
    await row("Otter keeper").getByRole("button", { name: "Delete Otter keeper" }).click();
    await confirm("Delete");
    await row("Otter keeper").waitFor({ state: "detached" });
  });

  it("a persona gets rules and skills with readable files, and loses them again", async () => {
    const { page } = visitor;
    await page.getByRole("link", { name: "New persona" }).click();
    const editor = page.getByRole("form", { name: "Persona" });
    await editor.getByLabel("Name", { exact: true }).fill("Careful");
    await editor.getByText("No rules. The general rules apply.").waitFor();
    await editor.getByRole("button", { name: "Add a rule" }).click();
    const rule = editor.getByRole("group", { name: "Rule 1" });
    await rule.getByLabel("Effect").selectOption("deny");
    await rule.getByLabel("Tool").fill("Not a tool");
    await rule.getByLabel("Pattern").fill("npm publish*");
    await editor.getByRole("button", { name: "Create persona" }).click();
    await rule.getByText("Enter a tool name").waitFor();
    expect(await page.evaluate("document.activeElement?.value")).toBe("Not a tool");
    await rule.getByLabel("Tool").fill("bash");
    await rule.getByText("Enter a tool name").waitFor({ state: "detached" });
    await editor.getByLabel("Runtime").selectOption("echo");
    await editor.getByRole("button", { name: "Create persona" }).click();
    await toast("Saved Careful as version 1");

    const skills = region("Skills");
    await skills.getByText("No skills yet. Import one below.").waitFor();
    const importing = page.getByRole("form", { name: "Import skills" });
    await importing.getByLabel("Git URL").fill("/etc");
    await page.keyboard.press("Enter");
    await importing.getByText("Skills are fetched from the https:// address").waitFor();
    visitor.forgive(400);
    const main = "---\nname: pdf\ndescription: Reads PDF files\n---\nRead it.\n";
    host.commit({ "skills/pdf/SKILL.md": main, "skills/pdf/scripts/run.sh": "echo run\n" });
    await importing.getByLabel("Git URL").fill(host.url);
    await importing.getByLabel("Folder in the repository").fill("skills");
    await importing.getByRole("button", { name: "Import" }).click();
    await importing.getByText("pdf added.").waitFor();
    await region("Versions").getByText("Version 2").waitFor();
    await skills.getByText("2 files").click();
    await skills.getByRole("region", { name: "scripts/run.sh of pdf" }).waitFor();
    await visitor.picture("persona-skills-desktop");
    // Text typed meanwhile is saved on top of it.
    await editor.getByLabel("Description").fill("Reads much");
    await editor.getByRole("button", { name: "Save" }).click();
    await toast("Saved Careful as version 3");
    await skills.getByRole("button", { name: "Update pdf" }).click();
    await toast("Already up to date: pdf.");
    host.commit({ "skills/pdf/SKILL.md": `${main}Twice.\n` });
    await skills.getByRole("button", { name: "Update pdf" }).click();
    await toast("pdf changed.");
    await page.setViewportSize(PHONE);
    expect(await visitor.overflow()).toBeLessThanOrEqual(0);
    await skills.scrollIntoViewIfNeeded();
    await visitor.picture("persona-skills-phone");
    await rule.scrollIntoViewIfNeeded();
    await visitor.picture("persona-rules-phone");
    await skills.getByRole("button", { name: "Remove pdf" }).click();
    await confirm("Remove");
    await skills.getByText("No skills yet. Import one below.").waitFor();
    await rule.getByRole("button", { name: "Remove rule 1" }).click();
    await editor.getByRole("button", { name: "Save" }).click();
    await toast("Saved Careful as version 6");
    await page.reload();
    await editor.getByText("No rules. The general rules apply.").waitFor();
    expect(await editor.getByLabel("Runtime").inputValue()).toBe("echo");
  });

  it("a secret is stored and never shown", async () => {
    const { page } = visitor;
    await tab("Secrets").click();
    const own = region("Your secrets");
    await own.getByLabel("Name").fill("no good name");
    const value = own.getByRole("textbox", { name: "Value", exact: true });
    expect(await value.getAttribute("type")).toBe("password");
    await value.fill(VALUE);
    await page.keyboard.press("Enter");
    await own.getByText("Start with a letter").waitFor();
    await own.getByLabel("Name").fill("OTTER_TOKEN");
    await own.getByRole("button", { name: "Set" }).click();
    await own.getByText("OTTER_TOKEN").waitFor();
    expect(await page.evaluate<string>(EVERYTHING)).not.toContain("hush-");
    const shared = region("Organisation secrets");
    await shared.getByLabel("Name").fill("OTTER_ORG");
    await shared.getByRole("textbox", { name: "Value", exact: true }).fill(VALUE);
    await shared.getByRole("button", { name: "Set" }).click();
    await shared.getByText("OTTER_ORG").waitFor();
    await visitor.picture("secrets-desktop");
    await own.getByRole("button", { name: "Delete OTTER_TOKEN" }).click();
    await confirm("Delete");
    await own.getByText("No secrets yet. Add one above.").waitFor();
  });

  it("a repository is added, suggested, disabled and removed", async () => {
    const { page } = visitor;
    await tab("Repositories").click();
    const adding = page.getByRole("form", { name: "Add a repository" });
    await adding.getByLabel("URL").fill("nowhere");
    await adding.getByRole("button", { name: "Add" }).click();
    await adding.getByRole("alert").waitFor();
    await adding.getByLabel("URL").fill("https://example.com/acme/website.git");
    await adding.getByRole("button", { name: "Add" }).click();
    await row("acme/website").waitFor();
    visitor.forgive(400);
    await page.getByRole("button", { name: "Edit acme/website" }).click();
    const editing = page.getByRole("form", { name: "Repository", exact: true });
    await editing.getByLabel("Branch").fill("two words");
    await editing.getByLabel("Persona").selectOption("reviewer");
    await editing.getByLabel("Setup command").fill("npm ci");
    await editing.getByPlaceholder("GITHUB_TOKEN").fill("OTTER_ORG");
    await editing.getByLabel(/^Webhook secret/).fill(VALUE);
    await editing.getByRole("button", { name: "Save" }).click();
    await editing.getByText("Not a valid branch name").waitFor();
    expect(await page.evaluate("document.activeElement?.value")).toBe("two words");
    await editing.getByLabel("Branch").fill("develop");
    await visitor.picture("repository-desktop");
    await page.setViewportSize(PHONE);
    await visitor.picture("repository-phone");
    expect(await visitor.overflow()).toBeLessThanOrEqual(0);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.keyboard.press("Enter");
    await toast("Saved acme/website");
    await row("acme/website").getByText("branch develop · persona reviewer").waitFor();
    await row("acme/website").getByText("has a webhook secret").waitFor();
    expect(await page.evaluate<string>(EVERYTHING)).not.toContain("hush-");
    await visitor.picture("repositories-desktop");
    await page.getByRole("button", { name: "Edit acme/website" }).click();
    expect(await editing.getByLabel(/^Webhook secret/).inputValue()).toBe("");
    await editing.getByLabel("Remove the webhook secret").check();
    await editing.getByRole("button", { name: "Save" }).click();
    await editing.waitFor({ state: "detached" });
    await row("acme/website").getByText("has a webhook secret").waitFor({ state: "detached" });
    // The button that opened the form has the focus again.
    expect(await page.evaluate("document.activeElement?.textContent")).toBe("Edit");

    await page.keyboard.press("n");
    const sheet = page.getByRole("dialog", { name: "New session" });
    await sheet.getByLabel("Works on").selectOption("repo");
    await sheet.locator('datalist option[value="acme/website"]').waitFor({ state: "attached" });
    await sheet.getByLabel("Repository").fill("acme/elsewhere");
    await sheet.getByRole("button", { name: "Start session" }).click();
    await sheet.getByText("or the name of a repository from Settings").waitFor();
    await page.keyboard.press("Escape");

    const enabled = page.getByLabel("acme/website enabled");
    await enabled.click();
    await row("acme/website").getByText(/· off/).waitFor();
    await page.getByRole("button", { name: "Sync from GitHub" }).click();
    const sync = page.getByRole("dialog", { name: "Sync from GitHub" });
    await sync.getByRole("button", { name: "Sync", exact: true }).click();
    await sync.getByText("There is no secret GITHUB_TOKEN").waitFor();
    visitor.forgive(409);
    await sync.getByRole("button", { name: "Close" }).last().click();
    await row("acme/website").getByRole("button", { name: "Remove acme/website" }).click();
    await confirm("Remove");
    await row("acme/website").waitFor({ state: "detached" });
  });

  it("a key is shown once, works, and is revoked", async () => {
    const { page } = visitor;
    await tab("API keys").click();
    const form = page.getByRole("form", { name: "New key" });
    await form.getByLabel("Name").fill("Night watch");
    await form.getByLabel("Expires").selectOption("90");
    await form.getByLabel("Start and control sessions").uncheck();
    await form.getByRole("button", { name: "Create key" }).click();
    const key = await page.getByLabel("Key", { exact: true }).inputValue();
    const bearer = { authorization: `Bearer ${key}` };
    const call = async () =>
      (await fetch(`${platform.url}/api/sessions`, { headers: bearer })).status;
    expect(await call()).toBe(200);
    await row("Night watch").getByText("sessions:read · ").waitFor();
    await visitor.picture("keys-desktop");
    await page.getByRole("button", { name: "Done" }).click();
    expect(await page.evaluate<string>(EVERYTHING)).not.toContain(key);
    await row("Night watch").getByRole("button", { name: "Revoke Night watch" }).click();
    await confirm("Revoke");
    await row("Night watch").waitFor({ state: "detached" });
    expect(await call()).toBe(401);
  });

  it("a person is invited by a link that is shown once and can be withdrawn", async () => {
    const { page } = visitor;
    await tab("Members").click();
    await region("Members").getByText("You", { exact: true }).waitFor();
    const form = page.getByRole("form", { name: "Invite someone" });
    await form.getByLabel("E-mail").fill("ada@example.com");
    await form.getByRole("button", { name: "Create link" }).click();
    expect(await page.getByLabel("Link", { exact: true }).inputValue()).toContain("#token=");
    await region("Invitations").getByText("ada@example.com").waitFor();
    await visitor.picture("members-desktop");
    await page.getByRole("button", { name: "Done" }).click();
    await region("Invitations")
      .getByRole("button", { name: /^Withdraw/ })
      .click();
    await confirm("Withdraw");
    await region("Invitations").getByText("No pending invitations.").waitFor();
  });

  it("an invited person joins, signs in again, gets a role and is removed", async () => {
    const { page } = visitor;
    await tab("Members").click();
    await page.getByRole("button", { name: "Create link" }).click();
    const link = await page.getByLabel("Link", { exact: true }).inputValue();

    const guest = await Visitor.arrive(browser, platform);
    await guest.page.goto(link);
    const joining = guest.page.getByRole("form", { name: "Join" });
    await joining.getByLabel("Name").fill("Grace");
    await joining.getByLabel("E-mail").fill("grace@example.com");
    await joining.getByLabel("Password").fill("a long enough one");
    expect(guest.page.url()).not.toContain("token");
    await guest.picture("join-desktop");
    await joining.getByRole("button", { name: "Join" }).click();
    const sessions = guest.page.getByRole("navigation", { name: "Sessions" });
    await sessions.waitFor();
    await guest.page.getByRole("button", { name: "Sign out" }).click();
    const again = guest.page.getByRole("form", { name: "Use a password" });
    await again.getByLabel("E-mail").fill("grace@example.com");
    await again.getByLabel("Password").fill("a long enough one");
    await guest.picture("password-desktop");
    await again.getByRole("button").click();
    await sessions.waitFor();
    // Members can look; admins can change.
    await guest.page.getByRole("link", { name: "Settings" }).click();
    await guest.page.getByRole("link", { name: "Members" }).click();
    await guest.page.getByText("Only admins can change members.").waitFor();
    expect(await guest.page.getByRole("form", { name: "Invite someone" }).count()).toBe(0);
    guest.forgive(401);
    await guest.leave();

    await page.reload();
    await page.getByLabel("Role of Grace").selectOption("admin");
    await expect.poll(() => page.getByLabel("Role of Grace").inputValue()).toBe("admin");
    await page.getByRole("button", { name: "Remove Grace" }).click();
    await confirm("Remove");
    await row("Grace").waitFor({ state: "detached" });

    // Her things stay until an admin names her.
    const left = region("Former members");
    await left.getByRole("button", { name: "Show" }).click();
    await left.getByRole("button", { name: "Purge Grace" }).click();
    const purge = page.getByRole("form", { name: "Purge Grace" });
    await purge.getByLabel("Type their name").fill("Gustav");
    await purge.getByRole("button", { name: "Purge permanently" }).click();
    await purge.getByText("The confirmation does not match.").waitFor();
    visitor.forgive(400);
    await purge.getByLabel("Type their name").fill("Grace");
    await purge.getByRole("button", { name: "Purge permanently" }).click();
    await left.getByText("Removed person").waitFor();
    await left.getByText("purged").waitFor();
  });

  it("another person's session is opened with a reason", async () => {
    const { page } = visitor;
    await tab("Members").click();
    await page.getByRole("button", { name: "Create link" }).click();
    const link = await page.getByLabel("Link", { exact: true }).inputValue();
    const guest = await Visitor.arrive(browser, platform);
    await guest.page.goto(link);
    const joining = guest.page.getByRole("form", { name: "Join" });
    await joining.getByLabel("Name").fill("Hedy");
    await joining.getByLabel("E-mail").fill("hedy@example.com");
    await joining.getByLabel("Password").fill("a long enough one");
    await joining.getByRole("button", { name: "Join" }).click();
    await guest.page.getByRole("navigation", { name: "Sessions" }).waitFor();
    const made = await guest.page.evaluate<string>(
      `fetch("/api/sessions", { method: "POST", headers: { "content-type": "application/json", "x-muster-page": localStorage.getItem("muster.page-key") }, body: JSON.stringify({ runtime: "echo", title: "Hedy's own" }) }).then((answer) => answer.json()).then((body) => body.session.id)`,
    );
    await guest.leave();

    await page.reload();
    const orchestrators = region("All orchestrators");
    await orchestrators.getByRole("button", { name: "Show" }).click();
    await orchestrators.getByRole("listitem").filter({ hasText: "For Hedy" }).waitFor();
    await visitor.picture("everybodys-orchestrators-desktop");
    const all = region("All sessions");
    await all.getByRole("button", { name: "Show" }).click();
    const one = all.getByRole("listitem").filter({ hasText: made });
    await one.getByText("Hedy").waitFor();
    expect(await all.textContent()).not.toContain("Hedy's own");
    await one.getByRole("button", { name: "Open a session of Hedy" }).click();
    const asking = page.getByRole("form", { name: "Open a session of Hedy" });
    await asking.getByLabel("Reason").fill("A build went wrong");
    await asking.getByRole("button", { name: "Open" }).click();
    await one.getByRole("link", { name: /^Read \(access ends/ }).click();
    await page.getByText("A build went wrong").waitFor();
    await visitor.picture("opened-session-desktop");
  });

  it("fits a phone", async () => {
    const { page } = visitor;
    await page.setViewportSize(PHONE);
    for (const name of ["Personas", "Repositories", "Secrets", "API keys", "Members"]) {
      await tab(name).click();
      await page.getByRole("heading", { level: 2 }).first().waitFor();
      await visitor.picture(`settings-${name.toLowerCase().replace(" ", "-")}-phone`);
      expect(await visitor.overflow()).toBeLessThanOrEqual(0);
    }
    await tab("Personas").click();
    await page.getByRole("link", { name: "New persona" }).click();
    await page.getByRole("form", { name: "Persona" }).waitFor();
    expect(await visitor.overflow()).toBeLessThanOrEqual(0);
    await visitor.picture("persona-phone");
  });
});
