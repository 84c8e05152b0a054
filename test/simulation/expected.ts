/** Errors caused by simulated faults; every other error is a bug that would have been swallowed. */
import type { Log } from "#base/log.ts";
import { Refusal } from "#base/refusal.ts";
import type { Scheduler } from "./scheduler.ts";

/** Thrown on purpose by the simulation's own parts. */
export class Staged extends Error {}

export function isExpected(error: unknown): boolean {
  return error instanceof Staged || (error instanceof Refusal && error.kind === "unavailable");
}

/** An unexpected error that the engine would only log stops the simulation. */
export function createSimLog(scheduler: Scheduler): Log {
  const look = (fields: object, text: string) => {
    const { err } = fields as { err?: unknown };
    if (err !== undefined && !isExpected(err))
      scheduler.fail(new Error(`${text}: ${String(err)}`, { cause: err }));
  };
  const log: Log = { debug: look, info: look, warn: look, error: look, child: () => log };
  return log;
}
