/** Errors that belong to the weather; every other one is a bug that somebody would have swallowed. */
import type { Log } from "#base/log.ts";
import { Refusal } from "#base/refusal.ts";
import type { Scheduler } from "./scheduler.ts";

/** Thrown on purpose by what the simulation adds. */
export class Staged extends Error {}

export function isExpected(error: unknown): boolean {
  return error instanceof Staged || (error instanceof Refusal && error.kind === "unavailable");
}

/** What the engine would only have logged ends the simulation. */
export function createSimLog(scheduler: Scheduler): Log {
  const look = (fields: object, text: string) => {
    const { err } = fields as { err?: unknown };
    if (err !== undefined && !isExpected(err))
      scheduler.fail(new Error(`${text}: ${String(err)}`, { cause: err }));
  };
  const log: Log = { debug: look, info: look, warn: look, error: look, child: () => log };
  return log;
}
