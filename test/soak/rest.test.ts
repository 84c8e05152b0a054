import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Database } from "./database.ts";
import type { GaugeName, Reading } from "./measure.ts";
import { aboveBaseline, checkFailures } from "./rest.ts";

function reading(gauges: Partial<Record<GaugeName, number>>, parts: Partial<Reading> = {}) {
  const none = { turns: 0, failedTurns: new Map(), streams: new Map(), ...parts };
  return { gauges, totals: { database: 0, logs: 0 }, ...none } as Reading;
}

describe("at rest", () => {
  it("reports more processes, descriptors or streams than before the load", () => {
    const before = reading(
      { processes: 4, "server descriptors": 40 },
      { streams: new Map([["live", 1]]) },
    );
    const after = reading(
      { processes: 5, "server descriptors": 60 },
      { streams: new Map([["live", 2]]) },
    );
    expect(aboveBaseline(after, before)).toEqual([
      "server descriptors: 40 before the load, 60 after it",
      "processes: 4 before the load, 5 after it",
      "streams of kind live: 1 before the load, 2 after it",
    ]);
  });

  it("accepts fewer, and a few descriptors more", () => {
    const before = reading({ processes: 4, "server descriptors": 40 });
    expect(aboveBaseline(reading({ processes: 3, "server descriptors": 42 }), before)).toEqual([]);
  });

  it("reports turns that failed during the load by their code", () => {
    const before = reading({}, { failedTurns: new Map([["model_error", 1]]) });
    const failed = new Map([
      ["model_error", 1],
      ["runner_lost", 2],
    ]);
    expect(checkFailures(before, reading({}, { failedTurns: failed }))).toEqual([
      "2 turns failed with runner_lost",
    ]);
  });
});

describe("the database", () => {
  const DAY_MS = 24 * 60 * 60_000;
  let home: string;
  let product: Sqlite.Database;
  let database: Database;

  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), "muster-soak-"));
    product = new Sqlite(join(home, "muster.db"));
    product.exec(`
      create table sessions (id text, kind text, run_state text, archived_at integer);
      create table prompts (session_id text, state text);
      create table runs (session_id text, outcome text);
      create table gates (session_id text, state text);
      create table outbox (state text);
      create table audit_log (session_id text);
    `);
    database = new Database(home);
  });

  afterEach(() => {
    database.close();
    product.close();
    rmSync(home, { recursive: true });
  });

  it("ages ended sessions, each once", () => {
    const insert = product.prepare("insert into sessions values (?, 'task', ?, ?)");
    insert.run("ended", null, Date.now() - 1_000);
    insert.run("winding down", "running", Date.now() - 1_000);
    insert.run("active", null, null);
    expect(database.ageEnded(0, 10)).toEqual(["ended"]);
    expect(database.ageEnded(0, 10)).toEqual([]);
    const { at } = product
      .prepare("select archived_at as at from sessions where id = 'ended'")
      .get() as { at: number };
    expect(at).toBeLessThan(Date.now() - 30 * DAY_MS);
  });

  it("names the tables that still refer to a purged session, but not the audit trail", () => {
    product.exec(`
      insert into runs values ('gone', 'completed'), ('gone', 'completed'), ('here', null);
      insert into audit_log values ('gone');
    `);
    expect(database.existing(["gone"])).toEqual([]);
    expect(database.leftovers(["gone"])).toEqual(new Map([["runs", 2]]));
  });

  it("reports unfinished work", () => {
    product.exec(`
      insert into prompts values ('a', 'settled'), ('a', 'queued');
      insert into outbox values ('delivered'), ('pending');
    `);
    expect(database.unsettled()).toEqual(
      new Map([
        ["prompts", 1],
        ["outbox", 1],
      ]),
    );
  });
});
