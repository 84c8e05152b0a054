/** The judged figures of a run, and the growth of each that counts as noise. */
import {
  type Allowance,
  type Drift,
  floorOf,
  judgeGauge,
  judgeLatency,
  judgeRate,
  type Sample,
} from "./judge.ts";
import type { Ledger } from "./load/ledger.ts";
import { type GaugeName, MIB, type TotalName } from "./measure.ts";
import type { Sampler } from "./sampler.ts";

export type Unit = "MiB" | "bytes" | "ms" | "count";

export interface Row {
  name: string;
  unit: Unit;
  drift: Drift;
}

/** V8 lets garbage grow to about the size of the live heap before it collects the old space. */
const memory: Allowance = { absolute: 96 * MIB, relative: 0.4 };
const descriptors: Allowance = { absolute: 20, relative: 0.25 };
const threads: Allowance = { absolute: 4, relative: 0.2 };

const GAUGES: Record<GaugeName, Allowance> = {
  "server memory": memory,
  "server heap": { absolute: 20 * MIB, relative: 0.25 },
  "runner memory": memory,
  "second runner memory": memory,
  "server descriptors": descriptors,
  "runner descriptors": descriptors,
  "second runner descriptors": descriptors,
  "server threads": threads,
  "runner threads": threads,
  processes: { absolute: 8, relative: 0.25 },
  streams: { absolute: 3, relative: 0.25 },
  "write-ahead log": { absolute: 16 * MIB, relative: 0.5 },
  "temporary files": { absolute: 6, relative: 0.25 },
};

const TOTALS: Record<TotalName, Allowance> = {
  database: { absolute: 4_000, relative: 0.5 },
  logs: { absolute: 500, relative: 0.5 },
  workspaces: { absolute: 20_000, relative: 0.75 },
  "workspace files": { absolute: 3, relative: 0.75 },
};

/** A heap goes up and down with each collection; the lowest values are its floor. */
const HEAP_STRETCHES = 12;

const LATENCIES = {
  settled: "prompt to settled",
  delivered: "live event",
  health: "GET /health",
} as const;
const PERCENTILES: [percentile: number, allowance: Allowance][] = [
  [0.5, { absolute: 40, relative: 0.75 }],
  [0.99, { absolute: 400, relative: 2 }],
];

export interface Verdict {
  rows: Row[];
  /** Figures that could not be judged, with the reason. */
  unjudged: string[];
}

export function judgeRun(sampler: Sampler, ledger: Ledger): Verdict {
  const verdict: Verdict = { rows: [], unjudged: [] };
  const judge = (name: string, unit: Unit, judged: () => Drift) => {
    try {
      verdict.rows.push({ name, unit, drift: judged() });
    } catch (error) {
      verdict.unjudged.push(`${name}: ${error instanceof Error ? error.message : error}`);
    }
  };
  for (const [name, allowance] of Object.entries(GAUGES)) {
    const samples = sampler.gauges.get(name as GaugeName) ?? [];
    const series = name === "server heap" ? floorOf(samples, HEAP_STRETCHES) : samples;
    judge(name, unitOf(name), () => judgeGauge(series, allowance));
  }
  for (const [name, allowance] of Object.entries(TOTALS)) {
    const totals = sampler.totals.get(name as TotalName) ?? [];
    const unit = name.includes("files") ? "count" : "bytes";
    judge(`${name} a turn`, unit, () => judgeRate(totals, allowance));
  }
  const measured = (samples: readonly Sample[]) =>
    samples.filter(({ at }) => at >= sampler.startedAt);
  const reference = measured(ledger.reference);
  for (const [series, name] of Object.entries(LATENCIES)) {
    const samples = measured(ledger[series as keyof typeof LATENCIES]);
    for (const [percentile, allowance] of PERCENTILES)
      judge(`${name} p${percentile * 100}`, "ms", () =>
        judgeLatency(samples, reference, { percentile, allowance }),
      );
  }
  return verdict;
}

function unitOf(name: string): Unit {
  return /memory|heap|log$/.test(name) ? "MiB" : "count";
}
