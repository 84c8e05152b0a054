import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Principal } from "#engine/index.ts";
import { type Audit, createAudit } from "#features/audit/index.ts";
import { member, owner, startWorld, type World } from "#features/testing/index.ts";
import { usage } from "#features/usage/index.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import type { Retention } from "./contract.ts";
import { createStorage } from "./index.ts";
import { byKind, kindOf, sizesOf } from "./table-sizes.ts";

const tree = (name: string, bytes: number, cells: number, isWhole = true) => ({
  name,
  table: name.split(".")[0] ?? name,
  isTable: !name.includes("."),
  bytes,
  cells,
  isWhole,
});

describe("sizes of tables", () => {
  it("are added up with their indexes, and by kind, largest first", () => {
    const trees = [tree("messages", 10, 2), tree("messages.a", 5, 2), tree("events", 100, 9)];
    const sizes = sizesOf(trees, new Map(), 115);
    expect(sizes).toContainEqual({ table: "messages", rows: 2, bytes: 15, isEstimate: false });
    expect(byKind(sizes).map(({ kind, bytes }) => [kind, bytes])).toEqual([
      ["transcripts", 100],
      ["messages", 15],
    ]);
    expect(kindOf("something new")).toBe("other");
  });

  it("are reckoned where only a part was looked at, and never more than there is", () => {
    const trees = [
      tree("usage_rows", 100, 1),
      tree("events", 50, 5, false),
      tree("events.a", 25, 5, false),
    ];
    const sizes = sizesOf(trees, new Map([["events", 100]]), 1_000);
    expect(sizes).toContainEqual({ table: "events", rows: 100, bytes: 900, isEstimate: true });
  });
});

function suite(name: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(name, () => {
    let world: World;
    let made: TestDatabase | undefined;
    let audit: Audit;
    beforeAll(async () => {
      made = await database();
      audit = createAudit();
      const features = [audit.feature, usage];
      world = await startWorld([...features, createStorage(features)], made?.url);
    });
    afterAll(async () => {
      await world.stop();
      await made?.drop();
    });

    const set = (kind: string, days: unknown, who: Principal = owner) =>
      world.call<{ items: Retention[] }>(who, "PUT", `/api/retention/${kind}`, { days });
    const execute = (sql: string) =>
      world.kernel.engine.store.transaction((tx) => tx.execute({ sql, parameters: [] }));

    it("says what takes room, what would go, and whose logs are the longest", async () => {
      const id = await world.createSession({ title: "nobody else's business" });
      await execute(`update sessions set last_seq = 900 where id = '${id}'`);
      const old = await world.createSession({ title: "old" });
      await execute(
        `update sessions set lifecycle = 'archived', archived_at = 1000 where id = '${old}'`,
      );
      const storage = await world.as(owner).storage.get();
      expect(storage.database.bytes).toBeGreaterThan(0);
      const kinds = storage.kinds.map(({ kind }) => kind);
      expect(kinds).toEqual(expect.arrayContaining(["transcripts", "sessions", "audit", "usage"]));
      expect(storage.largestSessions[0]).toMatchObject({ sessionId: id, events: 900 });
      expect(storage.retention.map(({ kind }) => kind)).toEqual([
        "sessions",
        "deliveries",
        "idempotency_keys",
        "audit",
        "usage",
      ]);
      expect(storage.retention[0]).toMatchObject({ days: 7, isSet: false, due: 1, dueInWeek: 1 });
      expect(JSON.stringify(storage)).not.toContain("nobody else's business");
    });

    it("applies the retention that an admin sets, and records the change", async () => {
      const old = await world.createSession({ title: "old" });
      await execute(
        `update sessions set lifecycle = 'archived', archived_at = 1000 where id = '${old}'`,
      );
      const { items } = await set("sessions", null);
      expect(items[0]).toMatchObject({ days: null, isSet: true, due: 0, before: null });
      await world.kernel.housekeeping.round();
      expect((await world.kernel.sessions.get(owner, old)).id).toBe(old);
      expect((await set("sessions", "default")).items[0]).toMatchObject({ days: 7, isSet: false });
      expect((await set("audit", 30)).items[3]).toMatchObject({ days: 30, isSet: true });
      const query = { action: "setting_changed" } as const;
      const trail = await world.as(owner).audit.list({ query });
      const told = trail.items.map(({ metadata }) => [metadata.change, metadata.detail]);
      expect(told.toSorted()).toEqual(
        [
          ["forever", "sessions_7_to_forever"],
          ["default", "sessions_forever_to_7"],
          ["days", "audit_400_to_30"],
        ].toSorted(),
      );
    });

    it("counts what would go once for many who ask, and anew when a setting has changed", async () => {
      const { store } = world.kernel.engine;
      const real = store.readAside.bind(store);
      let reads = 0;
      store.readAside = (limitMs, work) => {
        reads += 1;
        return real(limitMs, work);
      };
      await set("usage", 50);
      const asked = Array.from({ length: 10 }, () => world.as(owner).storage.listRetention());
      await Promise.all(asked);
      expect(reads).toBe(1);
      expect((await set("usage", 60)).items[4]).toMatchObject({ kind: "usage", days: 60 });
      expect(reads).toBe(2);
      await set("usage", "default");
      store.readAside = real;
    });

    it("refuses what is no number of days, too few of them, and a kind that is none", async () => {
      await expect(set("audit", 29)).rejects.toMatchObject({ code: "retention_too_short" });
      await expect(set("idempotency_keys", 1)).rejects.toMatchObject({
        code: "retention_too_short",
      });
      await expect(set("nothing", 10)).rejects.toMatchObject({ code: "not_found" });
      for (const days of [0, -1, 1.5, 1e9, "soon"])
        await expect(set("audit", days)).rejects.toThrow();
    });

    it("is set by a person, not with a key that it would outlast", async () => {
      const key = { ...owner, scopes: ["admin"] };
      await expect(set("audit", 40, key)).rejects.toMatchObject({ code: "sign_in_needed" });
      expect((await world.as(key).storage.get()).retention).toHaveLength(5);
    });

    it("is for admins alone", async () => {
      const agent = { kind: "session", orgId: "org_1", sessionId: "s", ownerId: null, name: "a" };
      const narrow = { ...owner, scopes: ["sessions:read", "sessions:write"] };
      for (const who of [member, narrow, agent as Principal]) {
        await expect(world.call(who, "GET", "/api/storage")).rejects.toMatchObject({
          code: "forbidden",
        });
        await expect(world.call(who, "GET", "/api/retention")).rejects.toMatchObject({
          code: "forbidden",
        });
        await expect(set("audit", 40, who)).rejects.toMatchObject({ code: "forbidden" });
      }
    });
  });
}

suite("storage on SQLite", async () => undefined);
if (postgresUrl) suite("storage on PostgreSQL", createTestDatabase);
