/**
 * Purging 10,000 archived sessions while 20 sessions work: the duration of their turns, against the
 * same work on the same database with nothing to purge. Windows of both alternate, so that a
 * disturbance of the machine affects both.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Database from "better-sqlite3";
import type { Contender } from "../contenders.ts";
import { atLeast, atMost, type Figure, median, type Row } from "../figure.ts";
import type { TurnResult } from "../load/jobs.ts";
import { archiveCopies, copySession } from "../seed.ts";
import type { BenchTools } from "../tools.ts";

export const purge: Figure = { name: "purge", quick: false, measure };

const ARCHIVED = 10_000;
const WORKING = 20;
const ENTRIES = 30;
const ROUNDS = 8;
const WINDOW_MS = 8_000;
const PAUSE_MS = 150;
const CONTENT = "a prompt of a usual length for a person, one line";
/** Time to watch the file while the search index removes its words. */
const SHRINK_MS = 3 * 60_000;
const GIVE_UP_MS = 10 * 60_000;

async function measure(tools: BenchTools): Promise<Row[]> {
  const { home, sessions } = await seed(tools);
  const file = join(home, "muster.db");
  const fullBytes = statSync(file).size;
  const windows: { alone: TurnResult; purging: TurnResult; purged: number; ms: number }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    keepArchived(home, true);
    const alone = await window(tools, home, sessions);
    keepArchived(home, false);
    const before = countArchived(home);
    const begunAt = performance.now();
    const purging = await window(tools, home, sessions);
    const purged = before - countArchived(home);
    windows.push({ alone, purging, purged, ms: performance.now() - begunAt });
    const p99 = [purging, alone].map(({ settledMs }) => settledMs.p99.toFixed(1));
    process.stderr.write(`  p99 ${p99.join(" ms, without ")} ms; ${purged} purged\n`);
  }
  const rest = await finish(tools, home, sessions);
  const ratio = (percentile: "p50" | "p99") =>
    median(
      windows.map((one) => one.purging.settledMs[percentile] / one.alone.settledMs[percentile]),
    );
  const ms = (pick: "alone" | "purging") =>
    windows.map((one) => one[pick].settledMs.p99.toFixed(1)).join(", ");
  const perMinute = median(windows.map(({ purged, ms }) => (purged / ms) * 60_000));
  return [
    {
      figure: `p99 of ${WORKING} sessions while ${ARCHIVED.toLocaleString("en-US")} are purged, against without`,
      unit: "×",
      ours: ratio("p99"),
      target: atMost(1.2),
      note: `p99 in ms: ${ms("purging")}; without: ${ms("alone")}; p50 ${ratio("p50").toFixed(2)}×`,
    },
    {
      figure: "sessions purged a minute meanwhile",
      unit: "/min",
      ours: perMinute,
      target: atLeast(100),
      note: `${ENTRIES} entries each`,
    },
    {
      figure: "the file afterwards",
      unit: "MB",
      ours: statSync(file).size / 1e6,
      note: `${Math.round(fullBytes / 1e6)} MB before; ${rest}`,
    },
  ];
}

async function seed(tools: BenchTools): Promise<{ home: string; sessions: string[] }> {
  const ours = await tools.ours({ runtime: "scripted" });
  const target = { port: ours.port, key: ours.key };
  const [template = ""] = await tools.load.run({ kind: "sessions", target, count: 1 });
  const lines = Array.from({ length: ENTRIES }, (_, n) => `say entry ${n} ${"lorem ".repeat(60)}`);
  const turns = { target, sessions: [template], content: lines.join("\n"), turnsEach: 1 };
  await tools.load.run({ kind: "turns", ...turns });
  // The search indexer runs on a timer.
  await sleep(3_000);
  const working = { kind: "sessions", target, count: WORKING, runtime: "echo" } as const;
  const sessions = await tools.load.run(working);
  await ours.stop();
  copySession(ours.home, template, 0, ARCHIVED);
  archiveCopies(ours.home, template, { count: ARCHIVED, archivedAt: 1_000_000_000_000 });
  return { home: ours.home, sessions };
}

/** The same work each time: a freshly started server, a moment to settle, then turns. */
async function window(tools: BenchTools, home: string, sessions: string[]): Promise<TurnResult> {
  const ours = await tools.ours({ home });
  await work(tools, ours, sessions, 3_000);
  const result = await work(tools, ours, sessions, WINDOW_MS);
  await ours.stop();
  return result;
}

function work(
  { load }: BenchTools,
  { port, key }: Contender,
  sessions: string[],
  forMs: number,
): Promise<TurnResult> {
  const target = { port, key };
  return load.run({ kind: "turns", target, sessions, content: CONTENT, forMs, pauseMs: PAUSE_MS });
}

/**
 * Runs until no session is left and the file has shrunk, or a limit on slow machines. Describes the
 * end.
 */
async function finish(tools: BenchTools, home: string, sessions: string[]): Promise<string> {
  const ours = await tools.ours({ home });
  const startedAt = performance.now();
  let left = countArchived(home);
  while (left > 0 && performance.now() - startedAt < GIVE_UP_MS) {
    await work(tools, ours, sessions, 2_000);
    left = countArchived(home);
  }
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  if (left === 0) await untilSteady(join(home, "muster.db"));
  await ours.stop();
  return left === 0 ? `all gone ${seconds} s later` : `${left} left after ${seconds} s`;
}

/** The search index and the file still shrink after the last session is gone. */
async function untilSteady(file: string): Promise<void> {
  let [size, since] = [statSync(file).size, performance.now()];
  const until = since + SHRINK_MS;
  while (performance.now() - since < 75_000 && performance.now() < until) {
    await sleep(1_000);
    const now = statSync(file).size;
    if (now !== size) [size, since] = [now, performance.now()];
  }
}

/** Sets, like an admin, if archived sessions are kept for good or for the default time. */
function keepArchived(home: string, isKept: boolean): void {
  inDatabase(home, false, (db) => {
    db.exec("delete from retention_settings");
    if (isKept) db.exec("insert into retention_settings values ('sessions', null, 'bench', 0)");
  });
}

function countArchived(home: string): number {
  return inDatabase(home, true, (db) => {
    const count = "select (select count(*) from sessions where archived_at is not null) + count(*)";
    return db.prepare(`${count} from session_remains`).pluck().get() as number;
  });
}

function inDatabase<T>(home: string, readonly: boolean, act: (db: Database.Database) => T): T {
  const db = new Database(join(home, "muster.db"), { readonly });
  try {
    return act(db);
  } finally {
    db.close();
  }
}
