/**
 * Runners that fall silent without ending: stopped (SIGSTOP, like a sleeping machine), or with the
 * cable unplugged. One of two runners falls silent under load. Its turns must go to the other one,
 * none may fail, and the silent one must come back without writing to runs it no longer holds.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Runner } from "#protocol/runs.ts";
import { check } from "../checker.ts";
import { Api, listAll } from "../clients/api.ts";
import { Load } from "../clients/load.ts";
import { listPrompts, observe } from "../clients/observe.ts";
import { echoStyle, patientStyle } from "../clients/scripts.ts";
import type { Observation } from "../history.ts";
import { Cable } from "../program/cable.ts";
import { Stage } from "../program/stage.ts";
import type { Random } from "../random.ts";
import { type FaultRound, type Report, type RoundContext, Tally } from "../round.ts";

/** A takeover takes a lease; so several scenes run at once, each with its own server. */
const PLACES = 5;
const SESSIONS = 6;
const MAX_OPEN = 2;
/** After this many strikes everything must settle and is checked. */
const STRETCH = 5;
const LOOK_EVERY_MS = 100;
/** Far beyond the limit of a takeover: then something hangs. */
const GIVE_UP_MS = 60_000;

/** A runner that can be silenced and resumed. */
interface Victim {
  name: string;
  silence(): void;
  restore(): void;
  end(): void;
}

type StartVictim = (stage: Stage, name: string) => Promise<Victim>;

const stopped: StartVictim = async (stage, name) => {
  const runner = await stage.startRunnerNamed(name);
  return { name, silence: () => runner.freeze(), restore: () => runner.thaw(), end() {} };
};

const cutOff: StartVictim = async (stage, name) => {
  const cable = await Cable.lay(stage.url);
  await stage.startRunnerNamed(name, cable.url);
  return {
    name,
    silence: () => cable.pullOut(),
    restore: () => cable.plugIn(),
    end: () => cable.close(),
  };
};

export const silentRounds: FaultRound[] = [
  { name: "stopped-runner", play: (context) => playPlaces(context, stopped) },
  { name: "cut-cable", play: (context) => playPlaces(context, cutOff) },
];

interface Figures {
  affected: number;
  explained: number;
  /** The longest, in seconds. */
  offlineAfter: number;
  takenOverAfter: number;
}

async function playPlaces(context: RoundContext, start: StartVictim): Promise<Report> {
  const { cycles, random } = context;
  const tally = new Tally();
  const figures: Figures = { affected: 0, explained: 0, offlineAfter: 0, takenOverAfter: 0 };
  const places = Math.min(PLACES, cycles);
  await Promise.all(
    Array.from({ length: places }, (_, n) => {
      const mine = Math.ceil((cycles - n) / places);
      return playPlace({ ...context, cycles: mine, random: random.fork() }, start, tally, figures);
    }),
  );
  const { affected, explained, offlineAfter, takenOverAfter } = figures;
  const seconds = (value: number) => `${value.toFixed(1)} s`;
  const summary = `${cycles} silences: ${tally}; ${affected} turns affected, ${explained} receipts said why, offline after at most ${seconds(offlineAfter)}, taken over after at most ${seconds(takenOverAfter)}`;
  return { violations: tally.violations, summary };
}

async function playPlace(
  { cleanup, program, cycles, random }: RoundContext,
  start: StartVictim,
  tally: Tally,
  figures: Figures,
): Promise<void> {
  const stage = await Stage.create({ cleanup, program });
  await stage.startServer();
  const victims = [await start(stage, "left"), await start(stage, "right")] as const;
  const api = new Api({ url: stage.url, key: stage.key });
  try {
    await reach(api, (runners) => runners.filter(isOnline).length === victims.length);
    for (let struck = 0; struck < cycles && tally.violations.length === 0; ) {
      const load = new Load({
        urls: [stage.url],
        key: stage.key,
        random: random.fork(),
        sessions: SESSIONS,
        pauseMs: [100, 500],
        styles: [patientStyle, patientStyle, echoStyle],
        maxOpen: MAX_OPEN,
      });
      await load.start();
      for (let n = 0; n < STRETCH && struck < cycles; n++, struck++) {
        await sleep(random.between(300, 1_500));
        await strike(api, load, random.pick(victims), random, figures);
      }
      const observation = await observe(load);
      const verdict = check(load.history, observation, { mayExhaust: false });
      tally.add(verdict);
      if (verdict.violations.length > 0) tally.violations.push(...unfinishedLogs(observation));
    }
  } finally {
    if (tally.violations.length > 0) tally.violations.push(stage.logTail());
    await stage.killAll();
    for (const victim of victims) victim.end();
  }
}

const SHOWN_EVENTS = 25;

/** The last events of sessions that did not settle, for the report. */
function unfinishedLogs({ sessions }: Observation): string[] {
  return sessions
    .filter(({ prompts }) => prompts.some(({ outcome }) => outcome === null))
    .map(({ id, log }) => {
      const lines = log.slice(-SHOWN_EVENTS).map(({ event }) => {
        const { seq, at, type, promptId, reason, data } = event;
        return `    #${seq} ${at} ${type} ${promptId ?? ""} ${reason ?? ""} ${JSON.stringify(data ?? {})}`;
      });
      return `log of ${id}:\n${lines.join("\n")}`;
    });
}

async function strike(
  api: Api,
  load: Load,
  victim: Victim,
  random: Random,
  figures: Figures,
): Promise<void> {
  victim.silence();
  const at = performance.now();
  const seconds = () => (performance.now() - at) / 1000;
  try {
    // Sometimes it comes back before it is given up, or before its leases end.
    if (random.chance(0.3)) return void (await sleep(random.between(500, 14_000)));
    const silent = await reach(api, (runners) => !isOnline(of(runners, victim)));
    figures.offlineAfter = Math.max(figures.offlineAfter, seconds());
    const { running } = of(silent, victim);
    figures.affected += running;
    if (running > 0) figures.explained += await countExplained(api, load);
    await reach(api, (runners) => of(runners, victim).running === 0);
    if (running > 0) figures.takenOverAfter = Math.max(figures.takenOverAfter, seconds());
    await sleep(random.between(0, 3_000));
  } finally {
    victim.restore();
    await reach(api, (runners) => isOnline(of(runners, victim)));
  }
}

/** Counts turns whose receipt says that their runner is silent. */
async function countExplained(api: Api, load: Load): Promise<number> {
  let explained = 0;
  for (const { id } of load.sessions) {
    const running = await listPrompts(api, id, "running,gated");
    explained += running.filter(({ waitingFor }) => waitingFor?.reason === "runner_silent").length;
  }
  return explained;
}

function of(runners: readonly Runner[], { name }: Victim): Runner {
  const found = runners.find((runner) => runner.name === name);
  if (!found) throw new Error(`there is no runner ${name}`);
  return found;
}

function isOnline({ state, ready }: Runner): boolean {
  return state === "online" && ready;
}

async function reach(api: Api, is: (runners: Runner[]) => boolean): Promise<Runner[]> {
  const deadline = Date.now() + GIVE_UP_MS;
  for (;;) {
    const runners = await listAll((query) => api.patient.runners.list({ query }));
    if (is(runners)) return runners;
    if (Date.now() > deadline) throw new Error(`it hangs: ${JSON.stringify(runners)}`);
    await sleep(LOOK_EVERY_MS);
  }
}
