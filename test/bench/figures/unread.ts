/** An inbox of 100,000 messages: its unread count and its first page. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { atMost, type Figure, medianOf, type Row } from "../figure.ts";
import type { BenchTools } from "../tools.ts";

export const unread: Figure = { name: "unread", quick: true, measure };

const PROGRAM = join(import.meta.dirname, "../mailbox-load.ts");
const run = promisify(execFile);

interface Round {
  count: { p50Ms: number; p95Ms: number };
  page: { p50Ms: number; p95Ms: number };
}

async function measure(tools: BenchTools): Promise<Row[]> {
  const rounds: Round[] = [];
  for (let round = 0; round < tools.rounds(3); round++) {
    const times = tools.quick ? "100" : "500";
    const { stdout } = await run(process.execPath, [PROGRAM, tools.freshHome(), times]);
    rounds.push(JSON.parse(stdout) as Round);
  }
  const count = "unread of an inbox of 100,000 messages";
  const page = "first 50 messages of that inbox";
  return [
    { figure: `${count}, p50`, unit: "ms", ours: medianOf(rounds, (r) => r.count.p50Ms) },
    {
      figure: `${count}, p95`,
      unit: "ms",
      ours: medianOf(rounds, (r) => r.count.p95Ms),
      target: atMost(5),
    },
    { figure: `${page}, p95`, unit: "ms", ours: medianOf(rounds, (r) => r.page.p95Ms) },
  ];
}
