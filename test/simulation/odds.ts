/**
 * Probabilities. Each seed draws its own, so that some seeds are all crashes and some all steering:
 * a mix that is the same in every seed would test nothing in depth.
 */
import type { Random } from "#test/random.ts";

export interface Odds {
  /** Mean time between two steps. */
  stepMs: number;
  busDrops: number;
  busRepeats: number;
  slowStore: number;
  /** The store refuses a single command. */
  hiccups: number;
  /** A command is run again from its start. */
  conflicts: number;
  slowWire: number;
  /** An answer to a client is lost on the way. */
  lostAnswers: number;
  deliveryFails: number;
  deliveryHangs: number;
  timerFails: number;
  /** Share of steps that are faults rather than actions of people. */
  faults: number;
  serverCrash: number;
  serverRestart: number;
  runnerCrash: number;
  partition: number;
  stall: number;
  clockJump: number;
  storeAway: number;
  drain: number;
  removeRunner: number;
  /** The course of a runner's turns. */
  turnMs: number;
  hang: number;
  gates: number;
  /** Share of a turn that is judged calls, pauses, and its own files. */
  calls: number;
  pauses: number;
  workspaces: number;
  /** A server tool call is sent again before it is answered. */
  callsAgain: number;
  /** Idle time before a session falls asleep. */
  idleMs: number;
  misbehaves: number;
  unmatched: number;
}

export function drawOdds(random: Random): Odds {
  const level = (...values: number[]) => random.pick(values);
  return {
    stepMs: level(15, 40, 40, 120),
    busDrops: level(0, 0.1, 0.5, 1),
    busRepeats: level(0, 0.2),
    slowStore: level(0, 0.01, 0.05),
    hiccups: level(0, 0, 0.003),
    conflicts: level(0, 0.03),
    slowWire: level(0, 0.02, 0.1),
    lostAnswers: level(0, 0.05, 0.3),
    deliveryFails: level(0, 0.2, 0.6),
    deliveryHangs: level(0, 0.02),
    timerFails: level(0, 0.2),
    faults: level(0.005, 0.02, 0.06),
    serverCrash: level(0, 1, 3),
    serverRestart: level(0, 1),
    runnerCrash: level(0, 1, 3),
    partition: level(0, 1, 3),
    stall: level(0, 1, 3),
    clockJump: level(0, 1, 4),
    storeAway: level(0, 1, 3),
    drain: level(0, 1),
    removeRunner: level(0, 0.5, 2),
    turnMs: level(20, 200, 600),
    hang: level(0, 0.03),
    gates: level(0, 0.1, 0.4),
    calls: level(0, 8, 25),
    pauses: level(0, 1, 3),
    workspaces: level(0, 0.3, 2),
    callsAgain: level(0, 0.3),
    idleMs: level(2_000, 20_000, 15 * 60_000),
    misbehaves: level(0, 0.05, 0.05),
    unmatched: level(0, 0, 0, 0.03),
  };
}
