/** A disk that loses power, runs full, or refuses to sync. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { check } from "../checker.ts";
import { Api } from "../clients/api.ts";
import { Load } from "../clients/load.ts";
import { observe } from "../clients/observe.ts";
import { FaultyDisk } from "../disk/faulty-disk.ts";
import { Stage } from "../program/stage.ts";
import type { Random } from "../random.ts";
import { type FaultRound, type Report, type RoundContext, Tally } from "../round.ts";

const STRETCH = 25;
const OPEN_GATE_SERVER = fileURLToPath(new URL("../disk/open-gate-server.ts", import.meta.url));
/** The exit code of a program whose disk refused to sync. */
const SYNC_FAILED = 74;
const FULL_MS = 3_000;
const RECOVER_WITHIN_MS = 5_000;
const MAX_CONTROL_LOSSES = 5;

interface Scene {
  stage: Stage;
  disk: FaultyDisk;
}

async function setUp({ cleanup, program }: RoundContext): Promise<Scene> {
  const stage = await Stage.create({ cleanup, program });
  const disk = FaultyDisk.create(cleanup, stage.home);
  Object.assign(stage.env, disk.env);
  await stage.startServer();
  await stage.startRunner();
  return { stage, disk };
}

async function loadOn(stage: Stage, random: Random, sessions = 6): Promise<Load> {
  const load = new Load({
    urls: [stage.url],
    key: stage.key,
    random: random.fork(),
    sessions,
    pauseMs: [0, 20],
  });
  await load.start();
  return load;
}

async function judge(tally: Tally, load: Load, stage: Stage): Promise<void> {
  tally.add(check(load.history, await observe(load), { mayExhaust: false }));
  if (tally.violations.length > 0) tally.violations.push(stage.logTail());
}

const power: FaultRound = {
  name: "power",
  async play(context) {
    const { cycles, random } = context;
    const { stage, disk } = await setUp(context);
    const tally = new Tally();
    for (let struck = 0; struck < cycles && tally.violations.length === 0; ) {
      const load = await loadOn(stage, random, 16);
      for (let n = 0; n < STRETCH && struck < cycles; n++, struck++) {
        await sleep(random.between(20, 400));
        await stage.killAll();
        disk.losePower(random, random.chance(0.5));
        await stage.startServer();
        await stage.startRunner();
      }
      await judge(tally, load, stage);
    }
    await stage.killAll();
    return { violations: tally.violations, summary: `${cycles} power losses: ${tally}` };
  },
};

/** Proves that the power round would notice: without the gate it must lose something. */
const powerWithoutGate: FaultRound = {
  name: "power-without-gate",
  async play(context) {
    const { random } = context;
    const { stage, disk } = await setUp(context);
    // Earlier data must not be lost: a missing key would end the round too early.
    await stage.killRunner();
    await stage.stopServer();
    let acknowledged = 0;
    let lost = 0;
    let losses = 0;
    while (lost === 0 && losses < MAX_CONTROL_LOSSES) {
      await stage.startServer([OPEN_GATE_SERVER]);
      const load = await loadOn(stage, random);
      await sleep(random.between(300, 700));
      losses++;
      await stage.killAll();
      disk.losePower(random, false);
      await stage.startServer([OPEN_GATE_SERVER]);
      await load.end();
      await load.leave();
      acknowledged += load.history.prompts.length;
      lost += await countMissing(stage, load);
      await stage.killAll();
    }
    const summary = `${losses} power losses with the gate left open: ${acknowledged} acknowledged, ${lost} lost`;
    return {
      violations: lost > 0 ? [] : ["nothing was lost, so this suite proves nothing"],
      summary,
    };
  },
};

async function countMissing(stage: Stage, { history }: Load): Promise<number> {
  const api = new Api({ url: stage.url, key: stage.key });
  let missing = 0;
  for (const { id } of history.prompts)
    if ((await api.insist("GET", `/api/prompts/${id}`)).status === 404) missing++;
  return missing;
}

const diskFull: FaultRound = {
  name: "disk-full",
  async play(context) {
    const { stage, disk } = await setUp(context);
    const tally = new Tally();
    const times = Math.ceil(context.cycles / 10);
    let slowest = 0;
    for (let n = 0; n < times && tally.violations.length === 0; n++) {
      const load = await loadOn(stage, context.random);
      await sleep(1_000);
      disk.set("full", true);
      const refused = await countRefused(stage, load, FULL_MS);
      if (refused === 0) tally.violations.push("no request was refused while the disk was full");
      disk.set("full", false);
      const tookMs = await untilAccepted(stage, load);
      slowest = Math.max(slowest, tookMs);
      if (tookMs > RECOVER_WITHIN_MS)
        tally.violations.push(`it took ${tookMs} ms to recover from a full disk`);
      await sleep(500);
      if (!stage.server.isRunning) tally.violations.push("the server ended");
      await judge(tally, load, stage);
    }
    await stage.killAll();
    const summary = `${times} times full, back within ${Math.round(slowest)} ms: ${tally}`;
    return { violations: tally.violations, summary };
  },
};

