/** Cost of many sessions: memory while they are idle, a restart, and a prompt among them. */
import { cpSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Contender } from "../contenders.ts";
import { atMost, atMostRatio, type Figure, interleave, medianOf, type Row } from "../figure.ts";
import { createHttpClient } from "../load/http-client.ts";
import { copyFloorSession, copyOf, copySession } from "../seed.ts";
import type { BenchTools } from "../tools.ts";

export const idleSessions: Figure = { name: "growth", quick: false, measure: measureGrowth };
export const restart: Figure = { name: "restart", quick: false, measure: measureRestart };
export const scale: Figure = { name: "scale", quick: false, measure: measureScale };

const ENTRIES = 20;

async function measureGrowth(tools: BenchTools): Promise<Row[]> {
  // The prompt itself is the first entry.
  const content = Array.from({ length: ENTRIES - 1 }, (_, n) => `say entry ${n} of a session`);
  const grow = async (contender: Contender) => {
    const target = { port: contender.port, key: contender.key };
    const work = async (count: number) => {
      const job = { kind: "sessions", target, count, runtime: "scripted" } as const;
      const sessions = await tools.load.run(job);
      const turns = { target, content: content.join("\n"), turnsEach: 1 };
      for (let from = 0; from < count; from += 100)
        await tools.load.run({
          kind: "turns",
          ...turns,
          sessions: sessions.slice(from, from + 100),
        });
      await sleep(2_000);
      return contender.memory();
    };
    const before = await work(300);
    const after = await work(1_000);
    return { rss: after.rssMib - before.rssMib, pss: after.pssMib - before.pssMib };
  };
  const ours = await grow(await tools.ours());
  const floor = await grow(await tools.floor());
  return [
    {
      figure: "growth for 1,000 idle sessions of 20 entries, PSS",
      unit: "MiB",
      floor: floor.pss,
      ours: ours.pss,
      target: atMost(50),
      note: `RSS ${Math.round(ours.rss)}, floor ${Math.round(floor.rss)} MiB`,
    },
  ];
}

interface Template {
  home: string;
  sessionId: string;
  promptId: string;
}

/** Makes a data folder with one session whose one prompt is settled, or waits for a runner. */
async function template(tools: BenchTools, runner: "process" | "none"): Promise<Template> {
  const ours = await tools.ours({ runner });
  const client = createHttpClient(ours, 1);
  const created = await client.post("/api/sessions", "{}");
  const { session } = JSON.parse(created) as { session: { id: string } };
  const sent = await client.post(`/api/sessions/${session.id}/prompts`, '{"content":"first"}');
  const { prompt } = JSON.parse(sent) as { prompt: { id: string } };
  if (runner === "process") await untilSettled(ours, prompt.id);
  client.close();
  await ours.stop();
  return { home: ours.home, sessionId: session.id, promptId: prompt.id };
}

async function untilSettled({ port, key }: Contender, promptId: string): Promise<void> {
  const client = createHttpClient({ port, key }, 1);
  for (;;) {
    const { prompt } = JSON.parse(await client.get(`/api/prompts/${promptId}`)) as {
      prompt: { state: string };
    };
    if (prompt.state === "settled") break;
    await sleep(2);
  }
  client.close();
}

async function floorHome(tools: BenchTools): Promise<string> {
  const floor = await tools.floor({ runner: "none" });
  await floor.stop();
  return floor.home;
}

const RESTART_SESSIONS = 10_000;

