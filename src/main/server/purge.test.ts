import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { silentLog } from "#base/log.ts";
import type { Store, Tx } from "#base/store/index.ts";
import type { Feature } from "#engine/index.ts";
import { Housekeeping } from "#engine/retention/index.ts";
import { startWorld, type World } from "#features/testing/index.ts";
import { DEFAULT_TURN_LIMITS } from "#protocol/frames.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import { createFeatures } from "../features.ts";

/** All features but sign-in, which stores nothing about sessions. */
const features: readonly Feature[] = createFeatures({
  secretKey: "k".repeat(43),
  searchPath: "",
  log: silentLog,
  providers: {},
  turnLimits: DEFAULT_TURN_LIMITS,
  orchestration: { disabled: false, minimalUi: false, maxWorkers: 3, allowDelete: true },
}).list;

/** Columns that may name a removed session, with reasons. */
const OUTLIVES: Readonly<Record<string, string>> = {
  "audit_events.session_id": "the trail is kept for as long as its own rule says",
  "usage_rows.session_id": "what was spent stays known",
  "usage_rows.root_session_id": "what was spent stays known",
  "usage_days.root_session_id": "what was spent stays known",
  "session_remains.session_id": "the work list of the purge itself",
  "memories.source_session_id": "what an agent learned outlives the session it learned it in",
  "messages.from_session_id": "a message stays with who got it",
  "messages.context_session_id": "a message stays with who got it",
  "task_checks.checked_session_id": "a check belongs to the board of the session that checked",
  "sessions.parent_session_id": "children stay; the purge takes their parent away",
  "sessions.root_session_id": "children stay; the purge makes them their own root",
  "sessions.executor_session_id": "an id of the outside, not one of ours",
};
/** Tables that the search clears itself, soon after the session is removed. */
const CLEARED_LATER = new Set(["search_cursors.session_id"]);

interface Column {
  table: string;
  name: string;
  type: string;
  isRequired: boolean;
}

async function listColumns(store: Store): Promise<Column[]> {
  const sql =
    store.dialect === "sqlite"
      ? `select m.name as "table", c.name, c.type, (c."notnull" = 1 or c.pk > 0) as required
         from sqlite_master m join pragma_table_info(m.name) c
         where m.type = 'table' and m.name not like 'sqlite_%' and m.name not like 'search_index%'`
      : `select table_name as "table", column_name as name, data_type as type,
         (is_nullable = 'NO' and is_identity = 'NO' and is_generated = 'NEVER') as required
         from information_schema.columns where table_schema = current_schema()`;
  const rows = await store.read((reader) =>
    reader.query<{ table: string; name: string; type: string; required: unknown }>({
      sql,
      parameters: [],
    }),
  );
  return rows.map(({ table, name, type, required }) => ({
    table,
    name,
    type: type.toLowerCase(),
    isRequired: required === true || required === 1,
  }));
}

const placeOf = ({ table, name }: Column) => `${table}.${name}`;
const outlives = (column: Column) =>
  placeOf(column) in OUTLIVES || CLEARED_LATER.has(placeOf(column));

/** Inserts a row that names the session, with a value in every required column. */
function insertText(
  dialect: Store["dialect"],
  column: Column,
  all: readonly Column[],
  sessionId: string,
): string {
  if (column.table === "messages") return messageText(sessionId);
  const columns = all.filter(
    ({ table, name, isRequired }) => table === column.table && (isRequired || name === column.name),
  );
  const values = columns.map(({ name, type }) => {
    if (name === column.name) return `'${sessionId}'`;
    if (/int|numeric|double|real/.test(type)) return "1";
    if (/bytea|blob/.test(type)) return dialect === "sqlite" ? "x'00'" : "'\\x00'";
    return `'${placeOf(column)}'`;
  });
  const names = columns.map(({ name }) => `"${name}"`);
  return `insert into "${column.table}" (${names.join(", ")}) values (${values.join(", ")})`;
}

