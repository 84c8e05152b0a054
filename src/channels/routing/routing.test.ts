/** Routing of prompts that name no session, on the real kernel, on both databases. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { authMigrations, insertUser } from "#features/auth/index.ts";
import { createDelegation } from "#features/delegation/index.ts";
import { createOrchestrators } from "#features/orchestrators/index.ts";
import { member, owner, startWorld, type User, type World } from "#features/testing/index.ts";
import type { Prompt } from "#protocol/sessions.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import { routing } from "./index.ts";

interface Routed {
  prompt: Prompt;
  session: { id: string };
}
const agent = {
  kind: "session",
  orgId: "org_1",
  sessionId: "orchestrator:usr_1",
  ownerId: "usr_1",
  name: "agent",
} as const;

function suite(title: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(title, () => {
    let world: World;
    let made: TestDatabase | undefined;
    beforeAll(async () => {
      made = await database();
      const auth = { name: "auth", migrations: authMigrations };
      const features = [auth, createDelegation(), createOrchestrators(), routing];
      world = await startWorld(features, made?.url);
      const { store } = world.kernel.engine;
      await store.transaction(async (tx) => {
        await tx.execute({
          sql: "insert into orgs (id, name, slug, created_at) values ('org_1', 'Crew', 'crew', 1)",
          parameters: [],
        });
        for (const { userId: id, orgId: org_id, name, role } of [owner, member])
          await insertUser(tx, {
            ...{ id, org_id, name, role, email: null },
            ...{ timezone: "UTC", locale: "en", created_at: 1 },
          });
      });
    });
    afterAll(async () => {
      await world.stop();
      await made?.drop();
    });

    const say = (who: User, body: object) =>
      world.call<Routed>(who, "POST", "/api/prompt", { content: "hello", ...body });
    const target = async (who: User, body: object = {}) => (await say(who, body)).session.id;
    const bindings = (sessionId: string) =>
      world.kernel.engine.store.read((reader) =>
        reader.query<{ scope_key: string; channel_type: string }>({
          sql: `select scope_key, channel_type from channel_bindings where session_id = '${sessionId}' order by scope_key`,
          parameters: [],
        }),
      );

    it("goes to the sender's orchestrator, which is there when it is needed", async () => {
      const asked = await Promise.all([1, 2, 3].map(() => say(owner, {})));
      for (const { prompt, session } of asked) {
        expect(session.id).toBe("orchestrator:usr_1");
        expect(prompt).toMatchObject({ sessionId: session.id, author: { id: "usr_1" } });
        expect(prompt.origin).toMatchObject({ channelType: "api", scopeKey: null, replyRef: null });
      }
      await world.kernel.sessions.terminate(owner, "orchestrator:usr_1");
      expect(await target(owner)).toBe("orchestrator:usr_1");
      const { incarnation } = await world.kernel.sessions.get(owner, "orchestrator:usr_1");
      expect(incarnation).toBe(2);
    });

    it("finds every session by its place on the web", async () => {
      const id = await world.createSession({}, owner);
      expect(await bindings(id)).toEqual([
        { scope_key: `user:usr_1:manual:${id}`, channel_type: "web" },
      ]);
      const { channelBindings } = await world.kernel.sessions.get(owner, id);
      expect(channelBindings).toEqual([
        { channelType: "web", channelId: `user:usr_1:manual:${id}` },
      ]);
      expect(await target(owner, { scopeKey: `user:usr_1:manual:${id}` })).toBe(id);
      expect(await target(owner, { channelType: "web", channelId: id })).toBe(id);
      expect(await target(owner, { channelType: "web", channelId: "ses_none" })).toBe(
        "orchestrator:usr_1",
      );
      expect(await bindings("orchestrator:usr_1")).toEqual([
        { scope_key: "user:usr_1:manual:orchestrator:usr_1", channel_type: "web" },
      ]);
    });

    it("follows a conversation from one session to the next, and back to the orchestrator", async () => {
      const scopeKey = "user:usr_1:slack:T1:C2:1234.5678";
      const place = { channelType: "slack", channelId: "T1:C2:1234.5678" };
      expect(await target(owner, place)).toBe("orchestrator:usr_1");
      const first = await world.createSession({ scopeKey }, owner);
      expect((await bindings(first)).map(({ channel_type }) => channel_type)).toContain("slack");
      const said = await say(owner, { ...place, metadata: { ts: "1" }, mode: "collect" });
      expect(said.session.id).toBe(first);
      expect(said.prompt).toMatchObject({
        mode: "collect",
        origin: { ...place, scopeKey, replyRef: null, metadata: { ts: "1" } },
      });
      const shown = (id: string) =>
        world.kernel.sessions
          .get(owner, id)
          .then(({ channelBindings }) => channelBindings.map((one) => one.channelType).toSorted());
      expect(await shown(first)).toEqual(["slack", "web"]);
      const second = await world.createSession({ scopeKey }, owner);
      // The conversation has moved, and both sessions show it.
      expect(await shown(first)).toEqual(["web"]);
      expect(await shown(second)).toEqual(["slack", "web"]);
      expect(await target(owner, place)).toBe(second);
      await world.kernel.sessions.archive(owner, second, true);
      expect(await target(owner, place)).toBe("orchestrator:usr_1");
      // A sender who names the session itself learns that it has ended.
      await expect(say(owner, { channelId: second })).rejects.toMatchObject({
        code: "session_not_active",
      });
    });

    it("is a conversation of its own for each place, side by side", async () => {
      const threads = async (body: object) => (await say(owner, body)).prompt.thread;
      const slack = { channelType: "slack", channelId: "T9:C9:1.1" };
      expect(await threads({})).toBe("main");
      expect(await threads({ channelType: "web", channelId: "ses_none" })).toBe("main");
      expect(await threads({ channelType: "api", channelId: "nightly" })).toBe("main");
      expect(await threads(slack)).toBe("slack:T9:C9:1.1");
      expect(await threads({ scopeKey: "user:usr_1:slack:T9:C9:1.1" })).toBe("slack:T9:C9:1.1");
      const issue = { channelType: "github", channelId: "acme/api:issue:7" };
      expect(await threads(issue)).toBe("github:acme/api:issue:7");
      const long = await threads({ ...slack, channelId: "x".repeat(400) });
      expect(long).toMatch(/^slack:[\w-]{43}$/);
      // A session that is bound to a conversation has one thread.
      await world.createSession({ scopeKey: "user:usr_1:slack:T9:C9:2.2" }, owner);
      expect(await threads({ ...slack, channelId: "T9:C9:2.2" })).toBe("main");
    });

    it("never reaches somebody else's session", async () => {
      const theirs = await world.createSession({ scopeKey: "user:usr_1:api:job" }, owner);
      const own = "orchestrator:usr_2";
      const places = [
        { scopeKey: `user:usr_1:manual:${theirs}` },
        { scopeKey: "user:usr_1:api:job" },
        { channelId: theirs },
        { channelId: `user:usr_1:manual:${theirs}` },
        { scopeKey: "user:usr_1:manual:orchestrator:usr_1" },
        { channelType: "web", channelId: "orchestrator:usr_1" },
      ];
      for (const place of places) {
        const { session, prompt } = await say(member, place);
        expect(session.id).toBe(own);
        expect(prompt.origin.scopeKey ?? "").not.toContain("user:usr_1:");
      }
      // No session is created for another person's key, or for a key without a person.
      for (const scopeKey of ["user:usr_1:api:job", "user:usr_22:api:job", "job"])
        await expect(world.createSession({ scopeKey }, member)).rejects.toMatchObject({
          kind: "forbidden",
          code: "scope_not_yours",
        });
      expect(await target(owner, { channelType: "api", channelId: "job" })).toBe(theirs);
    });

    it("is for people, and for no channel of the platform's own", async () => {
      await expect(
        world.call(agent, "POST", "/api/prompt", { content: "x" }),
      ).rejects.toMatchObject({
        kind: "forbidden",
      });
      await expect(say({ ...owner, scopes: ["sessions:read"] }, {})).rejects.toMatchObject({
        kind: "forbidden",
      });
      for (const channelType of ["wake", "session", "system"])
        await expect(say(owner, { channelType })).rejects.toThrow();
    });

    it("forgets the places of a session that is gone", async () => {
      const id = await world.createSession({ scopeKey: "user:usr_1:api:gone" }, owner);
      await world.kernel.sessions.archive(owner, id, true);
      const { store } = world.kernel.engine;
      await store.transaction((tx) =>
        tx.execute({
          sql: `update sessions set archived_at = 1 where id = '${id}'`,
          parameters: [],
        }),
      );
      await world.kernel.sweeps.tick();
      expect(await bindings(id)).toEqual([]);
    });
  });
}

it("binds the sessions that were there before there were bindings", async () => {
  const folder = mkdtempSync(join(tmpdir(), "muster-routing-"));
  try {
    const url = `sqlite:${join(folder, "muster.db")}`;
    const before = await startWorld([], url);
    const id = await before.createSession();
    await before.stop();
    const after = await startWorld([routing], url);
    const rows = await after.kernel.engine.store.read((reader) =>
      reader.query<{ scope_key: string }>({
        sql: "select scope_key from channel_bindings",
        parameters: [],
      }),
    );
    expect(rows).toEqual([{ scope_key: `user:usr_1:manual:${id}` }]);
    await after.stop();
  } finally {
    rmSync(folder, { recursive: true });
  }
});

suite("routing on sqlite", async () => undefined);
describe.skipIf(!postgresUrl)("with a server", () => {
  suite("routing on postgres", () => createTestDatabase());
});
