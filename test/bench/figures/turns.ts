/**
 * Turns over the `echo` runtime: latency, throughput and cost, with the runner as a process and
 * inline.
 */
import type { Contender } from "../contenders.ts";
import {
  atLeastRatio,
  atMostRatio,
  type Figure,
  interleave,
  medianOf,
  type Row,
  type Target,
} from "../figure.ts";
import type { TurnResult } from "../load/jobs.ts";
import type { BenchTools } from "../tools.ts";

const CONTENT = "a prompt of a usual length for a person, one line";
const COUNTS = [1, 16, 64, 256];
const QUICK_COUNTS = [1, 64];

interface Measured extends TurnResult {
  cpuPerTurnMs: number;
  perSecond: number;
}

type Name = "ours" | "floor" | "inline";
type AtCount = Record<Name, Measured[]>;

export const turns: Figure = { name: "turns", quick: true, measure };

async function measure(tools: BenchTools): Promise<Row[]> {
  const contenders: Record<Name, Contender> = {
    ours: await tools.ours(),
    floor: await tools.floor(),
    inline: await tools.ours({ runner: "inline" }),
  };
  const sessions = {} as Record<Name, string[]>;
  const counts = tools.quick ? QUICK_COUNTS : COUNTS;
  for (const name of Object.keys(contenders) as Name[]) {
    const target = contenders[name];
    sessions[name] = await tools.load.run({ kind: "sessions", target, count: Math.max(...counts) });
    await run(tools, target, sessions[name].slice(0, 16), tools.quick ? 600 : 1_500);
  }
  const forMs = tools.quick ? 800 : 1_500;
  const results = new Map<number, AtCount>();
  for (const count of counts) {
    const go = (name: Name) => () =>
      run(tools, contenders[name], sessions[name].slice(0, count), forMs);
    const all = { ours: go("ours"), floor: go("floor"), inline: go("inline") };
    results.set(count, await interleave(tools.rounds(5), all));
  }
  return [...latencies(results), ...costs(results), ...rates(results)];
}

async function run(
  { load }: BenchTools,
  target: Contender,
  sessions: string[],
  forMs: number,
): Promise<Measured> {
  const before = target.cpuMs();
  const { port, key } = target;
  const result = await load.run({
    kind: "turns",
    target: { port, key },
    sessions,
    content: CONTENT,
    forMs,
  });
  return {
    ...result,
    cpuPerTurnMs: (target.cpuMs() - before) / result.turns,
    perSecond: (result.turns / result.elapsedMs) * 1_000,
  };
}

/** One row for the program as it is started, one with the runner in the same process. */
function both(
  figure: string,
  unit: string,
  at: AtCount,
  pick: (round: Measured) => number,
  target?: Target,
): Row[] {
  const floor = medianOf(at.floor, pick);
  const wanted = target ? { target } : {};
  return [
    { figure, unit, floor, ours: medianOf(at.ours, pick), ...wanted },
    { figure: `${figure}, inline`, unit, floor, ours: medianOf(at.inline, pick), ...wanted },
  ];
}

function latencies(results: Map<number, AtCount>): Row[] {
  const alone = results.get(1) as AtCount;
  return [
    ...both("accept → first delta, p50", "ms", alone, (r) => r.firstDeltaMs.p50, atMostRatio(3)),
    ...both("accept → first delta, p95", "ms", alone, (r) => r.firstDeltaMs.p95, atMostRatio(3)),
    ...both("accept → settled, p50", "ms", alone, (r) => r.settledMs.p50, atMostRatio(3)),
    ...both("accept → settled, p95", "ms", alone, (r) => r.settledMs.p95, atMostRatio(3)),
  ];
}

function costs(results: Map<number, AtCount>): Row[] {
  return [1, 64].flatMap((count) =>
    both(
      `CPU per turn, ${count} session${count === 1 ? "" : "s"}`,
      "ms",
      results.get(count) as AtCount,
      (r) => r.cpuPerTurnMs,
      atMostRatio(4),
    ),
  );
}

function rates(results: Map<number, AtCount>): Row[] {
  return [...results].flatMap(([count, at]) =>
    both(
      `settled turns/s, ${count} session${count === 1 ? "" : "s"}`,
      "/s",
      at,
      (r) => r.perSecond,
      count === 64 ? atLeastRatio(1) : undefined,
    ),
  );
}
