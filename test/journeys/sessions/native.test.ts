/** The native agent end to end: a model, real tools in a real sandbox, approvals, changes. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ModelServer, startModelServer } from "#test/model-server/model-server.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import "#test/services/bubblewrap.ts";

describe("models whose keys are on the server", () => {
  let platform: Platform;
  let model: ModelServer;
  beforeAll(async () => {
    model = await startModelServer();
    platform = await startPlatform();
  });
  afterAll(async () => {
    await platform.stop();
    await model.close();
  });

  const offered = async (id: string) => {
    const { items } = await platform.api.runners.models();
    return items.find((offer) => offer.id === id)?.usable ?? false;
  };

  it("are reached through the server, and gone when they are removed", async () => {
    expect(await offered("house/test-1")).toBe(false);
    await platform.api.providers.set({
      name: "house",
      body: {
        kind: "openai-compatible",
        baseUrl: model.url,
        apiKey: "the-real-key-0123456789",
        models: ["test-1"],
      },
    });
    await expect.poll(() => offered("house/test-1"), { timeout: 15_000 }).toBe(true);
    const session = await platform.createSession({ runtime: "native", model: "house/test-1" });
    const prompt = await platform.prompt(
      session.id,
      'CALL bash {"command": "env; tr -d x < /proc/1/cmdline"}\nSAY done',
    );
    expect(await platform.promptIn(prompt.id, "settled")).toMatchObject({
      error: null,
      outcome: "completed",
    });
    expect(model.requests.map(({ headers }) => headers.authorization)).toEqual(
      model.requests.map(() => "Bearer the-real-key-0123456789"),
    );
    expect(JSON.stringify(await platform.events(session.id))).not.toContain("the-real-key");
    await platform.api.providers.delete({ name: "house" });
    await expect.poll(() => offered("house/test-1"), { timeout: 15_000 }).toBe(false);
  });
});

describe("the demo story", () => {
  let platform: Platform;
  beforeAll(async () => {
    platform = await startPlatform({
      env: { MUSTER_RUNTIME: "native", MUSTER_MODEL: "demo/story" },
    });
  });
  afterAll(() => platform.stop());

  it("answers what it can do", async () => {
    const session = await platform.createSession({ runtime: "native" });
    const prompt = await platform.prompt(session.id, "what can you do?");
    const settled = await platform.promptIn(prompt.id, "settled");
    expect(settled).toMatchObject({ error: null, outcome: "completed" });
    const events = await platform.events(session.id);
    const text = events.findLast(({ type, kind }) => type === "message" && kind === "text");
    expect(JSON.stringify(text?.content)).toContain("demo");
  });

  it("makes a page, asks before it deletes, and shows its changes", async () => {
    const session = await platform.createSession({ runtime: "native" });
    const prompt = await platform.prompt(
      session.id,
      "make me a tiny web page about otters and show me",
    );
    await platform.promptIn(prompt.id, "gated");
    const { approvals, workspaces } = platform.api;
    const { items } = await approvals.list({ query: { state: "pending", session: session.id } });
    expect(items).toHaveLength(1);
    const [approval] = items;
    expect(approval).toMatchObject({ kind: "approval", tool: "bash" });
    await approvals.decide({
      id: approval?.id ?? "",
      body: { decision: "allow", scope: "once" },
    });
    expect(await platform.promptIn(prompt.id, "settled")).toMatchObject({ outcome: "completed" });
    const changes = await workspaces.changes({ id: session.id });
    expect(changes.files.map(({ path }) => path)).toContain("index.html");
    const preview = await workspaces.createPreview({
      id: session.id,
      body: { path: "index.html" },
    });
    const page = await fetch(platform.url + preview.frameUrl);
    expect(page.headers.get("content-security-policy")).toMatch(/^sandbox; default-src 'none'/);
    expect(await page.text()).toContain("otter");
    const around = await fetch(platform.url + preview.url);
    expect(await around.text()).toContain(`src="${preview.frameUrl}"`);
    const alone = await fetch(platform.url + preview.frameUrl, {
      headers: { "sec-fetch-dest": "document" },
      redirect: "manual",
    });
    expect(alone.headers.get("location")).toBe(preview.url);
    const forged = preview.frameUrl.replace(/\.[\w-]+\//, ".AAAA/");
    expect((await fetch(platform.url + forged)).status).toBe(404);
  });
});
