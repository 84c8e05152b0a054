/**
 * Without HTTP: commits at the store with 64 writers, and the time from a prompt to its claim in
 * the kernel.
 */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { atLeast, atMostRatio, type Figure, interleave, medianOf, type Row } from "../figure.ts";
import type { BenchTools } from "../tools.ts";

export const store: Figure = { name: "store", quick: true, measure };

const PROGRAM = join(import.meta.dirname, "../store-load.ts");
const run = promisify(execFile);

async function part<T>(tools: BenchTools, name: string): Promise<T> {
  const forMs = tools.quick ? 800 : 1_500;
  const { stdout } = await run(process.execPath, [PROGRAM, name, tools.freshHome(), String(forMs)]);
  return JSON.parse(stdout) as T;
}

async function measure(tools: BenchTools): Promise<Row[]> {
  const commits = await interleave(tools.rounds(3), {
    ours: () => part<{ perSecond: number }>(tools, "commit"),
    floor: () => part<{ perSecond: number }>(tools, "commit-floor"),
  });
  const claims = await interleave(tools.rounds(3), {
    ours: () => part<{ p50Ms: number }>(tools, "claim"),
    floor: () => part<{ p50Ms: number }>(tools, "claim-floor"),
  });
  return [
    {
      figure: "synced commits/s at the store, 64 writers",
      unit: "/s",
      floor: medianOf(commits.floor, (r) => r.perSecond),
      ours: medianOf(commits.ours, (r) => r.perSecond),
      target: atLeast(30_000),
    },
    {
      figure: "durable enqueue → claimed, p50",
      unit: "ms",
      floor: medianOf(claims.floor, (r) => r.p50Ms),
      ours: medianOf(claims.ours, (r) => r.p50Ms),
      target: atMostRatio(2),
    },
  ];
}
