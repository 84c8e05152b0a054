/** Housekeeping removes rows for good: clocks and faults must not mislead it. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Clock } from "#base/clock.ts";
import { silentLog } from "#base/log.ts";
import { Housekeeping } from "#engine/retention/index.ts";
import { startWorld, type World } from "#features/testing/index.ts";
import { usage } from "#features/usage/index.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";

const DAY_MS = 24 * 60 * 60_000;
/** Columns of usage that hold amounts. */
const AMOUNTS = `requests, input_tokens, cached_input_tokens, output_tokens, reasoning_tokens,
  cost_micros, unpriced_requests, tool_calls, turns, model_ms, tool_ms`;

function suite(name: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(name, () => {
    let world: World;
    let made: TestDatabase | undefined;
    beforeEach(async () => {
      made = await database();
      world = await startWorld([usage], made?.url);
    });
    afterEach(async () => {
      await world.stop();
      await made?.drop();
    });

    const execute = (sql: string) =>
      world.kernel.engine.store.transaction((tx) => tx.execute({ sql, parameters: [] }));
    const now = () => world.kernel.engine.clock.now();
    async function count(sql: string): Promise<number> {
      const [row] = await world.kernel.engine.store.read((reader) =>
        reader.query<{ n: number }>({ sql: `select count(*) as n ${sql}`, parameters: [] }),
      );
      return Number(row?.n);
    }
    async function archived(at = now()): Promise<string> {
      const id = await world.createSession({});
      await execute(
        `update sessions set lifecycle = 'archived', archived_at = ${at} where id = '${id}'`,
      );
      return id;
    }
    const addKey = (at = now()) =>
      execute(`insert into idempotency_keys values ('usr_1', 'k', 'f', 'r', ${at})`);
    function housekeeping(clock: Clock): Housekeeping {
      const { engine, retention: rules } = world.kernel;
      const { sessionTables } = engine;
      return new Housekeeping({
        engine: { ...engine, clock },
        log: silentLog,
        sessionTables,
        rules,
      });
    }
    /** A clock that the test can move. `ahead`: difference to the time that passes. */
    function movableClock(): Clock & { ahead: number; passed: number } {
      const clock = {
        ahead: 0,
        passed: 0,
        now: () => now() + clock.ahead + clock.passed,
        steady: () => clock.passed,
        sleep: async () => {},
      };
      return clock;
    }

    it("removes nothing that is old only by a clock that jumped ahead", async () => {
      const id = await archived();
      await addKey();
      const clock = movableClock();
      const keeper = housekeeping(clock);
      clock.ahead = 400 * DAY_MS;
      // With SQLite the database's clock is the same one.
      if (!made) world.clock.advance(400 * DAY_MS);
      await keeper.round();
      expect(await count(`from sessions where id = '${id}'`)).toBe(1);
      expect(await count("from idempotency_keys")).toBe(1);
    });

    it("reads settings again, and looks again, after a clock that was ahead was set back", async () => {
      const clock = movableClock();
      clock.ahead = 400 * DAY_MS;
      const keeper = housekeeping(clock);
      await keeper.round();
      clock.ahead = 0;
      clock.passed = 120_000;
      const id = await archived(now() - 30 * DAY_MS);
      await addKey(now() - 30 * DAY_MS);
      await execute("insert into retention_settings values ('sessions', null, 'usr_1', 1)");
      await keeper.round();
      expect(await count(`from sessions where id = '${id}'`)).toBe(1);
      expect(await count("from idempotency_keys")).toBe(0);
    });

    it("removes nothing for its age while a restore holds it, and only finishes what is half gone", async () => {
      const id = await archived(now() - 30 * DAY_MS);
      await addKey(now() - 30 * DAY_MS);
      await execute("insert into session_remains values ('ses_gone', 'org_1', null, 1)");
      await execute(`insert into retention_hold values (1, ${now() + DAY_MS})`);
      await housekeeping(movableClock()).round();
      expect(await count(`from sessions where id = '${id}'`)).toBe(1);
      expect(await count("from idempotency_keys")).toBe(1);
      expect(await count("from session_remains")).toBe(0);
      await execute(`update retention_hold set until = ${now() - 1}`);
      await housekeeping(movableClock()).round();
      expect(await count(`from sessions where id = '${id}'`)).toBe(0);
      expect(await count("from idempotency_keys")).toBe(0);
    });

    it("looks aside for what is due, and writes only where something is", async () => {
      await execute("insert into orgs (id, name, slug, created_at) values ('org_1', 'o', 'o', 1)");
      const live = await world.createSession({});
      const addUsage = (id: string, day: string) =>
        execute(`insert into usage_rows (session_id, model, day, org_id, user_id, root_session_id,
          persona, ${AMOUNTS}) values ('${id}', 'm', '${day}', 'org_1', 'usr_1', '${id}', '',
          1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)`);
      for (let n = 10; n < 28; n++) await addUsage(live, `2020-01-${n}`);
      const real = world.kernel.engine.store;
      let writes = 0;
      const store = new Proxy(real, {
        get(target, key) {
          const value = Reflect.get(target, key) as unknown;
          if (key === "transaction") writes += 1;
          return typeof value === "function" ? value.bind(target) : value;
        },
      });
      const engine = { ...world.kernel.engine, store };
      const { sessionTables } = engine;
      const options = { engine, log: silentLog, sessionTables, rules: world.kernel.retention };
      await new Housekeeping(options).round();
      // Releasing pages is a step of its own, which SQLite takes once.
      expect(writes).toBe(made ? 0 : 1);
      for (let n = 0; n < 130; n++) await addUsage(`ses_gone_${n}`, "2020-01-01");
      await new Housekeeping(options).round();
      expect(await count("from usage_rows")).toBe(18);
      expect(await count("from usage_days")).toBeGreaterThan(0);
    });

    it.runIf(name.includes("PostgreSQL"))(
      "goes by PostgreSQL's clock when the one of this server is ahead from the start",
      async () => {
        const id = await archived();
        await addKey();
        const old = await archived(now() - 30 * DAY_MS);
        const clock = movableClock();
        clock.ahead = 400 * DAY_MS;
        await housekeeping(clock).round();
        expect(await count(`from sessions where id = '${id}'`)).toBe(1);
        expect(await count("from idempotency_keys")).toBe(1);
        expect(await count(`from sessions where id = '${old}'`)).toBe(0);
      },
    );
  });
}

suite("housekeeping on SQLite", async () => undefined);
if (postgresUrl) suite("housekeeping on PostgreSQL", createTestDatabase);
