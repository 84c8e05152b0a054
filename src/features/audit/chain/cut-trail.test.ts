/**
 * Retention of the trail: old rows are removed, the rest verifies, and nobody else can remove rows unnoticed.
 */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { silentLog } from "#base/log.ts";
import type { Reader } from "#base/store/index.ts";
import { Housekeeping } from "#engine/retention/index.ts";
import { startWorld, type World } from "#features/testing/index.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import { createAudit } from "../index.ts";
import { auditRetention } from "./cut-trail.ts";
import { createHeadKeeper, type HeadKeeper, type KeptHead } from "./kept-head.ts";
import { sealTrail } from "./seal.ts";
import { verifyTrail } from "./verify.ts";

const SECRET_KEY = "the key of these tests, which no database has";
const DAY_MS = 24 * 60 * 60_000;

function suite(name: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(name, () => {
    let world: World;
    let made: TestDatabase | undefined;
    let file: string;
    let keeper: HeadKeeper;
    beforeEach(async () => {
      made = await database();
      file = join(mkdtempSync(join(tmpdir(), "muster-audit-")), "audit.head");
      keeper = createHeadKeeper(SECRET_KEY, file);
      world = await startWorld(
        [createAudit({ secretKey: SECRET_KEY, headFile: file }).feature],
        made?.url,
      );
      await execute("insert into orgs (id, name, slug, created_at) values ('org_1', 'o', 'o', 1)");
    });
    afterEach(async () => {
      await world.stop();
      await made?.drop();
    });

    const store = () => world.kernel.engine.store;
    const verify = (by = keeper) => verifyTrail(world.kernel.engine, by);
    const keepHouse = () => world.kernel.housekeeping.round();
    const execute = (sql: string) =>
      store().transaction((tx) => tx.execute({ sql, parameters: [] }));
    const query = <R>(sql: string) =>
      store().read((reader) => reader.query<R>({ sql, parameters: [] }));
    const countRows = async () =>
      Number((await query<{ n: number }>("select count(*) as n from audit_events"))[0]?.n);
    const sealedAt = async (seq: number) => {
      const [row] = await query<{ hash: string }>(
        `select hash from audit_events where seq = ${seq}`,
      );
      return { seq, hash: row?.hash ?? "" };
    };
    /** Runs `before` ahead of each statement. */
    function interrupted(reader: Reader, before: () => Promise<void>): Reader {
      return new Proxy(reader, {
        get(target, name) {
          const value = Reflect.get(target, name) as unknown;
          if (typeof value !== "function") return value;
          return async (...given: unknown[]) => {
            await before();
            return value.apply(target, given) as unknown;
          };
        },
      });
    }
    /** Seals rows whose events are `daysAgo` days old. */
    async function happen(count: number, daysAgo: number): Promise<void> {
      for (let n = 0; n < count; n++) await world.createSession({});
      await execute(`update audit_events set at = at - ${daysAgo * DAY_MS} where seq is null`);
      await sealTrail(world.kernel.engine, keeper);
    }

    it("removes what is older than 400 days, and the rest verifies and says what is gone", async () => {
      await happen(80, 500);
      await happen(5, 399);
      const before = await verify();
      expect(before).toMatchObject({ ok: true, sealed: 85, cut: null });
      await keepHouse();
      expect(await countRows()).toBe(5);
      const after = await verify();
      expect(after).toMatchObject({ ok: true, sealed: 85, head: before.head, cut: { seq: 80 } });
      expect(Date.parse(after.cut?.through ?? "")).toBeLessThan(Date.now());
      await happen(3, 0);
      expect(await verify()).toMatchObject({ ok: true, sealed: 88, cut: { seq: 80 } });
    });

    it("counts what is due", async () => {
      await happen(7, 500);
      await happen(2, 1);
      const rule = auditRetention(keeper);
      const before = world.kernel.engine.clock.now() - 400 * DAY_MS;
      expect(await store().read((reader) => rule.countDue(reader, before, 100))).toBe(7);
      expect(await store().read((reader) => rule.countDue(reader, before, 3))).toBe(3);
    });

    it("says why rows that are due stay", async () => {
      const rule = auditRetention(keeper);
      const before = world.kernel.engine.clock.now() - 400 * DAY_MS;
      const why = () => store().read(async (reader) => rule.whyKept?.(reader, before));
      await happen(1, -900);
      await happen(3, 500);
      await keepHouse();
      expect(await countRows()).toBe(4);
      expect(await why()).toMatch(/^Row 1 is dated 20.*they stay until it is removed/);
      await execute("update audit_events set at = 1 where seq = 1");
      expect(await why()).toBeNull();
      await execute("insert into audit_cuts values (1, 1, 'x', 1, 1, 'forged')");
      expect(await why()).toContain("muster audit verify");
    });

    it("keeps the last row, however old, and what is not sealed", async () => {
      await happen(3, 500);
      await world.createSession({});
      await execute(`update audit_events set at = at - ${500 * DAY_MS} where seq is null`);
      await keepHouse();
      expect(await countRows()).toBe(2);
      expect(await verify()).toMatchObject({ ok: true, unsealed: 1, cut: { seq: 2 } });
    });

    it("keeps all of it for as long as an admin says, and 30 days whatever the table says", async () => {
      await happen(3, 500);
      await happen(2, 20);
      await execute("insert into retention_settings values ('audit', null, 'usr_1', 1)");
      await keepHouse();
      expect(await countRows()).toBe(5);
      await execute("update retention_settings set days = 0");
      const { engine, retention: rules } = world.kernel;
      const sessionTables = engine.sessionTables;
      await new Housekeeping({ engine, log: silentLog, sessionTables, rules }).round();
      expect(await countRows()).toBe(2);
    });

    it("moves the cut only forward when several servers cut at once", async () => {
      await happen(90, 500);
      await happen(2, 0);
      const rule = auditRetention(keeper);
      const before = world.kernel.engine.clock.now() - 400 * DAY_MS;
      /** Runs steps of one server until it finds nothing to cut several times in a row. */
      async function cutAll(rows: number): Promise<void> {
        for (let idle = 0; idle < 20; ) {
          const cut = await store().transaction(async (tx) => rule.prune?.(tx, before, rows, []));
          idle = cut === 0 ? idle + 1 : 0;
        }
      }
      await Promise.all([cutAll(1), cutAll(3), cutAll(2), cutAll(4)]);
      expect(await countRows()).toBe(2);
      expect(await verify()).toMatchObject({ ok: true, cut: { seq: 90 } });
    });

    it("verifies while rows are being cut off, whichever read comes before the cut", async () => {
      await happen(60, 500);
      await happen(4, 0);
      const other = createHeadKeeper(SECRET_KEY, `${file}.other`);
      await other.save({ ...(keeper.load() as KeptHead), ...(await sealedAt(7)) });
      const { engine } = world.kernel;
      const rule = auditRetention(keeper);
      const before = engine.clock.now() - 400 * DAY_MS;
      let reads = 0;
      const watched = new Proxy(store(), {
        get(target, name) {
          const value = Reflect.get(target, name) as unknown;
          if (name !== "read") return typeof value === "function" ? value.bind(target) : value;
          return async <T>(work: (reader: Reader) => Promise<T>) => {
            const cutBetween = async () => {
              reads += 1;
              await target.transaction(async (tx) => rule.prune?.(tx, before, 2, []));
            };
            // On SQLite in memory a read is a transaction, which another one cannot interrupt.
            if (target.dialect === "sqlite") await cutBetween();
            return target.read((reader) =>
              work(target.dialect === "sqlite" ? reader : interrupted(reader, cutBetween)),
            );
          };
        },
      });
      const seen = await verifyTrail({ ...engine, store: watched }, other, 5);
      expect(seen).toMatchObject({ ok: true, sealed: 64 });
      expect(seen.cut?.seq).toBeGreaterThan(10);
      expect(reads).toBeGreaterThan(5);
      expect(await verify()).toMatchObject({ ok: true });
    });

    it("is accepted by a server that last saw a row which is gone", async () => {
      await happen(4, 500);
      const other = createHeadKeeper(SECRET_KEY, `${file}.other`);
      await sealTrail(world.kernel.engine, other);
      await happen(4, 500);
      await happen(4, 0);
      await sealTrail(world.kernel.engine, keeper);
      await keepHouse();
      expect(await verify(other)).toMatchObject({ ok: true, cut: { seq: 8 } });
      await sealTrail(world.kernel.engine, other);
      expect(await verify(other)).toMatchObject({ ok: true });
    });

    it("notices rows that somebody else removed, with or without a record of it", async () => {
      await happen(6, 100);
      await execute("delete from audit_events where seq <= 3");
      expect(await verify()).toMatchObject({ ok: false, firstBroken: { seq: 1 } });
      const [row] = await query<{ prev_hash: string }>(
        "select prev_hash from audit_events where seq = 4",
      );
      await execute(`insert into audit_cuts values (1, 3, '${row?.prev_hash}', 1, 1, 'forged')`);
      const forged = await verify();
      expect(forged.ok).toBe(false);
      expect(forged.firstBroken?.why).toMatch(/record of removed rows/);
      await execute("delete from audit_cuts");
    });

    it("detects a cut record that was replaced by an earlier one, or removed", async () => {
      await happen(3, 500);
      await happen(1, 0);
      await keepHouse();
      const [early] = await query<Record<string, unknown>>("select * from audit_cuts");
      await execute("delete from audit_cuts");
      expect(await verify()).toMatchObject({ ok: false });
      const values = Object.values(early ?? {}).map((value) => `'${String(value)}'`);
      await execute(`insert into audit_cuts values (${values.join(", ")})`);
      expect(await verify()).toMatchObject({ ok: true });
    });

    it("removes nothing of a trail that was tampered with", async () => {
      await happen(5, 500);
      await happen(1, 0);
      await execute("update audit_events set action = 'x' where seq = 2");
      await keepHouse();
      expect(await countRows()).toBe(6);
      expect(await verify()).toMatchObject({ ok: false, firstBroken: { seq: 2 } });
    });
  });
}

suite("cutting the trail on SQLite", async () => undefined);
if (postgresUrl) suite("cutting the trail on PostgreSQL", createTestDatabase);
