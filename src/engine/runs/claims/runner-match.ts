/**
 * Matches the runners of an organisation with a run: which could take it, and if its holder is
 * away.
 */
import type { RunRow } from "#engine/schema.ts";
import type { RunTrouble } from "#engine/sessions/states.ts";
import { isHeldState } from "#engine/transitions/run-transitions.ts";
import { EXPIRY_MARGIN_MS } from "../leases/leases.ts";
import type { RunnerAvailability } from "../runners/runner-capabilities.ts";
import { fits, requirementsOf } from "./fit.ts";

/**
 * Match of a run:
 * - `holder_away`: the runner that holds the session's files is not connected;
 * - `none`: no runner is connected;
 * - `unfit`: no connected runner can take the run;
 * - `starting`: those that can are still finding out their models;
 * - `low_disk`: those that can have almost no room on their disk;
 * - `fit`: one can take it, as soon as it has a free place.
 */
export type RunnerMatch = "holder_away" | "none" | "unfit" | "starting" | "low_disk" | "fit";

export function matchRunners(runners: readonly RunnerAvailability[], run: RunRow): RunnerMatch {
  const online = runners.filter((runner) => runner.state === "online");
  const { pinned_runner_id: holderId } = run;
  if (holderId !== null && !online.some(({ id }) => id === holderId)) return "holder_away";
  if (online.length === 0) return "none";
  const requirements = requirementsOf(run);
  const fitting = online.filter(({ capabilities }) => fits(capabilities, requirements));
  if (fitting.length === 0) return "unfit";
  const ready = fitting.filter(({ isReady }) => isReady);
  if (ready.length === 0) return "starting";
  return ready.every(({ isDiskLow }) => isDiskLow) ? "low_disk" : "fit";
}

/**
 * Time when another runner may take the run, because its holder is away or has not renewed its
 * lease; null when the holder is connected.
 */
export function takeoverAt(
  runners: readonly RunnerAvailability[],
  { runner_id, lease_until }: RunRow,
  now: number,
): number | null {
  if (runner_id === null || lease_until === null) return null;
  const holder = runners.find(({ id }) => id === runner_id);
  const isAway = holder?.state === "offline" || lease_until < now;
  return isAway ? lease_until + EXPIRY_MARGIN_MS : null;
}

/** Trouble of a run; null for one that is queued or held by a runner that answers. */
export function troubleOf(
  runners: readonly RunnerAvailability[],
  run: RunRow,
  now: number,
): RunTrouble | null {
  if (run.state === "pending") return isLost(run) && mayBeTaken(runners, run) ? "lost" : null;
  const isHeld = isHeldState(run.state) && run.runner_id !== null;
  if (!isHeld) return null;
  if (run.lease_until !== null && run.lease_until < now) return "lease_over";
  return takeoverAt(runners, run, now) === null ? null : "runner_away";
}

/** False when only the machine with the files may continue the run, and that machine is gone. */
function mayBeTaken(runners: readonly RunnerAvailability[], run: RunRow): boolean {
  return matchRunners(runners, run) !== "holder_away";
}

/** True for a lost run, which keeps the boot of its runner; a parked run forgets it. */
export function isLost({ state, fence, runner_boot }: RunRow): boolean {
  return state === "pending" && fence > 0 && runner_boot !== null;
}