async function countRefused(stage: Stage, load: Load, forMs: number): Promise<number> {
  const api = new Api({ url: stage.url, key: stage.key });
  const until = Date.now() + forMs;
  let refused = 0;
  while (Date.now() < until) {
    const answer = await api.send("POST", `/api/sessions/${load.sessions[0]?.id}/prompts`, {
      content: "say nobody shall do this",
    });
    if (answer.status === 503 && answer.retryAfter !== null) refused++;
    else load.history.badAnswers.push(`on a full disk: ${answer.status}`);
    await sleep(50);
  }
  return refused;
}

async function untilAccepted(stage: Stage, load: Load): Promise<number> {
  const api = new Api({ url: stage.url, key: stage.key });
  const startedAt = performance.now();
  const id = load.sessions[1]?.id ?? "";
  await api.patient.prompts.create({ id, body: { content: "again" } });
  return performance.now() - startedAt;
}

const syncError: FaultRound = {
  name: "sync-error",
  async play(context) {
    const { stage, disk } = await setUp(context);
    const tally = new Tally();
    const times = Math.ceil(context.cycles / 5);
    const load = await loadOn(stage, context.random);
    for (let n = 0; n < times; n++) {
      await sleep(context.random.between(200, 800));
      disk.set("broken", true);
      const ended = await Promise.race([stage.server.exit, sleep(5_000, undefined)]);
      if (ended?.code !== SYNC_FAILED)
        tally.violations.push(`a failed sync must end the program: ${JSON.stringify(ended)}`);
      await stage.killAll();
      disk.set("broken", false);
      disk.losePower(context.random, true);
      await stage.startServer();
      await stage.startRunner();
    }
    await judge(tally, load, stage);
    await stage.killAll();
    return { violations: tally.violations, summary: `${times} failed syncs: ${tally}` };
  },
};

const HELD_MS = 8_000;
const HEALTH_WITHIN_MS = 500;
const HOLD_LOCK = fileURLToPath(new URL("../disk/hold-lock.ts", import.meta.url));

const locked: FaultRound = {
  name: "locked",
  async play(context: RoundContext): Promise<Report> {
    const { cleanup, program, random } = context;
    const stage = await Stage.create({ cleanup, program });
    await stage.startServer();
    await stage.startRunner();
    const tally = new Tally();
    const load = await loadOn(stage, random);
    await sleep(500);
    const holder = cleanup.spawn(
      process.execPath,
      [HOLD_LOCK, join(stage.home, "muster.db"), String(HELD_MS)],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    await new Promise((resolve) => holder.stdout?.once("data", resolve));
    const acknowledged = load.history.prompts.length;
    const slowest = await slowestHealth(stage, HELD_MS - 200);
    if (slowest > HEALTH_WITHIN_MS)
      tally.violations.push(`/health took ${Math.round(slowest)} ms while the file was locked`);
    const meanwhile = load.history.prompts.length - acknowledged;
    // Answers in transit when the lock was taken may still arrive.
    if (meanwhile > load.sessions.length)
      tally.violations.push(`${meanwhile} prompts were accepted while the file was locked`);
    const tookMs = await untilAccepted(stage, load);
    if (tookMs > RECOVER_WITHIN_MS)
      tally.violations.push(`it took ${Math.round(tookMs)} ms to go on after the lock`);
    await sleep(500);
    await judge(tally, load, stage);
    await stage.killAll();
    const summary = `locked for ${HELD_MS} ms, /health within ${Math.round(slowest)} ms, went on after ${Math.round(tookMs)} ms: ${tally}`;
    return { violations: tally.violations, summary };
  },
};

async function slowestHealth(stage: Stage, forMs: number): Promise<number> {
  const api = new Api({ url: stage.url, key: stage.key });
  const until = Date.now() + forMs;
  let slowest = 0;
  while (Date.now() < until) {
    slowest = Math.max(slowest, (await api.send("GET", "/health")).tookMs);
    await sleep(50);
  }
  return slowest;
}

export const diskRounds: FaultRound[] = [power, powerWithoutGate, diskFull, syncError, locked];
