/**
 * The answer to a COMMIT is lost, in every possible way, with and without a crash of PostgreSQL.
 * The store must find out the outcome of the transaction: it takes effect exactly once, and is
 * reported as done only when it did.
 */
import { Client } from "pg";
import { systemClock } from "#base/clock.ts";
import { createLog } from "#base/log.ts";
import { openStore, type Store } from "#base/store/index.ts";
import type { PostgresServer } from "#test/services/servers/postgres-server.ts";
import { type BreakAt, CommitProxy } from "../postgres/commit-proxy.ts";
import { createDatabase } from "../postgres/postgres-cluster.ts";
import type { FaultRound } from "../round.ts";

const LATE_MS = 300;
/** More than the store has connections. */
const AT_ONCE = 30;
const WAYS: readonly [BreakAt, crash: boolean][] = [
  ["before", false],
  ["before", true],
  ["after", false],
  ["after", true],
  ["late", false],
];

export const lostCommit: FaultRound = {
  name: "postgres-lost-commit",
  async play({ cleanup, cycles }) {
    const { server, url } = await createDatabase(cleanup);
    const { store, proxy } = await openThrough(url);
    const violations: string[] = [];
    const times = Math.ceil(cycles / 2);
    for (let n = 0; n < times; n++) {
      const [at, crash] = WAYS[n % WAYS.length] as (typeof WAYS)[number];
      const broken = proxy.breakNext(at);
      const keys = Array.from({ length: AT_ONCE }, (_, i) => n * AT_ONCE + i);
      const done = keys.map((key) =>
        add(store, key).then(
          () => "done",
          (error: unknown) => `refused: ${String(error)}`,
        ),
      );
      await broken;
      if (crash) await crashAndGoOn(server, url);
      for (const [i, answer] of (await Promise.all(done)).entries()) {
        const rows = await count(url, keys[i] as number);
        if (answer === "done" && rows === 1) continue;
        violations.push(`lost ${at}${crash ? ", crashed" : ""}: ${answer}, ${rows} rows`);
      }
    }
    await store.close();
    proxy.close();
    return { violations, summary: `${times} answers to COMMIT lost, each done once` };
  },
};

async function openThrough(url: string): Promise<{ store: Store; proxy: CommitProxy }> {
  const proxy = await CommitProxy.listen(url, LATE_MS);
  const log = createLog({ level: "silent" });
  const store = await openStore({
    url: proxy.url,
    clock: systemClock,
    log,
    onSyncFailure: () => {},
  });
  await store.migrate([
    { id: "0001", statements: () => ["create table additions (n integer not null)"] },
  ]);
  return { store, proxy };
}

function add(store: Store, n: number): Promise<number> {
  return store.transaction((tx) =>
    tx.execute({ sql: "insert into additions (n) values ($1)", parameters: [n] }),
  );
}

async function crashAndGoOn(server: PostgresServer, url: string): Promise<void> {
  await server.kill();
  await server.start();
  // Others continue, and use up any ids that the lost transactions may have had.
  for (let other = 0; other < 5; other++) await addForeign(url);
}

const addForeign = (url: string) => ask(url, "insert into additions (n) values (-1)", []);

async function count(url: string, n: number): Promise<number> {
  const rows = await ask(url, "select count(*)::int as rows from additions where n = $1", [n]);
  return (rows[0] as { rows: number }).rows;
}

async function ask(url: string, sql: string, values: unknown[]): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql, values)).rows;
  } finally {
    await client.end();
  }
}
