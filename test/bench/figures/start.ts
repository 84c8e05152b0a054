/**
 * Time from the start of the process to ready, and to the first settled turn; in a fresh folder and
 * in a used one.
 */
import type { Contender } from "../contenders.ts";
import { atMost, atMostRatio, type Figure, interleave, medianOf, type Row } from "../figure.ts";
import { type BenchTools, settleFirst } from "../tools.ts";

export const start: Figure = { name: "start", quick: true, measure };

interface Started {
  readyMs: number;
  firstTurnMs: number;
}

async function measure(tools: BenchTools): Promise<Row[]> {
  const used = { ours: tools.freshHome(), floor: tools.freshHome(), inline: tools.freshHome() };
  const runs = {
    ours: (home: string) => tools.ours({ home }),
    inline: (home: string) => tools.ours({ home, runner: "inline" as const }),
    floor: (home: string) => tools.floor({ home }),
  };
  for (const name of ["ours", "inline", "floor"] as const)
    await once(tools, runs[name], used[name]);
  const rounds = tools.rounds(5);
  const fresh = await interleave(rounds, {
    ours: () => once(tools, runs.ours, tools.freshHome()),
    floor: () => once(tools, runs.floor, tools.freshHome()),
    inline: () => once(tools, runs.inline, tools.freshHome()),
  });
  const again = await interleave(rounds, {
    ours: () => once(tools, runs.ours, used.ours),
    floor: () => once(tools, runs.floor, used.floor),
    inline: () => once(tools, runs.inline, used.inline),
  });
  return [...rowsOf(fresh, "fresh home"), ...rowsOf(again, "used home")];
}

function rowsOf(results: Record<"ours" | "floor" | "inline", Started[]>, home: string): Row[] {
  const row = (figure: string, ours: Started[], pick: (s: Started) => number): Row => ({
    figure: `${figure}, ${home}`,
    unit: "ms",
    floor: medianOf(results.floor, pick),
    ours: medianOf(ours, pick),
  });
  return [
    { ...row("start → ready", results.ours, (s) => s.readyMs), target: atMostRatio(5) },
    { ...row("start → first turn", results.ours, (s) => s.firstTurnMs), target: atMost(1_000) },
    {
      ...row("start → first turn, inline", results.inline, (s) => s.firstTurnMs),
      target: atMost(1_000),
    },
  ];
}

async function once(
  tools: BenchTools,
  begin: (home: string) => Promise<Contender>,
  home: string,
): Promise<Started> {
  const contender = await begin(home);
  await settleFirst(contender);
  const firstTurnMs = performance.now() - contender.startedAt;
  await contender.stop();
  await tools.endServers();
  return { readyMs: contender.readyMs, firstTurnMs };
}
