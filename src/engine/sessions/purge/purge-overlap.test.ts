/** A purge beside transactions that need the same rows; only PostgreSQL runs them side by side. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createMemoryBus } from "#base/bus/memory/memory-bus.ts";
import { systemClock } from "#base/clock.ts";
import { createIds } from "#base/ids.ts";
import { silentLog as log } from "#base/log.ts";
import { openStore, type Tx } from "#base/store/index.ts";
import { createKernel, type Kernel } from "#engine/kernel.ts";
import { command } from "#engine/work.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import { keepBlob } from "../log/blob-queries.ts";
import { finishPurge } from "./purge.ts";

describe.skipIf(!postgresUrl)("a purge beside others", () => {
  let database: TestDatabase;
  let kernel: Kernel;
  beforeAll(async () => {
    database = await createTestDatabase();
    const base = { clock: systemClock, log };
    kernel = await createKernel({
      ...base,
      store: await openStore({ ...base, url: database.url, onSyncFailure: () => {} }),
      bus: createMemoryBus(log),
      ids: createIds(),
      features: [],
      defaults: { runtime: "echo", model: null, limits: { activePerUser: 10, activePerOrg: 10 } },
    });
  });
  afterAll(async () => {
    await kernel.engine.store.close();
    await database.drop();
  });

  const execute = (sql: string) =>
    kernel.engine.store.transaction((tx) => tx.execute({ sql, parameters: [] }));
  async function count(sql: string): Promise<number> {
    const [row] = await kernel.engine.store.read((reader) =>
      reader.query<{ n: number }>({ sql: `select count(*) as n ${sql}`, parameters: [] }),
    );
    return Number(row?.n);
  }
  /** Adds the remains of a session whose own row is gone. */
  const leave = (id: string) =>
    execute(`insert into session_remains values ('${id}', 'org_1', null, 1)`);
  /** Begins `second` when `first` has done its work and not committed yet. */
  async function overlap(
    first: (tx: Tx) => Promise<unknown>,
    second: () => Promise<unknown>,
  ): Promise<void> {
    let later: Promise<unknown> | undefined;
    await kernel.engine.store.transaction(async (tx) => {
      await first(tx);
      later = second();
      await Promise.race([later, systemClock.sleep(300)]);
    });
    await later;
  }

  it("keeps a blob that another session begins to need meanwhile", async () => {
    const row = {
      org_id: "org_1",
      sha256: "abc",
      size: 1,
      media_type: "text/plain",
      data: Buffer.from("x"),
      created_at: 1,
    };
    await kernel.engine.store.transaction((tx) => keepBlob(tx, row, "ses_gone"));
    await leave("ses_gone");
    await overlap(
      (tx) => keepBlob(tx, row, "ses_new"),
      () => kernel.housekeeping.round(),
    );
    expect(await count("from session_remains")).toBe(0);
    expect(await count("from blob_refs where session_id = 'ses_new'")).toBe(1);
    expect(await count("from blobs where sha256 = 'abc'")).toBe(1);
  });

  it("is over before its session's id is used again", async () => {
    const id = "ses_again";
    await execute(`insert into events (session_id, seq, org_id, type, v, at, content)
      select '${id}', n, 'org_1', 'message', 1, 1, 'x' from generate_series(1, 30) as n`);
    await leave(id);
    let left = -1;
    await overlap(
      (tx) => tx.execute({ sql: "select 1 from session_remains for update", parameters: [] }),
      () =>
        command(kernel.engine, async (work) => {
          await finishPurge(work, id);
          const sql = `select 1 from events where session_id = '${id}'`;
          left = (await work.tx.query({ sql, parameters: [] })).length;
        }),
    );
    expect(left).toBe(0);
    expect(await count("from session_remains")).toBe(0);
  });
});
