/** Reads the figures of the running product: from `/proc`, its folders, its database and `/metrics`. */
import { existsSync, readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { opendir, stat } from "node:fs/promises";
import { join } from "node:path";
import { listTree, memoryOf } from "#test/bench/processes.ts";
import type { Database } from "./database.ts";

export const MIB = 1024 ** 2;
const ALARM = /unhandled|uncaught|ExceededWarning|out of memory/i;

/** Names of the figures that go up and down. */
export type GaugeName =
  | "server memory"
  | "server heap"
  | "runner memory"
  | "second runner memory"
  | "server descriptors"
  | "runner descriptors"
  | "second runner descriptors"
  | "server threads"
  | "runner threads"
  | "processes"
  | "streams"
  | "write-ahead log"
  | "temporary files";

/** Names of the totals that turns add to. */
export type TotalName = "database" | "logs" | "workspaces" | "workspace files";

export interface Reading {
  gauges: Record<GaugeName, number>;
  totals: Record<"database" | "logs", number>;
  /** Turns that have ended. */
  turns: number;
  failedTurns: Map<string, number>;
  /** Sockets and streams that are open, by kind. */
  streams: Map<string, number>;
}

export interface Product {
  url: string;
  key: string;
  home: string;
  /** The product's TMPDIR. */
  temporary: string;
  serverPid: number;
  secondRunnerPid: number;
  database: Database;
}

export async function readProduct(product: Product): Promise<Reading> {
  const { serverPid, secondRunnerPid, database, home, temporary } = product;
  const metrics = await scrape(product);
  const tree = listTree(serverPid);
  const runnerPid = runnerIn(tree, serverPid);
  const gauges: Reading["gauges"] = {
    "server memory": memoryOf([serverPid]).pssMib * MIB,
    "server heap": metrics.sum("muster_nodejs_heap_size_used_bytes"),
    "runner memory": memoryOf([runnerPid]).pssMib * MIB,
    "second runner memory": memoryOf([secondRunnerPid]).pssMib * MIB,
    "server descriptors": countDescriptors(serverPid),
    "runner descriptors": countDescriptors(runnerPid),
    "second runner descriptors": countDescriptors(secondRunnerPid),
    "server threads": countThreads(serverPid),
    "runner threads": countThreads(runnerPid),
    processes: tree.length + listTree(secondRunnerPid).length,
    streams: metrics.sum("muster_streams"),
    "write-ahead log": database.walBytes(),
    "temporary files": readdirSync(temporary).length,
  };
  const totals = { database: database.usedBytes(), logs: logBytes(home) };
  const turns = metrics.sum("muster_turns_total");
  const failedTurns = metrics.byLabel("muster_turns_failed_total", "code");
  return { gauges, totals, turns, failedTurns, streams: metrics.byLabel("muster_streams", "kind") };
}

/** Files and bytes of all workspaces, those of removed sessions included. */
export async function measureWorkspaces(home: string): Promise<{ files: number; bytes: number }> {
  const sum = { files: 0, bytes: 0 };
  for (const runner of ["runner", "runner-visitor/runner"])
    for (const part of ["workspaces", "removed", "mirrors"])
      await addFolder(join(home, runner, part), sum);
  return sum;
}

/** Removed workspaces by their folder's path. */
export function removedWorkspaces(home: string): string[] {
  return ["runner", "runner-visitor/runner"].flatMap((runner) => {
    const folder = join(home, runner, "removed");
    return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
  });
}

/** Log lines that report an error, and warnings of Node such as too many listeners. */
export function errorLines(home: string): string[] {
  return logFiles(home).flatMap((file) =>
    readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => /"level":"(error|fatal)"/.test(line) || ALARM.test(line)),
  );
}

interface Metrics {
  sum(name: string): number;
  byLabel(name: string, label: string): Map<string, number>;
}

async function scrape({ url, key }: Product): Promise<Metrics> {
  const answer = await fetch(`${url}/metrics`, {
    headers: { authorization: `Bearer ${key}` },
    signal: AbortSignal.timeout(60_000),
  });
  if (!answer.ok) throw new Error(`/metrics answers ${answer.status}`);
  const lines = (await answer.text()).split("\n");
  const samplesOf = (name: string) =>
    lines.flatMap((line) => {
      const [, labels = "", value] = new RegExp(`^${name}(\\{.*\\})? (\\S+)$`).exec(line) ?? [];
      return value === undefined ? [] : [{ labels, value: Number(value) }];
    });
  return {
    sum: (name) => samplesOf(name).reduce((sum, { value }) => sum + value, 0),
    byLabel: (name, label) =>
      new Map(
        samplesOf(name).map(({ labels, value }) => [
          new RegExp(`${label}="([^"]*)"`).exec(labels)?.[1] ?? "",
          value,
        ]),
      ),
  };
}

/** The runner that the server has started. */
function runnerIn(tree: readonly number[], serverPid: number): number {
  const found = tree.find((pid) => pid !== serverPid && /\0runner\0/.test(commandOf(pid)));
  if (found === undefined) throw new Error("the server has no runner");
  return found;
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

function countDescriptors(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** Open descriptors by target, for a report. */
export function describeDescriptors(pid: number): string {
  const counts = new Map<string, number>();
  for (const name of readdirSync(`/proc/${pid}/fd`)) {
    const kind = targetOf(`/proc/${pid}/fd/${name}`).replace(/\d+/g, "N");
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return [...counts].map(([kind, count]) => `${count} × ${kind}`).join(", ");
}

function targetOf(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return "closed";
  }
}

function countThreads(pid: number): number {
  const [, count] = /^Threads:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(count);
}

function logFiles(home: string): string[] {
  const files = ["server.log", "runner.log"].map((name) => join(home, name));
  return files.filter((file) => existsSync(file));
}

function logBytes(home: string): number {
  return logFiles(home).reduce((sum, file) => sum + statSync(file).size, 0);
}

/** Files that vanish while they are counted do not count. */
async function addFolder(folder: string, sum: { files: number; bytes: number }): Promise<void> {
  const entries = await opendir(folder).catch(() => undefined);
  if (!entries) return;
  try {
    for await (const entry of entries) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        await addFolder(path, sum);
        continue;
      }
      sum.files++;
      sum.bytes += (await stat(path).catch(() => undefined))?.size ?? 0;
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}