const messageText = (
  to: string,
) => `insert into messages (id, org_id, thread_id, from_user_id, from_name,
  to_session_id, to_name, message_type, content, hops, fate, surfaced_at, created_at)
  values ('let_1', 'org_1', 't', 'usr_1', 'n', '${to}', 'n', 'message', 'c', 0, 'delivered', 1, 1)`;

const namesSession = ({ name }: Column) => name === "session_id" || name.endsWith("_session_id");

function suite(title: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(title, () => {
    let world: World;
    let made: TestDatabase | undefined;
    beforeAll(async () => {
      made = await database();
      world = await startWorld(features, made?.url);
    });
    afterAll(async () => {
      await world.stop();
      await made?.drop();
    });

    const store = () => world.kernel.engine.store;
    const execute = (sql: string) =>
      store().transaction((tx) => tx.execute({ sql, parameters: [] }));
    async function count(sql: string): Promise<number> {
      const [row] = await store().read((reader) =>
        reader.query<{ n: number }>({ sql: `select count(*) as n ${sql}`, parameters: [] }),
      );
      return Number(row?.n);
    }
    const archive = (id: string, at = 1_000) =>
      execute(`update sessions set lifecycle = 'archived', archived_at = ${at} where id = '${id}'`);
    async function archived(): Promise<string> {
      const id = await world.createSession({ title: "old" });
      await archive(id);
      return id;
    }
    /** Runs everything that is due a minute later, in steps. */
    const keepHouse = () => world.kernel.housekeeping.round();
    async function tick(): Promise<void> {
      world.clock.advance(60_000);
      await world.kernel.sweeps.tick();
    }

    const has = ({ table, name }: Column, id: string) =>
      count(`from "${table}" where "${name}" = '${id}'`);

    it("leaves no row of a purged session in any table that names sessions", async () => {
      const id = await archived();
      const columns = await listColumns(store());
      const naming = columns.filter(namesSession);
      const going = naming.filter((column) => !outlives(column));
      expect(going.length).toBeGreaterThan(20);
      for (const column of going)
        if ((await has(column, id)) === 0)
          await execute(insertText(store().dialect, column, columns, id));
      await keepHouse();
      const left: string[] = [];
      for (const column of going) if ((await has(column, id)) > 0) left.push(placeOf(column));
      expect(left).toEqual([]);
      expect(await count(`from sessions where id = '${id}'`)).toBe(0);
      // An entry in the list above for a missing column would be meaningless.
      const places = new Set(columns.map(placeOf));
      expect(Object.keys(OUTLIVES).filter((place) => !places.has(place))).toEqual([]);
    });

    it("takes what search found of it out of the index", async () => {
      const id = await world.createSession({ title: "xylophone rehearsal" });
      const documents = `from search_documents where ref = '${id}' or ref like '${id}:%'`;
      const found = async () => {
        await tick();
        return count(documents);
      };
      await expect.poll(found).toBeGreaterThan(0);
      await archive(id);
      await keepHouse();
      await expect.poll(found).toBe(0);
      expect(await count(`from search_cursors where session_id = '${id}'`)).toBe(0);
    });

    const fillLog = (id: string, rows: number) =>
      execute(
        `insert into events (session_id, seq, org_id, type, v, at, content)
          with recursive c(n) as (select 2 union all select n + 1 from c where n <= ${rows})
          select '${id}', n, 'org_1', 'message', 1, 1, 'x' from c`,
      );

    it("never touches more than some hundred rows in one transaction, and goes on after a kill", async () => {
      const id = await archived();
      await fillLog(id, 4_000);
      let largest = 0;
      const real = store().transaction.bind(store());
      const counted = (tx: Tx, add: (rows: number) => void): Tx =>
        new Proxy(tx, {
          get(target, name) {
            const value = Reflect.get(target, name) as unknown;
            if (typeof value !== "function") return value;
            if (name !== "run" && name !== "execute") return value.bind(target);
            return async (...given: unknown[]) => {
              const rows = (await value.apply(target, given)) as number;
              add(rows);
              return rows;
            };
          },
        });
      let writes = 0;
      store().transaction = async (work) => {
        // Simulates a killed server: the rest of this round is never done.
        if (writes >= 4) throw new Error("killed");
        return real(async (tx) => {
          let rows = 0;
          const result = await work(
            counted(tx, (some) => {
              rows += some;
            }),
          );
          if (rows > 0) writes += 1;
          largest = Math.max(largest, rows);
          return result;
        });
      };
      await expect(keepHouse()).rejects.toThrow("killed");
      store().transaction = real;
      expect(largest).toBeGreaterThan(0);
      expect(largest).toBeLessThanOrEqual(600);
      // Nobody sees a half-removed session: the session itself went first.
      expect(await count(`from sessions where id = '${id}'`)).toBe(0);
      const half = await count(`from events where session_id = '${id}'`);
      expect(half).toBeGreaterThan(0);
      expect(half).toBeLessThan(4_000);
      // A restarted server knows nothing of what the first has done.
      const again = new Housekeeping({
        engine: world.kernel.engine,
        log: silentLog,
        sessionTables: world.kernel.engine.sessionTables,
        rules: [],
      });
      // The amount of work per round depends on the speed of the machine.
      const events = () => count(`from events where session_id = '${id}'`);
      for (let round = 0; round < 20 && (await events()) > 0; round++) await again.round();
      expect(await events()).toBe(0);
      expect(await count("from session_remains")).toBe(0);
    });

    it("goes on with all others when some cannot be removed", async () => {
      const bad = Array.from({ length: 25 }, (_, n) => `bad_${n}`);
      for (const id of bad) {
        await fillLog(id, 1);
        await execute(`insert into session_remains values ('${id}', 'org_1', null, 1)`);
      }
      const stuck = await archived();
      await fillLog(stuck, 1);
      const guard = `old.session_id like 'bad%' or old.session_id = '${stuck}'`;
      if (store().dialect === "sqlite")
        await execute(`create trigger keeps before delete on events when ${guard}
          begin select raise(abort, 'kept'); end`);
      else {
        await execute(`create function keep() returns trigger language plpgsql as
          $$ begin if ${guard} then raise 'kept'; end if; return old; end $$`);
        await execute(
          "create trigger keeps before delete on events for each row execute function keep()",
        );
      }
      const good = await archived();
      await archive(good, 2_000);
      await execute("insert into idempotency_keys values ('usr_1', 'k', 'f', 'r', 1)");
      const { engine, retention: rules } = world.kernel;
      const { sessionTables } = engine;
      const housekeeping = new Housekeeping({ engine, log: silentLog, sessionTables, rules });
      // Each failing one ends a round.
      for (let round = 0; round < bad.length + 5; round++)
        await housekeeping.round().catch(() => {});
      expect(await count(`from sessions where id = '${good}'`)).toBe(0);
      expect(await count("from idempotency_keys where key = 'k'")).toBe(0);
      expect(await count(`from sessions where id = '${stuck}'`)).toBe(1);
      await execute(`drop trigger keeps${store().dialect === "sqlite" ? "" : " on events"}`);
      await execute("delete from session_remains");
      await execute("delete from events where session_id like 'bad%'");
      await execute(`update sessions set archived_at = null where id = '${stuck}'`);
    });

    it("removes 100 sessions, some with long logs, and keeps what is not due", async () => {
      const ids: string[] = [];
      for (let n = 0; n < 100; n++) ids.push(await archived());
      for (const id of ids.slice(0, 10)) await fillLog(id, 300);
      const young = await world.createSession({ title: "young" });
      await archive(young, world.kernel.engine.clock.now());
      const list = ids.map((id) => `'${id}'`).join(", ");
      const left = () => count(`from events where session_id in (${list})`);
      for (let round = 0; round < 20 && (await left()) > 0; round++) await keepHouse();
      expect(await left()).toBe(0);
      expect(await count(`from sessions where id in (${list})`)).toBe(0);
      expect(await count(`from sessions where id = '${young}'`)).toBe(1);
    });
  });
}

suite("purging sessions on SQLite", async () => undefined);
if (postgresUrl) suite("purging sessions on PostgreSQL", createTestDatabase);
