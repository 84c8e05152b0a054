/**
 * Many sessions that wait for a slow model: turns per second, and the memory of waiting sessions.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Contender } from "../contenders.ts";
import { atLeastRatio, type Figure, medianOf, type Row } from "../figure.ts";
import { MODELS } from "../model/answers.ts";
import type { ModelProcess } from "../model/model-process.ts";
import { type Measured, nativeRounds, startContest, turns } from "../native-rounds.ts";
import type { BenchTools } from "../tools.ts";

export const nativeMany: Figure = { name: "native-many", quick: true, measure: measureMany };
export const nativeMemory: Figure = { name: "native-memory", quick: true, measure: measureMemory };

async function measureMany(tools: BenchTools): Promise<Row[]> {
  const counts = tools.quick ? [256] : [256, 1_000];
  const contest = await startContest(tools, {
    MUSTER_RUNNER_CAPACITY: String(Math.max(...counts)),
  });
  const warm = { model: MODELS.prompt, sessions: 64, turnsEach: 5 };
  await nativeRounds(tools, contest, 1, warm);
  const rows: Row[] = [];
  for (const sessions of counts) {
    const work = { model: MODELS.slow, sessions, turnsEach: tools.quick ? 2 : 5 };
    const rounds = await nativeRounds(tools, contest, tools.rounds(3), work);
    const rate = (name: keyof typeof rounds) => medianOf(rounds[name], perSecond);
    const label = `native: turns/s, ${sessions.toLocaleString("en-US")} sessions, 1 s model`;
    const settled = medianOf(rounds.ours, (round) => round.settledMs.p95);
    rows.push(
      {
        figure: `${label}, beside direct calls`,
        unit: "/s",
        floor: rate("direct"),
        ours: rate("ours"),
        target: atLeastRatio(0.9),
        note: `here the floor is a direct call; settled p95 ${Math.round(settled)} ms`,
      },
      { figure: label, unit: "/s", floor: rate("floor"), ours: rate("ours") },
    );
  }
  return rows;
}

function perSecond(round: Measured): number {
  return round.perSecond;
}

const WAITING = 256;
const REST_MS = 1_500;

async function measureMemory(tools: BenchTools): Promise<Row[]> {
  const contest = await startContest(tools);
  const model = await tools.model();
  const perTurn = async (contender: Contender) => {
    // The code and the pools that a first wave needs are not the cost of a turn.
    await turns(tools, contender, { model: MODELS.prompt, sessions: WAITING, turnsEach: 1 });
    await sleep(REST_MS);
    const idle = contender.memory();
    const work = { model: MODELS.held, sessions: WAITING, turnsEach: 1 };
    const settled = turns(tools, contender, work);
    await untilHeld(model, WAITING);
    await sleep(REST_MS);
    const waiting = contender.memory();
    model.release();
    await settled;
    return { kib: ((waiting.pssMib - idle.pssMib) * 1024) / WAITING, idle: idle.pssMib };
  };
  const ours = await perTurn(contest.ours);
  const floor = await perTurn(contest.floor);
  return [
    {
      figure: `native: memory per turn waiting on the model, ${WAITING} of them, PSS`,
      unit: "KiB",
      floor: floor.kib,
      ours: ours.kib,
      note: `above ${Math.round(ours.idle)} MiB, floor ${Math.round(floor.idle)} MiB`,
    },
  ];
}

async function untilHeld(model: ModelProcess, count: number): Promise<void> {
  while ((await model.counts()).held < count) await sleep(50);
}
