import { createServer, request as forward, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { MailMessage } from "#features/mailbox/contract.ts";
import type { Provider } from "#features/providers/contract.ts";
import type { Prompt } from "#protocol/sessions.ts";
import { type ModelServer, startModelServer } from "#test/model-server/model-server.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import { bubblewrapFile } from "#test/services/bubblewrap.ts";
import { chromiumFile } from "#test/services/chromium.ts";
import { launchBrowser, PHONE, SLOW, Visitor } from "../visitor.ts";

const MODEL = "house/test-1";

/** A provider that accepts only the key `sk-right`, and no key while it `isBroken`. */
async function startVendor(to: string) {
  const state = { isBroken: false };
  const server = createServer((incoming, outgoing) => {
    if (state.isBroken || incoming.headers.authorization !== "Bearer sk-right") {
      outgoing.writeHead(401, { "content-type": "application/json" });
      outgoing.end(JSON.stringify({ error: { message: "Incorrect key." } }));
      return;
    }
    const { method, headers } = incoming;
    const onward = forward(new URL(incoming.url ?? "/", to), { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { state, server: server as Server, url };
}

/** Model errors, failed turns and wrong keys on the page. */
describe.skipIf(!chromiumFile || !bubblewrapFile)("errors on the page", SLOW, () => {
  let platform: Platform;
  let model: ModelServer;
  let vendor: Awaited<ReturnType<typeof startVendor>>;
  let browser: Browser;
  let visitor: Visitor;

  beforeAll(async () => {
    model = await startModelServer();
    vendor = await startVendor(model.url);
    platform = await startPlatform({ env: { MUSTER_RUNTIME: "native" } });
    const house = { kind: "openai-compatible", baseUrl: vendor.url, apiKey: "sk-right" };
    await platform.request("PUT", "/api/providers/house", house);
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await platform.stop();
    await model.close();
    vendor.server.close();
  });
  beforeEach(async () => {
    visitor = await Visitor.arrive(browser, platform);
    await visitor.signIn();
  });
  afterEach(async () => {
    await visitor.leave();
    await platform.request("PUT", "/api/me/inbox/read-all");
  });

  const needsYou = () => visitor.page.getByRole("navigation", { name: "Needs you" });
  const trouble = () => visitor.page.getByTestId("trouble");
  /** Outcomes of a session's prompts, newest first. */
  const outcomes = async (id: string) =>
    (
      await platform.request<{ items: Prompt[] }>("GET", `/api/sessions/${id}/prompts`)
    ).body.items.map(({ outcome }) => outcome);
  /** A session whose model refuses once. */
  const fail = async (title: string, says: string) => {
    const session = await platform.createSession({ runtime: "native", model: MODEL, title });
    vendor.state.isBroken = true;
    const { id } = await platform.prompt(session.id, `SAY ${says}`);
    expect((await platform.promptIn(id, "settled")).outcome).toBe("failed");
    vendor.state.isBroken = false;
    return session.id;
  };

  it("shows a failed turn with its reason, and retries it by keyboard", async () => {
    const { page, log } = visitor;
    const id = await fail("Count otters", "forty two");
    const item = needsYou().getByRole("listitem", { name: "Count otters failed" });
    await item.getByText(/does not accept the key/).waitFor();
    await visitor.picture("failed-needs-you-desktop");
    await item.getByRole("link", { name: "See why" }).click();
    await page.getByRole("heading", { name: "Count otters" }).waitFor();
    await trouble().getByText(`${MODEL} is not working`).waitFor();
    await trouble()
      .getByText(/Check the key in the settings/)
      .waitFor();
    // Opening it does not resolve it.
    await item.waitFor();
    await visitor.picture("failed-session-desktop");
    await trouble().getByRole("button", { name: "Retry" }).focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => outcomes(id)).toEqual(["completed", "failed"]);
    // The model has read the words twice by now.
    await log.getByText(/forty two.*forty two/).waitFor();
    await trouble().waitFor({ state: "detached" });
    await needsYou().waitFor({ state: "detached" });
    await visitor.picture("failed-retried-desktop");
  });

  it("changes the model and continues, from the list and on a phone", async () => {
    const { page } = visitor;
    const id = await fail("Feed otters", "fed");
    await page.setViewportSize(PHONE);
    await visitor.open(id);
    await trouble().waitFor();
    await visitor.picture("failed-session-phone");
    expect(await visitor.overflow()).toBeLessThanOrEqual(0);
    await trouble().getByRole("button", { name: "Change model" }).click();
    const dialog = page.getByRole("dialog", { name: "Change the model" });
    await dialog.getByLabel("Model").selectOption("");
    await visitor.picture("change-model-phone");
    await dialog.getByRole("button", { name: "Change and retry" }).click();
    await dialog.waitFor({ state: "detached" });
    await expect.poll(() => outcomes(id)).toEqual(["completed", "failed"]);
    await trouble().waitFor({ state: "detached" });
  });

  it("sends nothing again while a model is being added", async () => {
    const { page } = visitor;
    const id = await fail("Brush otters", "brushed");
    await visitor.open(id);
    await trouble().getByRole("button", { name: "Change model" }).click();
    const choice = page.getByRole("dialog", { name: "Change the model" });
    await choice.getByLabel("Model").selectOption({ label: "Add a model…" });
    const dialog = page.getByRole("dialog", { name: "Add a model" });
    await dialog.getByText("Custom endpoint").click();
    await dialog.getByLabel("Name").fill("other");
    await dialog.getByLabel("URL").fill(vendor.url);
    await dialog.getByRole("textbox", { name: /^Key/ }).fill("sk-wrong");
    await dialog.getByRole("button", { name: "Add", exact: true }).click();
    await dialog.getByText(/does not accept this key/).waitFor();
    visitor.forgive(400);
    expect(await outcomes(id)).toEqual(["failed"]);
    await trouble().waitFor();
  });

  it("dismisses a failure on request", async () => {
    const id = await fail("Wash otters", "washed");
    await needsYou().getByRole("button", { name: "Dismiss: Wash otters failed" }).click();
    await needsYou().waitFor({ state: "detached" });
    await visitor.open(id);
    await trouble().getByRole("button", { name: "Retry" }).waitFor();
  });

  it("saves no key that its provider refuses, and accepts the right one", async () => {
    const { page } = visitor;
    await page.getByRole("link", { name: "Models" }).click();
    await page.getByRole("button", { name: "Add a model" }).click();
    const dialog = page.getByRole("dialog", { name: "Add a model" });
    await dialog.getByText("Custom endpoint").click();
    await dialog.getByLabel("Name").fill("strict");
    await dialog.getByLabel("URL").fill(vendor.url);
    const key = dialog.getByRole("textbox", { name: /^Key/ });
    await key.fill("sk-wrong");
    await dialog.getByRole("button", { name: "Add", exact: true }).click();
    await dialog.getByText(/does not accept this key/).waitFor();
    visitor.forgive(400);
    await visitor.picture("wrong-key-desktop");
    const saved = async () =>
      (await platform.request<{ items: Provider[] }>("GET", "/api/providers")).body.items;
    expect((await saved()).map(({ name }) => name)).not.toContain("strict");
    await key.fill("sk-right");
    await dialog.getByRole("button", { name: "Add", exact: true }).click();
    await dialog.waitFor({ state: "detached" });
    expect((await saved()).find(({ name }) => name === "strict")?.answered).toBe(true);
    await platform.request("DELETE", "/api/providers/strict");
  });

  it("says before the next prompt that a session's model is gone", async () => {
    const gone = { kind: "openai-compatible", baseUrl: model.url, apiKey: "sk-gone" };
    await platform.request("PUT", "/api/providers/gone", gone);
    const session = await platform.createSession({ runtime: "native", model: "gone/test-1" });
    await platform.request("DELETE", "/api/providers/gone");
    const offered = async () =>
      JSON.stringify((await platform.request("GET", "/api/models")).body).includes("gone/");
    await expect.poll(offered).toBe(false);
    await visitor.open(session.id);
    await trouble()
      .getByText(/No connected machine has a model from gone/)
      .waitFor();
    await trouble().getByRole("link", { name: "Set up models" }).click();
    await visitor.page.getByRole("heading", { name: "Models" }).waitFor();
  });

  it("leaves nothing unread when a session is done, unless the digest is enabled", async () => {
    const { page } = visitor;
    const done = async (title: string) => {
      const session = await platform.createSession({ runtime: "echo", title });
      await platform.promptIn((await platform.prompt(session.id, "hello")).id, "settled");
    };
    const unread = async () =>
      (await platform.request<{ count: number }>("GET", "/api/me/inbox/count")).body.count;
    await done("Quiet one");
    expect(await unread()).toBe(0);
    await page.goto(`${platform.url}/settings/notifications`);
    const box = page.getByLabel(/Collect them in a digest/);
    expect(await box.isChecked()).toBe(false);
    await box.click();
    await expect.poll(() => box.isChecked()).toBe(true);
    await visitor.picture("digest-settings-desktop");
    await done("Loud one");
    await done("Louder one");
    await expect.poll(unread).toBe(1);
    await page.getByRole("link", { name: /^Inbox/ }).click();
    await page
      .getByRole("link", { name: /Unread: Digest/ })
      .first()
      .click();
    await page.getByText("2 sessions completed").last().waitFor();
    await visitor.picture("digest-desktop");
    await page.goto(`${platform.url}/settings/notifications`);
    await box.click();
    await expect.poll(() => box.isChecked()).toBe(false);
  });

  it("shows a decided question as decided in the inbox too", async () => {
    const { page } = visitor;
    const session = await platform.createSession({
      runtime: "native",
      model: "demo/story",
      title: "Ask me",
    });
    await platform.prompt(session.id, "Ask me a question about colours");
    const asked = async () =>
      (
        await platform.request<{ items: MailMessage[] }>(
          "GET",
          `/api/me/inbox?contextSessionId=${session.id}&messageType=question`,
        )
      ).body.items[0];
    await expect.poll(asked).toBeDefined();
    const gateId = (await asked())?.contextRef?.replace("approval:", "") ?? "";
    await platform.request("POST", `/api/approvals/${gateId}`, { decision: "deny" });
    await page.goto(`${platform.url}/inbox`);
    await page.getByLabel("Type").selectOption("question");
    const row = page.getByRole("listitem").filter({ hasText: "Ask me" });
    await row.getByRole("img", { name: /^Question: / }).waitFor();
    await visitor.picture("decided-inbox-desktop");
    expect((await asked())?.decision).toBe("denied");
  });
});
