/**
 * Checks after the load has ended: everything settles, descriptors, processes and sockets return to
 * their baseline, and purged sessions are gone.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Ledger } from "./load/ledger.ts";
import type { SessionAger } from "./load/session-ager.ts";
import { pause } from "./load/worker.ts";
import {
  describeDescriptors,
  type GaugeName,
  type Product,
  type Reading,
  readProduct,
  removedWorkspaces,
} from "./measure.ts";

/** Limits for hangs, not for slowness. */
const REST_WITHIN_MS = 90_000;
const PURGE_WITHIN_MS = 240_000;
const LOOK_EVERY_MS = 500;

/** Figures that return to their baseline, and the slack above it. */
const RESTING: Partial<Record<GaugeName, number>> = {
  "server descriptors": 4,
  "runner descriptors": 4,
  "second runner descriptors": 4,
  "server threads": 3,
  "runner threads": 3,
  processes: 0,
  "temporary files": 2,
};

/** Waits for rest, and returns what is still in progress. */
export async function waitForRest(product: Product, baseline?: Reading): Promise<string[]> {
  const deadline = AbortSignal.timeout(REST_WITHIN_MS);
  for (;;) {
    const open = [...product.database.unsettled()].map(
      ([table, count]) => `${count} ${table} have not come to their end`,
    );
    const above = baseline ? aboveBaseline(await readProduct(product), baseline) : [];
    const found = [...open, ...above];
    if (found.length === 0 || deadline.aborted) return found.concat(detailsOf(above, product));
    await pause(LOOK_EVERY_MS, deadline);
  }
}

/** Figures that are higher than before the load by more than their slack. */
export function aboveBaseline(now: Reading, baseline: Reading): string[] {
  const gauges = Object.entries(RESTING).map(([name, slack]) => ({
    name,
    slack,
    before: baseline.gauges[name as GaugeName],
    after: now.gauges[name as GaugeName],
  }));
  const streams = [...now.streams].map(([kind, after]) => ({
    name: `streams of kind ${kind}`,
    slack: 0,
    before: baseline.streams.get(kind) ?? 0,
    after,
  }));
  return [...gauges, ...streams]
    .filter(({ before, after, slack }) => after > before + slack)
    .map(({ name, before, after }) => `${name}: ${before} before the load, ${after} after it`);
}

function detailsOf(above: readonly string[], { serverPid }: Product): string[] {
  return above.some((text) => text.startsWith("server descriptors"))
    ? [`the server holds ${describeDescriptors(serverPid)}`]
    : [];
}

/** Every accepted prompt was seen to settle. */
export function checkPrompts({ open }: Ledger): string[] {
  return open.size === 0 ? [] : [`${open.size} accepted prompts were not seen to settle`];
}

export function checkFailures(baseline: Reading, { failedTurns }: Reading): string[] {
  return [...failedTurns].flatMap(([code, count]) => {
    const more = count - (baseline.failedTurns.get(code) ?? 0);
    return more > 0 ? [`${more} turns failed with ${code}`] : [];
  });
}

/** Ages ended sessions, and waits until their rows and the files of their workspaces are gone. */
export async function checkPurge(product: Product, ager: SessionAger): Promise<string[]> {
  const { database, home } = product;
  const before = database.usedBytes();
  const removed = removedWorkspaces(home);
  for (const folder of removed) ageRemoved(folder);
  ager.age(0);
  if (ager.aged.length === 0) return ["no session has ended that could be purged"];
  const deadline = AbortSignal.timeout(PURGE_WITHIN_MS);
  for (;;) {
    const sessions = database.existing(ager.aged);
    const left = new Set(removedWorkspaces(home));
    const folders = removed.filter((folder) => left.has(folder));
    const gone = ager.aged.filter((id) => !sessions.includes(id));
    const found = [...database.leftovers(gone)].map(
      ([table, count]) => `${count} rows of purged sessions are left in ${table}`,
    );
    if (sessions.length > 0) found.push(`${sessions.length} ended sessions were not purged`);
    if (folders.length > 0) found.push(`${folders.length} removed workspaces were not deleted`);
    if (database.usedBytes() >= before) found.push("the database holds as much after the purge");
    if (found.length === 0 || deadline.aborted) return found;
    await pause(LOOK_EVERY_MS, deadline);
  }
}

function ageRemoved(folder: string): void {
  const file = join(folder, "workspace.json");
  const record = JSON.parse(readFileSync(file, "utf8")) as object;
  writeFileSync(file, JSON.stringify({ ...record, removedAt: 0 }));
}
