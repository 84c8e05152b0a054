/** A person's orchestrator over HTTP: its creation, its aliases, its context. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Prompt, Session } from "#protocol/sessions.ts";
import { handRunner, turnOf } from "#test/clients/mcp.ts";
import { type Browser, join, openSocket, orgOf } from "#test/clients/people.ts";
import { type ModelServer, startModelServer } from "#test/model-server/model-server.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import "#test/services/bubblewrap.ts";

interface Started {
  session: Session;
  identity: { handle: string };
  alreadyExists: boolean;
  error?: { code: string };
}

describe("an orchestrator", () => {
  let platform: Platform;
  let model: ModelServer;
  let ann: Browser;
  let ben: Browser;
  let orgId: string;
  beforeAll(async () => {
    model = await startModelServer();
    platform = await startPlatform({
      env: {
        MUSTER_MAX_SESSIONS: "1",
        MUSTER_MODEL: "openai/test-1",
        OPENAI_BASE_URL: model.url,
        OPENAI_API_KEY: "k",
      },
    });
    ({ orgId } = await orgOf(platform));
    ann = await join(platform, "Ann");
    ben = await join(platform, "Ben");
  });
  afterAll(async () => {
    await platform.stop();
    await model.close();
  });

  const own = () => `orchestrator:${ann.userId}`;
  const receipt = async (id: string) => (await ann.api.prompts.get({ id })).prompt;

  it("is created by the first message, and answers", async () => {
    const { prompt, session } = await ann.api.routing.prompt({
      body: { content: "SAY I am here" },
    });
    expect(session.id).toBe(own());
    await expect
      .poll(async () => (await receipt(prompt.id)).outcome, { timeout: 15_000 })
      .toBe("completed");
    const asked = JSON.stringify(model.requests.at(-1));
    expect(asked).toContain("You are an orchestrator");
    expect(asked).toContain("Ann's agent");
    const transcript = await ann.api.sessions.transcript({ id: "orchestrator" });
    expect(JSON.stringify(transcript)).toContain("I am here");
  });

  it("is the same one for later requests", async () => {
    const again = await ann.request<Started>("POST", "/api/me/orchestrator", { name: "Friday" });
    expect(again.status).toBe(200);
    expect(again.body).toMatchObject({ alreadyExists: true, identity: { handle: "ann" } });
    const first = await ben.request<Started>("POST", "/api/me/orchestrator", { handle: "Ann" });
    expect(first.status).toBe(409);
    expect(first.body.error?.code).toBe("handle_taken");
    const bens = await ben.request<Started>("POST", "/api/me/orchestrator", { handle: "benny" });
    expect(bens.status).toBe(201);
  });

  it("is found by its aliases, by its own person", async () => {
    const names = [own(), "orchestrator", `${own()}:6f1c2f9e-0000-4000-8000-000000000000`];
    for (const name of names) {
      const found = await ann.request<{ session: Session }>("GET", `/api/sessions/${name}`);
      expect(found.body.session?.id).toBe(own());
      const prompts = await ann.request("GET", `/api/sessions/${name}/prompts`);
      expect(prompts.status).toBe(200);
      const usage = await ann.request("GET", `/api/usage?by=session&session=${name}`);
      expect(usage.status).toBe(200);
      const children = await ann.request<{ items: Session[] }>(
        "GET",
        `/api/sessions?parent=${name}`,
      );
      expect(children.status).toBe(200);
      const sent = await ann.request<{ message: { contextSessionId: string } }>(
        "POST",
        "/api/messages",
        { to: ben.userId, content: "About it.", contextSessionId: name },
      );
      expect(sent.body.message?.contextSessionId).toBe(own());
    }
    for (const name of [own(), `${own()}:x`]) {
      expect((await ben.request("GET", `/api/sessions/${name}`)).status).toBe(404);
      const said = await ben.request("POST", `/api/sessions/${name}/prompts`, { content: "x" });
      expect(said.status).toBe(404);
    }
    const bens = await ben.api.sessions.get({ id: "orchestrator" });
    expect(bens.session.ownerId).toBe(ben.userId);
    expect((await ann.request("GET", `/api/sessions/orchestrator:org:${orgId}`)).status).toBe(404);
  });

  it("does not count against its person's session limit, nor do its children", async () => {
    const child = await ann.api.sessions.create({
      body: { parentSessionId: "orchestrator", runtime: "echo" },
    });
    expect(child.session.parentSessionId).toBe(own());
    const create = () =>
      ann.request<{ session: Session }>("POST", "/api/sessions", {
        runtime: "scripted",
        prompt: "hang",
      });
    const busy = await create();
    expect(busy.status).toBe(201);
    expect((await create()).status).toBe(429);
    await ann.api.sessions.delete({ id: busy.body.session.id, query: { force: "true" } });
  });

  it("takes the Idempotency-Key header for a repeated request, and not for a channel", async () => {
    const scopeKey = `user:${ann.userId}:api:nightly`;
    const bound = await ann.api.sessions.create({ body: { runtime: "echo", scopeKey } });
    const key = { "idempotency-key": "nightly" };
    const say = (place: object, headers: Record<string, string>) =>
      ann.request<{ prompt: Prompt }>(
        "POST",
        "/api/prompt",
        { content: "SAY hello", channelType: "api", ...place },
        headers,
      );
    const [one, two] = [await say({}, key), await say({}, key)];
    expect(two.body.prompt.id).toBe(one.body.prompt.id);
    expect(one.body.prompt.sessionId).toMatch(/^orchestrator:/);
    expect(one.body.prompt.origin.scopeKey).toBeNull();
    // The channel is named in the body.
    const there = await say({ channelId: "nightly" }, { "idempotency-key": "another" });
    expect(there.body.prompt.sessionId).toBe(bound.session.id);
    await ann.api.sessions.delete({ id: bound.session.id, query: { force: "true" } });
  });

  it("admits a repeated request once, which starts it again after it has ended", async () => {
    const { sessions } = ann.api;
    const before = await sessions.get({ id: "orchestrator" });
    await sessions.terminate({ id: "orchestrator" });
    const shown = await ann.api.orchestrators.get();
    expect(shown).toMatchObject({ needsRestart: true, recovery: { state: "recovering" } });
    const say = () =>
      ann.request<{ prompt: Prompt }>(
        "POST",
        "/api/prompt",
        { content: "SAY again" },
        { "idempotency-key": "one" },
      );
    const [one, two] = [await say(), await say()];
    expect(two.body.prompt.id).toBe(one.body.prompt.id);
    const after = await sessions.get({ id: "orchestrator" });
    expect(after.session.incarnation).toBe(before.session.incarnation + 1);
  });

  it("keeps its folder through every incarnation", async () => {
    const work = async (content: string) => {
      const { prompt } = await ann.api.routing.prompt({ body: { content } });
      await expect
        .poll(async () => (await receipt(prompt.id)).state, { timeout: 15_000 })
        .toBe("settled");
      expect(await receipt(prompt.id)).toMatchObject({ outcome: "completed", error: null });
    };
    await work('CALL write {"path": "note.txt", "content": "kept for later"}\nSAY done');
    await ann.api.sessions.terminate({ id: "orchestrator" });
    await work(
      'CALL read {"path": "note.txt"}\nCALL glob {"pattern": ".muster/persona/*"}\nSAY done',
    );
    const text = JSON.stringify(await ann.api.sessions.transcript({ id: "orchestrator" }));
    expect(text).toMatch(/tool_result.*kept for later/);
    expect(text).toContain("01-IDENTITY.md");
  });

  it("is followed by its aliases on a socket", async () => {
    const socket = await openSocket(platform, "/api/live", {
      cookie: ben.cookie,
      origin: platform.url,
    });
    const frames: string[] = [];
    socket.on("message", (data) => frames.push(String(data)));
    socket.send(JSON.stringify({ op: "subscribe", topic: "session:orchestrator", after: 0 }));
    socket.send(JSON.stringify({ op: "subscribe", topic: `session:${own()}:x`, after: 0 }));
    await expect.poll(() => frames.join("\n")).toContain("session_created");
    await expect.poll(() => frames.join("\n")).toContain("not_found");
    expect(frames.join("\n")).not.toContain("I am here");
    socket.close();
  });
});

describe("an agent with a run's token", () => {
  let platform: Platform;
  beforeAll(async () => {
    platform = await startPlatform({ runner: false });
  });
  afterAll(() => platform.stop());

  it("reaches no orchestrator over HTTP, not even its own person's", async () => {
    const { orgId, ownerId } = await orgOf(platform);
    await platform.api.orchestrators.create();
    const runner = await handRunner(platform);
    const { token } = await turnOf(platform, runner);
    const as = { authorization: `Bearer ${token}` };
    const calls: [method: string, path: string, body?: object][] = [
      ["GET", "/api/me/orchestrator"],
      ["POST", "/api/me/orchestrator", {}],
      ["POST", "/api/me/orchestrator/restart", {}],
      ["PUT", "/api/me/orchestrator/identity", { name: "Mine" }],
      ["PATCH", "/api/me/preferences", { model: "a/b" }],
      ["POST", "/api/prompt", { content: "x" }],
      ["GET", `/api/orgs/${orgId}/agents`],
      ["GET", `/api/orgs/${orgId}/orchestrators`],
      ["PATCH", `/api/orgs/${orgId}/orchestrator-settings`, { model: null }],
    ];
    for (const [method, path, body] of calls)
      expect([path, (await platform.request(method, path, body, as)).status]).toEqual([path, 403]);
    for (const name of ["orchestrator", `orchestrator:${ownerId}`, `orchestrator:${ownerId}:x`]) {
      const path = `/api/sessions/${name}`;
      expect((await platform.request("GET", path, undefined, as)).status).toBe(404);
      const said = await platform.request("POST", `${path}/prompts`, { content: "x" }, as);
      expect(said.status).toBe(404);
    }
  });
});
