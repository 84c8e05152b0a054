import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  ended,
  member,
  modelCall,
  owner,
  startWorld,
  type World,
} from "#features/testing/index.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import type { UsagePage } from "./contract.ts";
import { usage } from "./index.ts";

const DAY_MS = 24 * 60 * 60_000;

function suite(name: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(name, () => {
    let world: World;
    let made: TestDatabase | undefined;
    beforeAll(async () => {
      made = await database();
      world = await startWorld([usage], made?.url);
    });
    afterAll(async () => {
      await world.stop();
      await made?.drop();
    });

    const read = (query: string, who: Parameters<World["call"]>[0] = owner) =>
      world.call<UsagePage>(who, "GET", `/api/usage?${query}`);
    const item = async (by: string, key: string, who = owner) =>
      (await read(`by=${by}&limit=200`, who)).items.find((found) => found.key === key);

    async function work(
      sessionId: string,
      items: Parameters<Awaited<ReturnType<World["startTurn"]>>["journal"]>[0],
      who = owner,
      settled?: { inputTokens: number; outputTokens: number; costMicros: number | null },
    ) {
      const turn = await world.startTurn(sessionId, "go", who);
      const settle = { outcome: "completed" as const, ...(settled ? { usage: settled } : {}) };
      await turn.journal(items, { settle });
    }

    it("adds up requests, tokens, cost, calls and turns", async () => {
      const session = await world.createSession({ title: "Otters" });
      await work(session, [modelCall(), ended("c1", "bash"), modelCall({ costMicros: 700 })]);
      await work(session, [modelCall({ model: "lab/large" })]);
      expect(await item("session", session)).toEqual({
        key: session,
        title: "Otters",
        requests: 3,
        inputTokens: 300,
        cachedInputTokens: 120,
        outputTokens: 60,
        reasoningTokens: 15,
        costMicros: 1_300,
        unpricedRequests: 0,
        toolCalls: 1,
        turns: 2,
        modelMs: 150,
        toolMs: 12,
      });
      expect(await item("model", "lab/large")).toMatchObject({ requests: 1, costMicros: 300 });
      expect(await item("model", "lab/small")).toMatchObject({ requests: 2, costMicros: 1_000 });
    });

    it("never shows an unpriced model as free", async () => {
      const session = await world.createSession();
      await work(session, [modelCall({ model: "home/own", costMicros: null, priceId: null })]);
      expect(await item("session", session)).toMatchObject({
        costMicros: null,
        unpricedRequests: 1,
      });
      await work(session, [modelCall()]);
      expect(await item("session", session)).toMatchObject({
        costMicros: 300,
        unpricedRequests: 1,
      });
      expect(await item("model", "home/own")).toMatchObject({
        costMicros: null,
        unpricedRequests: 1,
      });
    });

    it("takes the usage that other runtimes report at the end, and counts the native one once", async () => {
      const settled = { inputTokens: 50, outputTokens: 9, costMicros: null };
      const foreign = await world.createSession({ runtime: "scripted" });
      await work(foreign, [], owner, settled);
      expect(await item("session", foreign)).toMatchObject({
        requests: 1,
        inputTokens: 50,
        outputTokens: 9,
        costMicros: null,
        unpricedRequests: 1,
        turns: 1,
      });
      const own = await world.createSession();
      await work(own, [modelCall()], owner, settled);
      expect(await item("session", own)).toMatchObject({ requests: 1, inputTokens: 100, turns: 1 });
    });

    it("adds children to their tree", async () => {
      const root = await world.createSession();
      const child = await world.createSession({ parentSessionId: root });
      await work(root, [modelCall()]);
      await work(child, [modelCall()]);
      expect(await item("tree", root)).toMatchObject({ requests: 2, turns: 2 });
      expect(await item("tree", child)).toBeUndefined();
      expect(await item("session", child)).toMatchObject({ requests: 1 });
    });

    it("shows people their own, and admins everything but others' titles", async () => {
      const theirs = await world.createSession({ title: "Secret plan" }, member);
      await work(theirs, [modelCall({ model: "lab/theirs" })], member);
      const own = await read("by=session", member);
      expect(own.items).toMatchObject([{ key: theirs, title: "Secret plan" }]);
      expect(own.total).toMatchObject({ requests: 1 });
      expect(await item("session", theirs)).toMatchObject({ title: null, requests: 1 });
      expect((await read("by=user")).items.map(({ key }) => key)).toEqual(["usr_1", "usr_2"]);
      const agent = {
        kind: "session",
        orgId: "org_1",
        sessionId: theirs,
        ownerId: "usr_2",
        name: "a",
      } as const;
      await expect(read("", agent)).rejects.toMatchObject({ code: "forbidden" });
    });

    it("lists in pages, with the total of all", async () => {
      const whole = await read("by=session&limit=200");
      const keys: string[] = [];
      let cursor = "";
      do {
        const page = await read(`by=session&limit=2${cursor}`);
        expect(page.total).toEqual(whole.total);
        keys.push(...page.items.map(({ key }) => key));
        cursor = page.next === null ? "" : `&cursor=${page.next}`;
      } while (cursor !== "");
      expect(keys).toEqual(whole.items.map(({ key }) => key));
      expect(whole.items.reduce((sum, { requests }) => sum + requests, 0)).toBe(
        whole.total.requests,
      );
      await expect(read("by=model&cursor=nonsense")).rejects.toMatchObject({
        code: "cursor_invalid",
      });
      expect((await read("by=persona")).items).toMatchObject([{ key: "" }]);
    });

    it("is empty where nothing was", async () => {
      const { items, total } = await read("by=day&from=2999-01-01");
      expect(items).toEqual([]);
      expect(total).toMatchObject({ requests: 0, costMicros: 0, unpricedRequests: 0 });
    });

    it.skipIf(name.includes("PostgreSQL"))(
      "goes by days, and stays when a session goes",
      async () => {
        const session = await world.createSession();
        await work(session, [modelCall()]);
        world.clock.advance(DAY_MS);
        await work(session, [modelCall()]);
        const days = await read("by=day");
        expect(days.items.map(({ key }) => key)).toEqual(["2026-01-02", "2026-01-01"]);
        expect((await read("by=day&from=2026-01-02&to=2026-01-02")).total).toMatchObject({
          requests: 1,
        });
        await world.kernel.sessions.archive(owner, session, false);
        world.clock.advance(8 * DAY_MS);
        await world.kernel.sweeps.tick();
        await expect(world.kernel.sessions.get(owner, session)).rejects.toMatchObject({
          code: "not_found",
        });
        expect(await item("session", session)).toMatchObject({ title: null, requests: 2 });
      },
    );

    it("adds sessions that are long gone up to days, and no total changes", async () => {
      const { store } = world.kernel.engine;
      const execute = (sql: string) =>
        store.transaction((tx) => tx.execute({ sql, parameters: [] }));
      await execute("insert into orgs (id, name, slug, created_at) values ('org_1', 'o', 'o', 1)");
      const root = await world.createSession();
      const [kept, ...gone] = [
        await world.createSession(),
        await world.createSession({ parentSessionId: root }),
        await world.createSession({ parentSessionId: root }),
        await world.createSession({}, member),
      ] as [string, ...string[]];
      const who = (id: string) => (id === gone.at(-1) ? member : owner);
      for (const id of [kept, ...gone])
        await work(id, [modelCall(), modelCall({ model: "lab/large", costMicros: null })], who(id));
      const groups = ["tree", "user", "model", "persona", "day"];
      const list = gone.map((id) => `'${id}'`).join(", ");
      await execute(
        `update usage_rows set day = '2020-02-03' where session_id in ('${kept}', ${list})`,
      );
      const members = await read("by=day", member);
      const before = await Promise.all(groups.map((by) => read(`by=${by}&limit=200`)));
      await execute(`delete from sessions where id in (${list})`);
      // A rule that is not due is checked again after a minute.
      world.clock.advance(120_000);
      await world.kernel.housekeeping.round();
      expect(await item("session", gone[0] ?? "")).toBeUndefined();
      expect(await item("session", kept)).toMatchObject({ requests: 2 });
      expect(await item("session", "")).toMatchObject({ requests: 6, unpricedRequests: 3 });
      const after = await Promise.all(groups.map((by) => read(`by=${by}&limit=200`)));
      // A removed session's tree has no title any more; every other row is unchanged.
      const own = gone.at(-1) ?? "";
      const named = (page: UsagePage) =>
        page.items
          .map((one) => ({ ...one, key: one.key === own ? "" : one.key }))
          .toSorted((a, b) => a.key.localeCompare(b.key));
      expect(after.map(({ total }) => total)).toEqual(before.map(({ total }) => total));
      expect(after.map(named)).toEqual(before.map(named));
      expect(await read("by=day", member)).toEqual(members);
      expect((await read(`by=day&session=${kept}`)).total).toMatchObject({ requests: 2 });
    });
  });
}

suite("on SQLite", async () => undefined);
describe.skipIf(!postgresUrl)("with a server", () => {
  suite("on PostgreSQL", createTestDatabase);
});
