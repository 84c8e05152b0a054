/** Shared state of the actors in one simulation. */
import type { Ids } from "#base/ids.ts";
import type { Store } from "#base/store/index.ts";
import type { Random } from "#test/random.ts";
import type { Odds } from "./odds.ts";
import type { Oracle } from "./oracle/oracle.ts";
import type { RunnerHost } from "./runner/runner-host.ts";
import type { Scheduler, WallClock } from "./scheduler.ts";
import type { ServerProcess } from "./server/server-process.ts";
import type { Trace } from "./trace.ts";

export interface World {
  readonly seed: number;
  readonly random: Random;
  readonly scheduler: Scheduler;
  readonly clock: WallClock;
  readonly ids: Ids;
  /** The database itself: it outlives every server. */
  readonly real: Store;
  readonly odds: Odds;
  readonly trace: Trace;
  oracle: Oracle;
  server: ServerProcess;
  hosts: RunnerHost[];
  /** True at the end: no more faults, and everything must settle. */
  calm: boolean;
  storeAwayUntil: number;
  storeIsAway(): boolean;
  note(line: string): void;
}

export const ORG = "org_sim";
