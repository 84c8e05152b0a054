import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "#base/clock.ts";
import { silentLog } from "#base/log.ts";
import { openStore, type Store } from "#base/store/index.ts";
import { kernelMigrations } from "#engine/migrations.ts";
import type { RunRow } from "#engine/schema.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import { findRun, insertRun, renewLease, saveRun } from "../queries.ts";

/** Two concurrent commands need two connections, so this is tested on PostgreSQL. */
describe.skipIf(!postgresUrl)("a lease", () => {
  let database: TestDatabase;
  let store: Store;
  beforeAll(async () => {
    database = await createTestDatabase();
    store = await openStore({
      url: database.url,
      clock: systemClock,
      log: silentLog,
      onSyncFailure: () => {},
    });
    await store.migrate(kernelMigrations);
  });
  afterAll(async () => {
    await store.close();
    await database.drop();
  });

  it("is not undone by a command that read the run before it was renewed", async () => {
    await store.transaction((tx) => insertRun(tx, heldRun));
    await store.transaction(async (tx) => {
      const stale = await findRun(tx, heldRun.id);
      await store.transaction((other) =>
        renewLease(other, { id: heldRun.id, fence: 1, runnerId: "rnr_1", leaseUntil: 2_000 }),
      );
      await saveRun(tx, { ...(stale as RunRow), journaled: 7 });
    });
    const run = await store.read((reader) => findRun(reader, heldRun.id));
    expect(run).toMatchObject({ journaled: 7, lease_until: 2_000 });
  });
});

const heldRun: RunRow = {
  id: "run_1",
  org_id: "org_1",
  owner_id: "usr_1",
  created_by: "user:usr_1",
  session_id: "ses_1",
  thread: "main",
  prompt_id: "pmt_1",
  type: "resume_session",
  state: "running",
  outcome: null,
  execution_mode: "async_poll",
  runtime: "echo",
  agent_name: null,
  demands: "{}",
  demand_key: "k",
  exclusive: 1,
  pinned_runner_id: null,
  runner_id: "rnr_1",
  runner_boot: "b",
  server_boot: "s",
  fence: 1,
  attempts: 1,
  strikes: 0,
  blameless: 0,
  lost_runner_id: null,
  progressed: 0,
  journaled: 0,
  turn_items: 0,
  turn_chars: 0,
  first_seq: 0,
  lease_until: 1_000,
  stop_reason: null,
  stop_by: null,
  stop_by_prompt: null,
  pause: null,
  worked_ms: 0,
  unpriced: 0,
  model: null,
  metered_fence: 0,
  model_stop: null,
  error_code: null,
  error_message: null,
  result: null,
  input_tokens: 0,
  output_tokens: 0,
  cost_micros: null,
  ready_at: 1,
  available_at: 1,
  created_at: 1,
  claimed_at: 1,
  started_at: 1,
  settled_at: null,
};
