import type { Browser, Locator } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type ModelServer, startModelServer } from "#test/model-server/model-server.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import { bubblewrapFile } from "#test/services/bubblewrap.ts";
import { chromiumFile } from "#test/services/chromium.ts";
import { launchBrowser, PHONE, SLOW, Visitor } from "../visitor.ts";

const COMMAND = `git push origin main ${"x".repeat(6_000)} && rm -rf /`;
const LAPTOP = { width: 1280, height: 800 };

/** A person may allow only a call that was on the screen to its end. */
describe.skipIf(!chromiumFile || !bubblewrapFile)("a long approval in the page", SLOW, () => {
  let platform: Platform;
  let model: ModelServer;
  let browser: Browser;
  let visitor: Visitor;

  beforeAll(async () => {
    model = await startModelServer();
    platform = await startPlatform({
      env: {
        MUSTER_RUNTIME: "native",
        MUSTER_MODEL: "anthropic/claude-test",
        ANTHROPIC_API_KEY: "test-key",
        ANTHROPIC_BASE_URL: model.url,
      },
    });
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await platform.stop();
    await model.close();
  });
  beforeEach(async () => {
    visitor = await Visitor.arrive(browser, platform);
    await visitor.signIn();
  });
  afterEach(() => visitor.leave());

  const gate = () => visitor.page.getByTestId("gate");
  const allow = () => gate().getByRole("button", { name: "Allow once" });
  const closed = () => visitor.page.getByTestId("gate-closed");

  async function ask(prompt: string, size = LAPTOP): Promise<void> {
    await visitor.page.setViewportSize(size);
    const session = await platform.createSession({ runtime: "native" });
    await platform.prompt(session.id, prompt);
    await visitor.open(session.id);
    await gate().waitFor();
  }

  const call = (command: string) => `CALL bash ${JSON.stringify({ command })}\nSAY done`;

  /**
   * Scrolls to both ends of a text until the page has registered them. A position counts once it is
   * drawn: on a busy machine the beginning may be gone before that, and a text scrolls smoothly.
   */
  async function readThrough(
    button: Locator,
    goTo: (end: "End" | "Home") => Promise<void>,
  ): Promise<void> {
    let isAtEnd = false;
    const look = async () => {
      if (await button.isEnabled()) return true;
      isAtEnd = !isAtEnd;
      await goTo(isAtEnd ? "End" : "Home");
      return false;
    };
    await expect.poll(look, { interval: 1_000 }).toBe(true);
  }

  it.each([
    ["a laptop", LAPTOP],
    ["a phone", PHONE],
  ])(
    "says how long a command is, and is allowed after its end was seen, on %s",
    async (name, size) => {
      const { page } = visitor;
      await ask(call(COMMAND), size);
      await gate().getByText("1 line, 6,033 characters").waitFor();
      await gate().getByText("“Allow” is available after you scroll").waitFor();
      await visitor.picture(`long-unread-${name.replace("a ", "")}`);
      for (const button of ["Allow once", "Allow for this session", "Always allow…"])
        expect(await gate().getByRole("button", { name: button }).isDisabled()).toBe(true);
      expect(await gate().getByRole("button", { name: "Deny" }).isEnabled()).toBe(true);
      const command = gate().getByRole("region", { name: "Command" });
      // A string, because this file is compiled without the browser's types.
      const box = `document.querySelector("section[aria-label=Command]")`;
      expect(await page.evaluate(`${box}.scrollWidth <= ${box}.clientWidth`)).toBe(true);
      // By the wheel or a finger, a piece at a time.
      await command.hover();
      await page.mouse.wheel(0, 100);
      expect(await allow().isDisabled()).toBe(true);
      await readThrough(allow(), (end) => page.mouse.wheel(0, end === "End" ? 20_000 : -20_000));
      expect(await gate().getByText("is available after").count()).toBe(0);
      await visitor.picture(`long-read-${name.replace("a ", "")}`);
      await allow().click();
      await closed().getByText("You allowed this once").waitFor();
    },
  );

  it("can be read with the keyboard alone", async () => {
    const { page } = visitor;
    await ask(call(COMMAND), PHONE);
    const readOn = gate().getByRole("button", { name: "Scroll down" });
    await readOn.focus();
    await page.keyboard.press("Enter");
    expect(await allow().isDisabled()).toBe(true);
    // The text has the focus now, and scrolls like any other.
    await readThrough(allow(), (end) => page.keyboard.press(end));
  });

  it("shows the rule for a long command to its end before it is made", async () => {
    const { page } = visitor;
    await ask(call(COMMAND));
    const makeRule = gate().getByRole("button", { name: "Always allow…" });
    const command = gate().getByRole("region", { name: "Command" });
    await readThrough(makeRule, (end) => command.press(end));
    await makeRule.click();
    const dialog = page.getByRole("dialog", { name: "Always allow this?" });
    const always = dialog.getByRole("button", { name: "Always allow" });
    expect(await always.isDisabled()).toBe(true);
    const rule = dialog.getByRole("region", { name: "Rule" });
    await readThrough(always, (end) => rule.press(end));
  });

  it("spells out invisible characters, and no word moves its neighbours", async () => {
    await ask(
      call("git push\u3164\u00a0\u2800\u034f\ufe0f\u{e0101} א / ב 👩‍👩‍👧 https://аpple.com/x"),
    );
    const command = gate().getByRole("region", { name: "Command" });
    for (const name of ["U+3164", "U+00A0", "U+2800", "U+034F", "U+FE0F", "U+E0101"])
      await command.getByText(name, { exact: true }).waitFor();
    await command.getByText("xn--pple-43d.com").waitFor();
    expect(await command.locator("bdi").allInnerTexts()).toEqual(["א", "ב"]);
    const [first, second] = await command.locator("bdi").all();
    const left = async (word: typeof first) => (await word?.boundingBox())?.x ?? 0;
    expect(await left(first)).toBeLessThan(await left(second));
    await visitor.picture("hidden-letters");
  });

  it("shows a long question whole before it accepts an answer", async () => {
    const questions = [
      {
        question: `Which\u202e one?\n${"Think about it.\n".repeat(120)}`,
        options: [{ label: "Blue\u200b" }, { label: "Green" }],
      },
    ];
    await ask(`CALL ask_user_question ${JSON.stringify({ questions })}\nSAY done`);
    await gate().getByText("U+200B").waitFor();
    await gate().getByText("Green").click();
    const send = gate().getByRole("button", { name: "Send" });
    await readThrough(send, (end) =>
      gate()
        .getByText(end === "End" ? "Green" : "U+202E")
        .scrollIntoViewIfNeeded(),
    );
    await send.click();
    await visitor.log.getByText("You answered").waitFor();
  });

  it("takes text typed below the conversation as the answer", async () => {
    const options = [{ label: "Oak" }, { label: "Elm" }];
    const questions = [{ question: "Which tree?", options }];
    await ask(`CALL ask_user_question ${JSON.stringify({ questions })}\nSAY planted`);
    await gate().getByText("Which tree?").waitFor();
    const box = visitor.page.getByPlaceholder("Type your answer…");
    await box.fill("elm");
    await box.press("Enter");
    await visitor.log.getByText("planted", { exact: true }).waitFor();
    await visitor.log.getByText("You answered").last().waitFor();
    expect(await gate().count()).toBe(0);
    await visitor.page.getByPlaceholder("Describe a task…").waitFor();
  });
});
