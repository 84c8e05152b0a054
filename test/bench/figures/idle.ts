/** Cost of the idle program: memory of all its processes, and processor time. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Contender } from "../contenders.ts";
import { atMost, atMostRatio, type Figure, type Row } from "../figure.ts";
import { type BenchTools, settleFirst } from "../tools.ts";

export const idle: Figure = { name: "idle", quick: true, measure };

interface Idle {
  rssMib: number;
  pssMib: number;
  cpuPercent: number;
}

async function measure(tools: BenchTools): Promise<Row[]> {
  const ours = await tools.ours();
  const inline = await tools.ours({ runner: "inline" });
  const floor = await tools.floor();
  const contenders = [ours, inline, floor];
  for (const contender of contenders) await settleFirst(contender);
  await sleep(tools.quick ? 1_000 : 3_000);
  // Side by side: idle servers do not disturb each other.
  const forMs = tools.quick ? 5_000 : 10_000;
  const [a, b, c] = await Promise.all(contenders.map((contender) => watch(contender, forMs)));
  return [...rowsOf("", a as Idle, c as Idle), ...rowsOf(", inline", b as Idle, c as Idle)];
}

async function watch(contender: Contender, forMs: number): Promise<Idle> {
  const before = contender.cpuMs();
  await sleep(forMs);
  const cpuPercent = ((contender.cpuMs() - before) / forMs) * 100;
  return { ...contender.memory(), cpuPercent };
}

function rowsOf(suffix: string, ours: Idle, floor: Idle): Row[] {
  const row = (figure: string, unit: string, pick: (idle: Idle) => number): Row => ({
    figure: `${figure}${suffix}`,
    unit,
    floor: pick(floor),
    ours: pick(ours),
  });
  return [
    row("idle memory, RSS of all processes", "MiB", (i) => i.rssMib),
    {
      ...row("idle memory, PSS of all processes", "MiB", (i) => i.pssMib),
      target: atMostRatio(2.5),
    },
    { ...row("idle CPU", "%", (i) => i.cpuPercent), target: atMost(0.5) },
  ];
}
