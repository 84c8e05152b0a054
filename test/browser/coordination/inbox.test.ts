import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { MailMessage } from "#features/mailbox/contract.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import { bubblewrapFile } from "#test/services/bubblewrap.ts";
import { chromiumFile } from "#test/services/chromium.ts";
import { launchBrowser, PHONE, SLOW, Visitor } from "../visitor.ts";

const DESK = { width: 1280, height: 800 };
const GRACE = {
  name: "Grace Hopper",
  email: "grace@example.com",
  password: "otters-of-1906-otters",
};

/** Messages from people and agents: shown live, read, answered, snoozed and archived. */
describe.skipIf(!chromiumFile || !bubblewrapFile)("the inbox", SLOW, () => {
  let platform: Platform;
  let browser: Browser;
  let visitor: Visitor;
  let grace: (path: string, body: object) => Promise<void>;
  let me: { user: { id: string }; org: { id: string } };

  beforeAll(async () => {
    platform = await startPlatform({
      env: { MUSTER_RUNTIME: "native", MUSTER_MODEL: "demo/story" },
    });
    browser = await launchBrowser();
    me = (await platform.request<typeof me>("GET", "/api/me")).body;
    grace = await join();
    await grace("/api/me/orchestrator", {});
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
  afterEach(async () => {
    await visitor.leave();
    // Each test begins with nothing unread.
    await platform.request("PUT", "/api/me/inbox/read-all");
  });

  /** Another member of the organisation, as a sender. */
  async function join(): Promise<typeof grace> {
    const { body } = await platform.request<{ link: string }>(
      "POST",
      `/api/orgs/${me.org.id}/invitations`,
      { role: "member" },
    );
    const token = body.link.split("token=")[1] ?? "";
    const headers = { "content-type": "application/json", origin: platform.url };
    const joined = await fetch(`${platform.url}/api/invitations/${token}/accept`, {
      method: "POST",
      headers,
      body: JSON.stringify(GRACE),
    });
    const cookie = joined.headers.getSetCookie().map((one) => one.split(";")[0]);
    return async (path, sent) => {
      const answer = await fetch(platform.url + path, {
        method: "POST",
        headers: { ...headers, cookie: cookie.join("; ") },
        body: JSON.stringify(sent),
      });
      if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
    };
  }

  const writeToMe = (content: string, messageType = "message") =>
    grace("/api/messages", { to: me.user.id, content, messageType });
  const inbox = (words: RegExp | string) =>
    visitor.page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: words });
  const row = (words: string) =>
    visitor.page
      .getByRole("list", { name: "Messages" })
      .getByRole("listitem")
      .filter({ hasText: words });
  const box = (name: string) =>
    visitor.page.getByRole("navigation", { name: "Folders" }).getByRole("link", { name });
  const messages = () => visitor.page.getByRole("region", { name: "Messages in this thread" });

  it("shows a new message at once, opens it, and sends a reply", async () => {
    const { page } = visitor;
    await inbox("Inbox").waitFor();
    await writeToMe("Could you look at the <b>otters</b> page?", "question");
    await inbox(/1 unread message/).click();
    await row("Unread: Grace Hopper").getByRole("img", { name: "Question" }).waitFor();
    await visitor.picture("inbox-list-desktop");
    await row("Grace Hopper").getByRole("link", { name: "Grace Hopper" }).click();
    const first = messages().getByRole("article", { name: "Question from Grace Hopper" });
    await first.getByText("Could you look at the <b>otters</b> page?").waitFor();
    // An opened message counts as read.
    await inbox(/unread/).waitFor({ state: "detached" });
    await row("Unread:").waitFor({ state: "detached" });

    await messages().getByRole("textbox", { name: "Reply to Grace Hopper" }).fill("Tomorrow.");
    await page.keyboard.press("Control+Enter");
    await messages()
      .getByRole("article", { name: "Message from you" })
      .getByText("Delivered")
      .waitFor();
    expect(await messages().getByRole("textbox").inputValue()).toBe("");
    await visitor.picture("inbox-thread-desktop");

    await messages().getByRole("button", { name: "Mark as unread" }).click();
    await inbox(/1 unread message/).waitFor();
    await page.getByLabel("Type").selectOption("approval");
    await page.getByText("No matching messages").waitFor();
    await page.getByRole("button", { name: "Clear filters" }).click();
    await page.getByLabel("From", { exact: true }).selectOption({ label: "Grace Hopper" });
    await page.getByLabel("Unread").check();
    await row("Could you look").waitFor();
    // A link to another page carries none of the inbox's parameters.
    await page.getByRole("link", { name: "Usage" }).click();
    await page.getByRole("heading", { name: "Usage" }).waitFor();
    expect(page.url()).toBe(`${platform.url}/usage`);
  });

  it("writes to a person, an agent that does not accept it, and a session", async () => {
    const { page } = visitor;
    const { id } = await platform.createSession({ title: "Counting otters", runtime: "scripted" });
    await inbox("Inbox").click();
    await box("Sent").click();
    const dialog = page.getByRole("dialog", { name: "New message" });
    await page.getByRole("button", { name: "New message" }).click();
    await dialog.getByRole("combobox", { name: "To" }).fill("grace");
    await dialog.getByRole("option", { name: /agent of Grace Hopper/ }).waitFor();
    await page.keyboard.press("Escape");
    await dialog.getByRole("listbox").waitFor({ state: "detached" });
    // The first entry is the person, the second her agent.
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await dialog.locator("select:focus").waitFor();
    const words = dialog.getByRole("textbox", { name: "Message", exact: true });
    await words.fill("say hello");
    // Closing the form by mistake loses nothing.
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "New message" }).click();
    expect(await words.inputValue()).toBe("say hello");
    await dialog.getByRole("button", { name: "Send" }).click();
    await dialog.getByRole("alert").getByText("does not accept your messages").waitFor();
    await visitor.picture("inbox-refused-desktop");
    visitor.forgive(403);
    await dialog.getByRole("button", { name: "Send to Grace Hopper instead" }).click();
    await dialog.getByRole("alert").waitFor({ state: "detached" });
    expect(await dialog.getByLabel("To", { exact: true }).inputValue()).toBe("Grace Hopper");
    await dialog.getByRole("button", { name: "Remove recipient" }).click();
    await dialog.locator("[role=combobox]:focus").waitFor();
    await dialog.getByRole("combobox", { name: "To" }).fill("Counting");
    await dialog.getByRole("option", { name: /Counting otters/ }).click();
    await dialog.getByRole("button", { name: "Send" }).click();
    await dialog.waitFor({ state: "detached" });
    await messages().getByText("Counting otters").first().waitFor();
    // It is delivered by a prompt, and its state is updated without asking.
    await messages().locator("[data-fate=delivered]").waitFor();
    await row("To Counting otters").getByText("Delivered").waitFor();
    const { body } = await platform.request<{ items: MailMessage[] }>(
      "GET",
      "/api/me/inbox?box=sent",
    );
    expect(body.items.filter(({ to }) => to.id === id)).toHaveLength(1);
    await visitor.picture("inbox-sent-desktop");
  });

  it("decides a session's question from its notification, and opens the session", async () => {
    const { page } = visitor;
    await inbox("Inbox").click();
    const { id } = await platform.createSession({ title: "Colours", runtime: "native" });
    await platform.prompt(id, "Ask me a question about colours");
    await row("Colours").getByRole("link", { name: "Unread: Colours" }).click();
    const gate = messages().getByTestId("gate");
    await gate.getByLabel("Blue").check();
    expect(await messages().getByRole("form", { name: "Reply" }).count()).toBe(0);
    await visitor.picture("inbox-question-desktop");
    await gate.getByRole("button", { name: "Send" }).click();
    await messages().getByText("Already decided").waitFor();
    await messages().getByText("You answered").waitFor();
    await messages().getByRole("form", { name: "Reply" }).waitFor();
    await messages().getByRole("link", { name: "Open the session Colours" }).click();
    await visitor.log.getByText("You answered").waitFor();
    // A person who watches the session end needs no notification.
    await visitor.page.locator("[data-activity=done]").first().waitFor();
    await inbox(/unread/).waitFor({ state: "detached" });
    await page.goBack();
    await messages().getByText("Already decided").waitFor();
  });

  it("snoozes, archives and marks the rest read, by keyboard too", async () => {
    const { page } = visitor;
    for (const words of ["First.", "Second.", "Third."]) await writeToMe(words);
    await writeToMe("Fourth?", "question");
    await inbox(/4 unread messages/).click();
    await row("Third.").waitFor();
    await page.getByRole("button", { name: "Mark updates as read" }).click();
    await page.getByText("3 messages marked as read").waitFor();
    await inbox(/1 unread message$/).waitFor();

    await page.getByRole("heading", { name: "Inbox" }).click();
    await page.keyboard.press("j");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await messages().getByText("Third.").waitFor();
    await page.keyboard.press("Escape");
    await messages().waitFor({ state: "detached" });
    // The focus returns to the row that was opened.
    await expect.poll(() => page.locator("[data-message-row]:focus").count()).toBe(1);
    await page.keyboard.press("Enter");
    await messages().getByText("Third.").waitFor();
    await messages().getByRole("button", { name: "Snooze" }).press("Enter");
    await page.getByRole("menuitem", { name: /In an hour/ }).waitFor();
    await visitor.picture("inbox-snooze-desktop");
    await page.keyboard.press("Enter");
    await row("Third.").waitFor({ state: "detached" });
    // The focus is where the message was.
    await expect.poll(() => page.locator("[data-message-row]:focus").count()).toBe(1);

    await box("Snoozed").click();
    await row("Third.")
      .getByText("until Today")
      .or(row("Third.").getByText(/until /))
      .first()
      .waitFor();
    await row("Third.").getByRole("link", { name: "Grace Hopper" }).click();
    await messages().getByRole("button", { name: "Move to inbox now" }).click();
    await row("Third.").waitFor({ state: "detached" });
    await box("Inbox").click();
    await row("Third.").getByRole("link", { name: "Unread: Grace Hopper" }).click();
    await messages().getByRole("button", { name: "Archive" }).click();
    await row("Third.").waitFor({ state: "detached" });
    const said = page.getByRole("status").filter({ hasText: "Archived" });
    await said.getByRole("button", { name: "Undo" }).click();
    await row("Third.")
      .getByRole("link", { name: /Grace Hopper/ })
      .click();
    await messages().getByRole("button", { name: "Archive" }).click();
    await row("Third.").waitFor({ state: "detached" });
    await box("Archived").click();
    await row("Third.").getByRole("link", { name: "Grace Hopper" }).click();
    await messages().getByRole("button", { name: "Move to inbox" }).click();
    await page.getByText("No archived messages").waitFor();
    await box("Inbox").click();
    await row("Third.").waitFor();
    // Unknown values in the address are ignored.
    await page.goto(`${platform.url}/inbox?box=banana`);
    await row("Third.").waitFor();
  });

  it("is a list and then a message on a phone", async () => {
    const { page } = visitor;
    await page.setViewportSize(PHONE);
    await writeToMe("A very long word: ".concat("otters".repeat(60)));
    await page.getByRole("button", { name: "All sessions, 1 unread message" }).click();
    await visitor.picture("inbox-drawer-phone");
    expect(await visitor.overflow()).toBeLessThanOrEqual(0);
    await inbox(/1 unread message/).click();
    await row("A very long word").waitFor();
    await visitor.picture("inbox-list-phone");
    expect(await visitor.overflow()).toBeLessThanOrEqual(0);
    await row("A very long word").getByRole("link", { name: "Unread: Grace Hopper" }).click();
    await messages().getByRole("textbox", { name: "Reply to Grace Hopper" }).waitFor();
    expect(await page.getByRole("list", { name: "Messages" }).isVisible()).toBe(false);
    await visitor.picture("inbox-thread-phone");
    expect(await visitor.overflow()).toBeLessThanOrEqual(0);
    await page.getByRole("link", { name: "Back to the list" }).click();
    await row("A very long word").waitFor();
  });

  it("the settings choose where else messages go, and who may write to one's agent", async () => {
    const { page } = visitor;
    await platform.request("POST", "/api/me/orchestrator", {});
    await page.getByRole("link", { name: "Settings" }).click();
    await page.getByRole("link", { name: "Notifications" }).click();
    expect(await page.getByLabel("Questions: Inbox").isChecked()).toBe(true);
    expect(await page.getByLabel("Questions: Slack").isDisabled()).toBe(true);
    await page.getByText("are not connected on this server").waitFor();
    await page.getByLabel("Selected people The people").check();
    await page
      .getByRole("group", { name: "Selected people" })
      .getByLabel(/Grace Hopper/)
      .check();
    await visitor.picture("notifications-desktop");
    await expect
      .poll(async () => (await platform.request("GET", "/api/me/mail-contacts")).body)
      .toMatchObject({ items: [{ name: "Grace Hopper" }] });
    await page.setViewportSize(PHONE);
    await visitor.picture("notifications-phone");
    expect(await visitor.overflow()).toBeLessThanOrEqual(0);
    const { body } = await platform.request<{ identity: { handle: string } }>(
      "GET",
      "/api/me/orchestrator",
    );
    await grace("/api/messages", { to: `@${body.identity.handle}`, content: "Hello, agent." });
    await page.reload();
    const contact = page.getByRole("group", { name: "Selected people" }).getByLabel(/Grace/);
    await expect.poll(() => contact.isChecked()).toBe(true);

    // Her message is not in one's own conversation, which has not begun.
    await page.setViewportSize(DESK);
    await page.goto(platform.url);
    const aside = visitor.log.getByRole("article", {
      name: "Outside your conversation",
    });
    await aside.getByText("A message from Grace Hopper").waitFor();
    await aside.getByText("Hello, agent.").waitFor();
    await visitor.log.getByRole("heading", { name: "What can I help with?" }).waitFor();
    await page.getByRole("button", { name: "What can you do?" }).waitFor();
    await visitor.picture("home-message-desktop");
    await aside.getByRole("button", { name: "Outside your conversation" }).click();
    await aside.getByText("I have read what Grace Hopper wrote.").waitFor();

    // Notices from the platform in one's own conversation are folded too.
    await platform.request("POST", "/api/messages", {
      to: `@${body.identity.handle}`,
      content: "Mind the **otters**.",
    });
    const own = visitor.log.getByRole("article", { name: "Messages" });
    await own.getByText("A message from you").waitFor();
    const { body: home } = await platform.request<{ session: { id: string } }>(
      "GET",
      "/api/me/orchestrator",
    );
    await platform.request("POST", `/api/sessions/${home.session.id}/tasks`, {
      title: "Count otters",
      sessionId: home.session.id,
    });
    const news = visitor.log.getByRole("article", { name: "Board updates" });
    await news.getByText("Count otters was assigned to it").waitFor();
    await visitor.log.getByText("I have seen the updates from the board about").waitFor();
    expect(await visitor.log.getByText(/\[(mailbox|tasks)/).count()).toBe(0);
    await visitor.picture("home-news-desktop");
    await news.getByRole("button", { name: "Full update" }).click();
    await news.getByText("[tasks] Updates from the task board").waitFor();
    await page.setViewportSize(PHONE);
    await visitor.picture("home-message-phone");
    expect(await visitor.overflow()).toBeLessThanOrEqual(0);
  });
});
