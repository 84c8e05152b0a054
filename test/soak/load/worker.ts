/** A client that repeats one action, with pauses, until it is told to end. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "#test/faults/random.ts";
import type { Ledger } from "./ledger.ts";

export interface Worker {
  name: string;
  pauseMs: readonly [min: number, max: number];
  /** Ends its action when the signal aborts while it waits. */
  act(ending: AbortSignal): Promise<void>;
}

/** Runs all workers in parallel for a time; resolves when each has finished its current action. */
export async function runFor(
  ms: number,
  workers: readonly Worker[],
  { ledger, random }: { ledger: Ledger; random: Random },
): Promise<void> {
  const ending = AbortSignal.timeout(ms);
  await Promise.all(workers.map((worker) => repeat(worker, ending, ledger, random.fork())));
}

async function repeat(
  { name, pauseMs: [min, max], act }: Worker,
  ending: AbortSignal,
  ledger: Ledger,
  random: Random,
): Promise<void> {
  while (!ending.aborted) {
    try {
      await act(ending);
    } catch (error) {
      if (!ending.aborted) ledger.complain(`${name}: ${explain(error)}`);
    }
    await pause(random.between(min, max), ending);
  }
}

/** Ends early when the signal aborts. */
export async function pause(ms: number, ending: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal: ending }).catch(() => {});
}

function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message} (${String(error.cause)})`;
}
