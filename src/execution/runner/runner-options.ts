/** The parts of a runner, and its time limits. */
import type { Clock } from "#base/clock.ts";
import type { Ids } from "#base/ids.ts";
import type { Log } from "#base/log.ts";
import type { IdentityProof } from "#base/machine/machine-identity.ts";
import type { Runtime } from "#execution/runtimes/runtime.ts";
import type { RunnerProfile } from "#protocol/frames.ts";
import type { Transport } from "./connection/transport.ts";
import type { WatchedDisk } from "./disk-watch.ts";
import type { WatchedSandbox } from "./sandbox-watch.ts";

export interface RunnerGraces {
  /** Time that running turns get when the runner is asked to leave. */
  drainMs: number;
  /** Time to wait for the server to take runs back, and for killed runtimes to return. */
  releaseMs: number;
  /** Time to keep trying when the server says that this runner is connected already. */
  duplicateMs: number;
}

export const DEFAULT_GRACES: RunnerGraces = {
  drainMs: 20_000,
  releaseMs: 2000,
  duplicateMs: 30_000,
};

export interface RunnerOptions {
  transport: Transport;
  runtimes: readonly Runtime[];
  profile: RunnerProfile;
  /** Proves, for a boot, which machine this is. */
  prove?: (bootId: string) => IdentityProof;
  ids: Ids;
  log: Log;
  /** Must not go back or jump with the time of day: leases are measured with it. */
  clock?: Clock;
  graces?: Partial<RunnerGraces>;
  /** Lists the usable models, at each registration and when the server asks. */
  models?: () => Promise<RunnerProfile["models"]>;
  /** The sandbox of this machine, where its runtimes use one. */
  sandbox?: WatchedSandbox;
  /** The disk of this machine, where its runtimes keep something. */
  disk?: WatchedDisk;
  random?: () => number;
}
