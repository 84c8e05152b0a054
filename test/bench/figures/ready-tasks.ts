/** Ready tasks on a board of 10,000. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { atMost, type Figure, medianOf, type Row } from "../figure.ts";
import type { BenchTools } from "../tools.ts";

export const readyTasks: Figure = { name: "ready-tasks", quick: true, measure };

const PROGRAM = join(import.meta.dirname, "../task-load.ts");
const run = promisify(execFile);

async function measure(tools: BenchTools): Promise<Row[]> {
  const rounds: { p50Ms: number; p95Ms: number }[] = [];
  for (let round = 0; round < tools.rounds(3); round++) {
    const times = tools.quick ? "100" : "500";
    const { stdout } = await run(process.execPath, [PROGRAM, tools.freshHome(), times]);
    rounds.push(JSON.parse(stdout) as (typeof rounds)[number]);
  }
  const figure = "ready tasks, the first 50 of a board of 10,000";
  return [
    { figure: `${figure}, p50`, unit: "ms", ours: medianOf(rounds, (r) => r.p50Ms) },
    {
      figure: `${figure}, p95`,
      unit: "ms",
      ours: medianOf(rounds, (r) => r.p95Ms),
      target: atMost(10),
    },
  ];
}
