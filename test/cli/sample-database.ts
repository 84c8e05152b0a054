/** A real data folder with a real database in use: one run in every state. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { systemClock } from "#base/clock.ts";
import { silentLog } from "#base/log.ts";
import { openStore, type Store } from "#base/store/index.ts";
import { kernelMigrations } from "#engine/migrations.ts";

export interface SampleFolder {
  home: string;
  path: string;
  env: Record<string, string>;
  /** Opens the database as a server does: with its lock. */
  open(): Promise<Store>;
  sql(statement: string): unknown[];
}

export async function createSampleFolder(): Promise<SampleFolder> {
  const home = mkdtempSync(join(tmpdir(), "muster-cli-"));
  const path = join(home, "muster.db");
  writeFileSync(join(home, "owner.key"), "mst_owner\n", { mode: 0o600 });
  const folder: SampleFolder = {
    home,
    path,
    env: { MUSTER_HOME: home, MUSTER_PORT: "0", PATH: process.env.PATH ?? "" },
    open: () =>
      openStore({
        url: `sqlite:${path}`,
        clock: systemClock,
        log: silentLog,
        onSyncFailure: () => {},
      }),
    sql: (statement) => sql(path, statement),
  };
  const store = await folder.open();
  await store.migrate(kernelMigrations);
  await store.close();
  fill(path);
  return folder;
}

export function sql(path: string, statement: string): unknown[] {
  const db = new Database(path);
  try {
    const prepared = db.prepare(statement);
    return prepared.reader ? prepared.all() : [prepared.run()];
  } finally {
    db.close();
  }
}

const RUN_STATES = ["pending", "claimed", "running", "gated", "stopping", "completed"];
const CREDENTIAL_KINDS = ["owner_key", "api_key", "sign_in_link", "cookie", "runner", "run"];

function fill(path: string): void {
  const db = new Database(path);
  for (const state of RUN_STATES) {
    const id = state;
    insert(db, "sessions", { id: `ses_${id}`, run_state: state === "completed" ? null : state });
    const isHeld = !["pending", "completed"].includes(state);
    insert(db, "runs", {
      id: `run_${id}`,
      prompt_id: `pmt_${id}`,
      session_id: `ses_${id}`,
      state,
      exclusive: 1,
      fence: 3,
      runner_id: isHeld ? "rnr_1" : null,
      lease_until: isHeld ? 99_999_999_999_999 : null,
      stop_reason: state === "stopping" ? "stop" : null,
    });
  }
  for (const kind of CREDENTIAL_KINDS)
    insert(db, "credentials", { id: `crd_${kind}`, kind, hash: kind, revoked_at: null });
  for (const state of ["pending", "delivered"])
    insert(db, "outbox", { id: `out_${state}`, cause_key: state, state });
  insert(db, "runners", { id: "rnr_1", state: "online" });
  db.close();
}

/** Fills every required column. */
function insert(db: Database.Database, table: string, given: Record<string, unknown>): void {
  const columns = db.pragma(`table_info(${table})`) as {
    name: string;
    type: string;
    notnull: number;
  }[];
  const row = Object.fromEntries(
    columns.map(({ name, type, notnull }) => [
      name,
      given[name] ?? (notnull ? (type.toLowerCase() === "text" ? `${name}` : 0) : null),
    ]),
  );
  const names = Object.keys(row);
  db.prepare(
    `insert into ${table} (${names.join(", ")}) values (${names.map((name) => `@${name}`).join(", ")})`,
  ).run(row);
}
