/** Time to find a memory by one to six words. */
import { execFile } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { atMost, type Figure, type Row } from "../figure.ts";
import type { BenchTools } from "../tools.ts";

export const memory: Figure = { name: "memory", quick: false, measure };

const PROGRAM = join(import.meta.dirname, "../memory-load.ts");
const run = promisify(execFile);

interface Times {
  p50Ms: number;
  p95Ms: number;
}

async function measure(tools: BenchTools): Promise<Row[]> {
  const folder = tools.freshHome();
  mkdirSync(folder, { recursive: true });
  const { stdout } = await run(process.execPath, [PROGRAM, folder]);
  const { own, sessions } = JSON.parse(stdout) as { own: Times; sessions: Times };
  return [
    { figure: "memory search, 200 memories, p50", unit: "ms", ours: own.p50Ms, target: atMost(1) },
    {
      figure: "memory search, 50,000 session memories, p50",
      unit: "ms",
      ours: sessions.p50Ms,
      target: atMost(20),
      note: `p95 ${sessions.p95Ms.toFixed(1)} ms`,
    },
  ];
}