async function measureRestart(tools: BenchTools): Promise<Row[]> {
  const { home, sessionId, promptId } = await template(tools, "none");
  copySession(home, sessionId, 0, RESTART_SESSIONS);
  const floorSeed = await floorHome(tools);
  copyFloorSession(floorSeed, "accepted", 0, RESTART_SESSIONS);
  const once = async (
    begin: (home: string) => Promise<Contender>,
    seed: string,
    firstPrompt: string,
  ) => {
    const copy = tools.freshHome();
    cpSync(seed, copy, { recursive: true });
    const contender = await begin(copy);
    await untilSettled(contender, firstPrompt);
    const firstTurnMs = performance.now() - contender.startedAt;
    await contender.kill();
    return { readyMs: contender.readyMs, firstTurnMs };
  };
  const results = await interleave(tools.rounds(3), {
    ours: () => once((copy) => tools.ours({ home: copy }), home, copyOf(promptId, 0)),
    floor: () => once((copy) => tools.floor({ home: copy }), floorSeed, "p0"),
  });
  return [
    {
      figure: "restart with 10,000 sessions and queued prompts → ready",
      unit: "ms",
      floor: medianOf(results.floor, (r) => r.readyMs),
      ours: medianOf(results.ours, (r) => r.readyMs),
      target: atMost(2_000),
    },
    {
      figure: "… → first settled turn",
      unit: "ms",
      floor: medianOf(results.floor, (r) => r.firstTurnMs),
      ours: medianOf(results.ours, (r) => r.firstTurnMs),
      target: atMost(1_200),
    },
  ];
}

const SIZES = [10, 1_000, 100_000];
const ACTIVE = 10;
const IDLE_MS = 6_000;

async function measureScale(tools: BenchTools): Promise<Row[]> {
  const { home, sessionId } = await template(tools, "process");
  const floorSeed = await floorHome(tools);
  const runs: Record<string, () => Promise<{ cpuMs: number; p50: number }>> = {};
  const numbers = Array.from({ length: ACTIVE }, (_, number) => number);
  let largest: { ours: Contender; floor: Contender } | undefined;
  for (const size of SIZES) {
    const copy = tools.freshHome();
    cpSync(home, copy, { recursive: true });
    copySession(copy, sessionId, 0, size);
    const floorCopy = tools.freshHome();
    cpSync(floorSeed, floorCopy, { recursive: true });
    copyFloorSession(floorCopy, "settled", 0, size);
    const ours = await tools.ours({ home: copy });
    const floor = await tools.floor({ home: floorCopy });
    const copies = numbers.map((number) => copyOf(sessionId, number));
    runs[`ours-${size}`] = turnCost(tools, ours, copies);
    runs[`floor-${size}`] = turnCost(
      tools,
      floor,
      numbers.map((number) => `s${number}`),
    );
    largest = { ours, floor };
  }
  for (const run of Object.values(runs)) await run();
  const results = await interleave(tools.rounds(3), runs);
  const at = (name: string, size: number, pick: "cpuMs" | "p50") =>
    medianOf(results[`${name}-${size}`] ?? [], (r) => r[pick]);
  const row = (label: string, pick: "cpuMs" | "p50", size: number): Row => ({
    figure: `${label} among ${size.toLocaleString("en-US")} sessions`,
    unit: "ms",
    floor: at("floor", size, pick),
    ours: at("ours", size, pick),
    note: `${(at("ours", size, pick) / at("ours", SIZES[0] as number, pick)).toFixed(2)}× of that among ${SIZES[0]}`,
    ...(pick === "cpuMs" ? { target: atMostRatio(4) } : {}),
  });
  return [
    ...SIZES.map((size) => row("CPU per prompt", "cpuMs", size)),
    ...SIZES.map((size) => row("accept → settled, p50,", "p50", size)),
    ...(largest ? [await idleCpu(largest.ours, largest.floor)] : []),
  ];
}

/** Processor time of sweeps: they must not scan all past runs. */
async function idleCpu(ours: Contender, floor: Contender): Promise<Row> {
  const before = { ours: ours.cpuMs(), floor: floor.cpuMs() };
  await sleep(IDLE_MS);
  const percent = (cpuMs: number) => (cpuMs / IDLE_MS) * 100;
  return {
    figure: "idle CPU among 100,000 sessions",
    unit: "%",
    floor: percent(floor.cpuMs() - before.floor),
    ours: percent(ours.cpuMs() - before.ours),
    target: atMost(0.5),
  };
}

function turnCost(tools: BenchTools, contender: Contender, sessions: string[]) {
  return async () => {
    const { port, key } = contender;
    const before = contender.cpuMs();
    const job = { kind: "turns", target: { port, key }, sessions, content: "next", forMs: 1_000 };
    const result = await tools.load.run(job as { kind: "turns" } & typeof job);
    return { cpuMs: (contender.cpuMs() - before) / result.turns, p50: result.settledMs.p50 };
  };
}
