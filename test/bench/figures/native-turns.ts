/** Turns of the native agent with a model that answers at once: latency, throughput and cost. */
import { atLeastRatio, atMostRatio, type Figure, median, medianOf, type Row } from "../figure.ts";
import { MODELS } from "../model/answers.ts";
import {
  type Contest,
  type Measured,
  nativeRounds,
  type Rounds,
  startContest,
} from "../native-rounds.ts";
import type { BenchTools } from "../tools.ts";

export const nativeTurns: Figure = { name: "native", quick: true, measure };

const SESSIONS = 64;

async function measure(tools: BenchTools): Promise<Row[]> {
  const contest = await startContest(tools);
  const many = { model: MODELS.prompt, sessions: SESSIONS, turnsEach: tools.quick ? 5 : 8 };
  await nativeRounds(tools, contest, tools.quick ? 1 : 2, many);
  const at16 = await nativeRounds(tools, contest, tools.quick ? 2 : 7, { ...many, atOnce: 16 });
  const at64 = await nativeRounds(tools, contest, tools.quick ? 2 : 7, many);
  return [...(await latencies(tools, contest)), ...rates(at16, at64)];
}

async function latencies(tools: BenchTools, contest: Contest): Promise<Row[]> {
  const alone = await nativeRounds(tools, contest, tools.quick ? 2 : 7, {
    model: MODELS.prompt,
    sessions: tools.quick ? 5 : 10,
    turnsEach: 10,
    atOnce: 1,
  });
  return (["p50", "p95"] as const).flatMap((percent) => {
    const pick = (round: Measured) => round.firstDeltaMs[percent];
    const direct = medianOf(alone.direct, pick);
    const added = (name: "ours" | "floor") =>
      median(alone[name].map((round, at) => pick(round) - pick(alone.direct[at] as Measured)));
    return [
      {
        figure: `native: accept → first text, ${percent}`,
        unit: "ms",
        floor: medianOf(alone.floor, pick),
        ours: medianOf(alone.ours, pick),
        target: atMostRatio(3),
        note: `a direct call ${direct.toFixed(2)} ms`,
      },
      {
        figure: `native: first text, added to a direct call, ${percent}`,
        unit: "ms",
        floor: added("floor"),
        ours: added("ours"),
        target: atMostRatio(3),
      },
    ];
  });
}

function rates(at16: Rounds, at64: Rounds): Row[] {
  const row = (figure: string, unit: string, at: Rounds, pick: (round: Measured) => number) => ({
    figure: `native: ${figure}`,
    unit,
    floor: medianOf(at.floor, pick),
    ours: medianOf(at.ours, pick),
  });
  const perSecond = (round: Measured) => round.perSecond;
  const cpu = (round: Measured) => round.cpuPerTurnMs;
  const direct = (at: Rounds) => `direct calls ${Math.round(medianOf(at.direct, perSecond))}/s`;
  return [
    {
      ...row("settled turns/s, 16 sessions", "/s", at16, perSecond),
      target: atLeastRatio(0.5),
      note: direct(at16),
    },
    {
      ...row("settled turns/s, 64 sessions", "/s", at64, perSecond),
      target: atLeastRatio(0.5),
      note: `${direct(at64)}; ${(medianOf(at64.ours, perSecond) / medianOf(at16.ours, perSecond)).toFixed(2)}× of ours with 16`,
    },
    { ...row("CPU per turn, 16 sessions", "ms", at16, cpu), target: atMostRatio(4) },
    { ...row("CPU per turn, 64 sessions", "ms", at64, cpu), target: atMostRatio(4) },
  ];
}
