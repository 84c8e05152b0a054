/**
 * Rounds of the native agent beside the floor and beside a direct call, all with the same model.
 * Every round has sessions of its own, so that each turn carries the history of a young
 * conversation and not that of all rounds before it.
 */
import type { Contender } from "./contenders.ts";
import { interleave } from "./figure.ts";
import type { TurnResult } from "./load/jobs.ts";
import type { BenchTools } from "./tools.ts";

const CONTENT = "a prompt of a usual length for a person, one line";

export interface Work {
  model: string;
  sessions: number;
  turnsEach: number;
  atOnce?: number;
}

export interface Measured extends TurnResult {
  cpuPerTurnMs: number;
  perSecond: number;
}

export type Name = "ours" | "floor" | "direct";
export type Rounds = Record<Name, Measured[]>;

export interface Contest {
  ours: Contender;
  floor: Contender;
  modelPort: number;
}

export async function startContest(
  tools: BenchTools,
  env: Readonly<Record<string, string>> = {},
): Promise<Contest> {
  const { port: modelPort } = await tools.model();
  const ours = await tools.ours({ runtime: "native", modelPort, env });
  return { ours, floor: await tools.floor({ modelPort }), modelPort };
}

export function nativeRounds(
  tools: BenchTools,
  contest: Contest,
  rounds: number,
  work: Work,
): Promise<Rounds> {
  return interleave(rounds, {
    ours: () => turns(tools, contest.ours, work),
    floor: () => turns(tools, contest.floor, work),
    direct: () => calls(tools, contest.modelPort, work),
  });
}

export async function turns(
  { load }: BenchTools,
  contender: Contender,
  { model, sessions: count, turnsEach, atOnce }: Work,
): Promise<Measured> {
  const target = { port: contender.port, key: contender.key };
  const sessions = await load.run({
    kind: "sessions",
    target,
    count,
    runtime: "native",
    model: `anthropic/${model}`,
  });
  const before = contender.cpuMs();
  const result = await load.run({
    kind: "turns",
    target,
    sessions,
    content: CONTENT,
    turnsEach,
    ...(atOnce === undefined ? {} : { atOnce }),
  });
  return measured(result, contender.cpuMs() - before);
}

async function calls({ load }: BenchTools, port: number, work: Work): Promise<Measured> {
  return measured(await load.run({ kind: "calls", port, content: CONTENT, ...work }), 0);
}

function measured(result: TurnResult, cpuMs: number): Measured {
  return {
    ...result,
    cpuPerTurnMs: cpuMs / result.turns,
    perSecond: (result.turns / result.elapsedMs) * 1_000,
  };
}
