/** Time to find an entry by one to four words among a million. */
import { execFile } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { atMost, type Figure, type Row } from "../figure.ts";
import type { BenchTools } from "../tools.ts";

export const search: Figure = { name: "search", quick: false, measure };

const PROGRAM = join(import.meta.dirname, "../search-load.ts");
const run = promisify(execFile);

interface Times {
  p50Ms: number;
  p95Ms: number;
  maxMs: number;
  loopP99Ms: number;
  indexP50Ms: number;
  indexP99Ms: number;
}

async function measure(tools: BenchTools): Promise<Row[]> {
  const folder = tools.freshHome();
  mkdirSync(folder, { recursive: true });
  const { stdout } = await run(process.execPath, [PROGRAM, folder]);
  const times = JSON.parse(stdout) as Times;
  const figure = "search, 1,000,000 entries";
  const [loop, index] = [times.loopP99Ms.toFixed(1), times.indexP99Ms.toFixed(1)];
  return [
    {
      figure: `${figure}, p50`,
      unit: "ms",
      ours: times.p50Ms,
      note: `the loop waits ${loop} ms, p99`,
    },
    {
      figure: `${figure}, p95`,
      unit: "ms",
      ours: times.p95Ms,
      target: atMost(100),
      note: `max ${times.maxMs.toFixed(0)} ms`,
    },
    {
      figure: "indexing up to 24 entries into them, p50",
      unit: "ms",
      ours: times.indexP50Ms,
      note: `p99 ${index} ms, with the sync`,
    },
  ];
}
