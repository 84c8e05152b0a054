/** Prompts acknowledged per second while none is worked on: over HTTP with 64 clients. */
import type { Contender } from "../contenders.ts";
import {
  atLeastRatio,
  atMostRatio,
  type Figure,
  interleave,
  medianOf,
  type Row,
} from "../figure.ts";
import type { BenchTools } from "../tools.ts";

const CLIENTS = 64;
/** So many sessions that no queue fills up. */
const SESSIONS = 2_000;

export const acknowledgements: Figure = { name: "acks", quick: true, measure };

async function measure(tools: BenchTools): Promise<Row[]> {
  const ours = await tools.ours({ runner: "none" });
  const floor = await tools.floor({ runner: "none" });
  const runOurs = await prepare(tools, ours);
  const runFloor = await prepare(tools, floor);
  const results = await interleave(tools.rounds(5), { ours: runOurs, floor: runFloor });
  const row = (figure: string, unit: string, pick: (r: Measured) => number): Row => ({
    figure,
    unit,
    floor: medianOf(results.floor, pick),
    ours: medianOf(results.ours, pick),
  });
  return [
    {
      ...row("synced acks/s over HTTP, 64 clients", "/s", (r) => r.acksPerSecond),
      target: atLeastRatio(3),
    },
    { ...row("ack latency, 64 clients, p50", "ms", (r) => r.p50Ms), target: atMostRatio(1) },
    row("CPU per ack", "ms", (r) => r.cpuPerAckMs),
  ];
}

interface Measured {
  acksPerSecond: number;
  p50Ms: number;
  cpuPerAckMs: number;
}

async function prepare(
  { load, quick }: BenchTools,
  contender: Contender,
): Promise<() => Promise<Measured>> {
  const { port, key } = contender;
  const target = { port, key };
  const count = quick ? SESSIONS / 4 : SESSIONS;
  const sessions = await load.run({ kind: "sessions", target, count });
  const run = async (forMs: number) => {
    const before = contender.cpuMs();
    const result = await load.run({ kind: "acks", target, sessions, clients: CLIENTS, forMs });
    const acks = (result.acksPerSecond * forMs) / 1_000;
    return { ...result, cpuPerAckMs: (contender.cpuMs() - before) / acks };
  };
  await run(500);
  return () => run(quick ? 1_000 : 1_500);
}
