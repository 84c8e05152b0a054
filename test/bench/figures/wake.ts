/**
 * Time until a parent works on its child's result: from the last byte of the child's model to the
 * first request of the parent's. The child's ending and the parent's prompt are committed and
 * synced in between. A parent that polls every 2,000 ms would know after 1,000 ms on average.
 */
import type { Contender, Target } from "../contenders.ts";
import {
  atMost,
  atMostRatio,
  type Figure,
  interleave,
  median,
  medianOf,
  percentile,
  type Row,
} from "../figure.ts";
import { createHttpClient } from "../load/http-client.ts";
import type { ParentWithChildren } from "../load/jobs.ts";
import { MODELS } from "../model/answers.ts";
import { startContest } from "../native-rounds.ts";
import type { BenchTools } from "../tools.ts";

export const wake: Figure = { name: "wake", quick: true, measure };

const POLL_MS = 2_000;
const MANY = 100;
/** A parent with more turns carries a longer history; the floor has none. */
const TURNS_EACH = 10;

async function measure(tools: BenchTools): Promise<Row[]> {
  const contest = await startContest(tools, {
    ORCHESTRATION_MAX_WORKERS_PER_SUPERVISOR: String(MANY),
  });
  const rows: Row[] = [];
  for (const children of [1, MANY]) {
    const once = (contender: Contender) => async () => wakesOf(tools, contender, children);
    const pair = { ours: once(contest.ours), floor: once(contest.floor) };
    await interleave(1, pair);
    rows.push(...rowsOf(children, await interleave(tools.quick ? 2 : 7, pair)));
  }
  return rows;
}

async function wakesOf(
  tools: BenchTools,
  { port, key }: Contender,
  count: number,
): Promise<number[]> {
  const target = { port, key };
  const parentCount = tools.quick ? 4 : 10;
  const runtime = "native";
  const make = (model: string, many: number, parent?: string) =>
    tools.load.run({
      kind: "sessions",
      target,
      count: many,
      runtime,
      model: `anthropic/${model}`,
      ...(parent === undefined ? {} : { parentSessionId: parent }),
    });
  const families: ParentWithChildren[] = [];
  for (const parent of await make(MODELS.parent, parentCount)) {
    await lead(target, parent);
    families.push({ parent, children: await make(MODELS.child, count, parent) });
  }
  const model = await tools.model();
  await model.counts();
  await tools.load.run({ kind: "wakes", target, families, turns: parentCount * TURNS_EACH });
  return (await model.counts()).wakes;
}

/**
 * Prompts the parent to lead, with all the context for that. For the floor it is a call like any
 * other.
 */
async function lead(target: Target, parent: string): Promise<void> {
  const client = createHttpClient(target, 1);
  await client.post(`/api/orchestration/sessions/${parent}/enable`, "{}");
  client.close();
}

function rowsOf(children: number, { ours, floor }: Record<"ours" | "floor", number[][]>): Row[] {
  const label = `child is done → parent's model is asked, ${children} ${children === 1 ? "child" : "children"}`;
  const at = (percent: number) => (round: number[]) => percentile(round, percent);
  const p50 = medianOf(ours, at(50));
  return [
    {
      figure: `${label}, p50`,
      unit: "ms",
      floor: medianOf(floor, at(50)),
      ours: p50,
      target: atMostRatio(1.5),
      note: `a look every ${POLL_MS.toLocaleString("en-US")} ms takes ${Math.round(POLL_MS / 2 / p50)} times as long on average`,
    },
    {
      figure: `${label}, p99`,
      unit: "ms",
      floor: median(floor.map(at(99))),
      ours: median(ours.map(at(99))),
      target: atMost(50),
    },
  ];
}
