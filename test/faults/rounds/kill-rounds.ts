/** `kill -9` of the server, of the runner, and of both, at random moments under load. */
import { setTimeout as sleep } from "node:timers/promises";
import { check } from "../checker.ts";
import { Load } from "../clients/load.ts";
import { observe } from "../clients/observe.ts";
import { Stage } from "../program/stage.ts";
import type { Random } from "../random.ts";
import { type FaultRound, type Report, type RoundContext, Tally } from "../round.ts";

/** After this many kills everything must settle and is checked. */
const STRETCH = 25;
const SESSIONS = 6;

export interface Victim {
  /** Kills it and starts it again. */
  strike(stage: Stage, random: Random): Promise<void>;
  /** Starts everything. */
  begin(stage: Stage): Promise<void>;
  mayExhaust: boolean;
}

const server: Victim = {
  mayExhaust: false,
  async begin(stage) {
    await stage.startServer();
    await stage.startRunner();
  },
  async strike(stage, random) {
    await stage.killServer();
    if (random.chance(0.2)) {
      stage.launchServer("server");
      await sleep(random.between(0, 400));
      await stage.killServer();
    }
    await stage.startServer();
  },
};

const runner: Victim = {
  mayExhaust: true,
  begin: server.begin,
  async strike(stage, random) {
    await stage.killRunner();
    await stage.startRunner();
    await sleep(random.between(100, 600));
  },
};

const both: Victim = {
  mayExhaust: false,
  begin: (stage) => stage.startBoth(),
  async strike(stage, random) {
    await stage.killServer();
    if (random.chance(0.2)) {
      stage.launchServer("up");
      await sleep(random.between(0, 500));
      await stage.killServer();
    }
    await stage.startBoth();
  },
};

export const killRounds: FaultRound[] = Object.entries({ server, runner, both }).map(
  ([name, victim]) => ({ name, play: (context) => playKills(context, victim, {}) }),
);

/** `env`: further settings of the program, such as another database. */
export async function playKills(
  { cleanup, program, cycles, random }: RoundContext,
  victim: Victim,
  env: Record<string, string>,
): Promise<Report> {
  const stage = await Stage.create({ cleanup, program, env });
  const tally = new Tally();
  await victim.begin(stage);
  for (let struck = 0; struck < cycles; ) {
    const load = new Load({
      urls: [stage.url],
      key: stage.key,
      random: random.fork(),
      sessions: SESSIONS,
      pauseMs: [5, 60],
    });
    await load.start();
    for (let n = 0; n < STRETCH && struck < cycles; n++, struck++) {
      await sleep(random.chance(0.3) ? random.between(0, 150) : random.between(150, 700));
      await victim.strike(stage, random);
    }
    tally.add(check(load.history, await observe(load), { mayExhaust: victim.mayExhaust }));
    if (tally.violations.length > 0) break;
  }
  if (tally.violations.length > 0) tally.violations.push(stage.logTail());
  await stage.killAll();
  return { violations: tally.violations, summary: `${cycles} kills: ${tally}` };
}

export const victims = { server, runner, both };
