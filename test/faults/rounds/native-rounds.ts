/**
 * `kill -9` while the native agent works: in the middle of model requests, of commands in their
 * sandbox, and of turns that wait for a person.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { services } from "#test/services/servers/services.ts";
import { Unavailable } from "#test/services/servers/unavailable.ts";
import { checkNative } from "../check/check-native.ts";
import { check } from "../checker.ts";
import { Api } from "../clients/api.ts";
import { Decider } from "../clients/decider.ts";
import { Load } from "../clients/load.ts";
import { ASKED_TOKEN, gatedStyle, nativeStyle } from "../clients/native-scripts.ts";
import { observe } from "../clients/observe.ts";
import type { Style } from "../clients/style.ts";
import { ModelLine } from "../program/model-line.ts";
import { nextToken, readTokens } from "../program/read-tokens.ts";
import { Stage } from "../program/stage.ts";
import type { Random } from "../random.ts";
import {
  type FaultRound,
  type Report,
  type RoundContext,
  RoundUnavailable,
  Tally,
} from "../round.ts";
import { type Victim, victims } from "./kill-rounds.ts";

/** Agents take time to restart, and a few cycles must not take long. */
const CYCLES_PER_KILL = 3;
/** After this many kills everything must settle and is checked. */
const STRETCH = 10;
const SESSIONS = 4;
const MAX_OPEN = 2;
/** Limit when no moment to strike comes; a restarted runner needs a while. */
const WAIT_MS = 5_000;

interface Scene {
  stage: Stage;
  line: ModelLine;
  decider: Decider;
  random: Random;
}

interface NativeRound {
  style: Style;
  victim: Victim;
  /** Resolves at the moment to strike. */
  wait(scene: Scene): Promise<void>;
}

/** Any process, so that a waiting turn outlives them all. */
export const anyone: Victim = {
  mayExhaust: true,
  begin: victims.server.begin,
  async strike(stage, random) {
    const whom = random.pick(["server", "runner", "both"]);
    await Promise.all([
      whom === "runner" ? undefined : stage.killServer(),
      whom === "server" ? undefined : stage.killRunner(),
    ]);
    await sleep(random.between(0, 150));
    if (whom !== "runner") await stage.startServer();
    if (whom !== "server") await stage.startRunner();
    await sleep(random.between(0, 300));
  },
};

/** While a model is asked or has just answered, or in the middle of a command. */
async function atWork({ random, stage, line }: Scene): Promise<void> {
  switch (random.pick(["any", "asking", "performing", "performing"])) {
    case "any":
      return void (await sleep(random.between(0, 500)));
    case "asking":
      await line.asked.next(WAIT_MS);
      return void (await sleep(random.between(0, 150)));
    case "performing":
      await nextToken(stage, /./, WAIT_MS);
      return void (await sleep(random.between(0, 150)));
  }
}

/** As a turn begins to wait, while it waits, as it is decided, and as the approved call is made. */
async function aroundGates({ random, stage, line, decider }: Scene): Promise<void> {
  switch (random.pick(["any", "opening", "pending", "deciding", "performing"])) {
    case "any":
      return void (await sleep(random.between(50, 700)));
    case "opening":
      await line.asked.next(WAIT_MS);
      return void (await sleep(random.between(0, 80)));
    case "pending":
      await decider.found.next(WAIT_MS);
      return void (await sleep(random.between(0, 20)));
    case "deciding":
      await decider.deciding.next(WAIT_MS);
      return void (await sleep(random.pick([10, 80]) * random.next()));
    case "performing":
      await nextToken(stage, ASKED_TOKEN, WAIT_MS);
      return void (await sleep(random.between(0, 100)));
  }
}

const rounds: Record<string, NativeRound> = {
  "native-server": { style: nativeStyle, victim: victims.server, wait: atWork },
  "native-runner": { style: nativeStyle, victim: victims.runner, wait: atWork },
  "native-both": { style: nativeStyle, victim: victims.both, wait: atWork },
  "native-gate": { style: gatedStyle, victim: anyone, wait: aroundGates },
};

export const nativeRounds: FaultRound[] = Object.entries(rounds).map(([name, round]) => ({
  name,
  play: (context) => playNative(context, round),
}));

async function playNative(context: RoundContext, round: NativeRound): Promise<Report> {
  const { cleanup, program } = context;
  await needSandbox();
  const line = await ModelLine.open();
  const stage = await Stage.create({ cleanup, program, env: line.env });
  try {
    await round.victim.begin(stage);
    return await playStretches(context, round, stage, line);
  } finally {
    await stage.killAll();
    await line.close();
  }
}

export async function needSandbox(): Promise<void> {
  try {
    await services.bubblewrap.prepare();
  } catch (error) {
    if (error instanceof Unavailable) throw new RoundUnavailable(error.message);
    throw error;
  }
}

async function playStretches(
  { cycles, random }: RoundContext,
  round: NativeRound,
  stage: Stage,
  line: ModelLine,
): Promise<Report> {
  const tally = new Tally();
  const sums = { calls: 0, performed: 0, interrupted: 0, gates: 0, asked: 0, decided: 0 };
  const wanted = Math.ceil(cycles / CYCLES_PER_KILL);
  let struck = 0;
  while (struck < wanted && tally.violations.length === 0) {
    const kills = Math.min(STRETCH, wanted - struck);
    struck += kills;
    const { decisions, observation, load } = await playStretch(round, stage, line, random, kills);
    tally.add(check(load.history, observation, { mayExhaust: round.victim.mayExhaust }));
    const { violations, figures } = checkNative(observation, {
      tokens: readTokens(stage),
      requestTexts: line.requestTexts(),
      decisions,
    });
    tally.violations.push(...violations);
    for (const [name, count] of Object.entries(figures))
      sums[name as keyof typeof figures] += count;
    sums.decided += decisions.filter(({ acknowledged }) => acknowledged).length;
  }
  if (tally.violations.length > 0) tally.violations.push(stage.logTail());
  const { calls, performed, interrupted, gates, asked, decided } = sums;
  const summary = `${struck} kills: ${tally}; ${asked} model requests, ${calls} calls, ${performed} performed, ${interrupted} interrupted, ${gates} gates, ${decided} decisions acknowledged`;
  return { violations: tally.violations, summary };
}

async function playStretch(
  { style, victim, wait }: NativeRound,
  stage: Stage,
  line: ModelLine,
  random: Random,
  kills: number,
) {
  const { url, key } = stage;
  const load = new Load({
    urls: [url],
    key,
    random: random.fork(),
    sessions: SESSIONS,
    pauseMs: [100, 400],
    styles: [style],
    maxOpen: MAX_OPEN,
  });
  const decider = new Decider(new Api({ url, key }), random.fork());
  await load.start();
  for (let n = 0; n < kills; n++) {
    await wait({ stage, line, decider, random });
    await victim.strike(stage, random);
  }
  const observation = await observe(load);
  await decider.end();
  return { load, observation, decisions: decider.decisions };
}
