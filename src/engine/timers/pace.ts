/**
 * The pace of housekeeping: work that nobody waits for, done beside work that somebody does. Each
 * step is one transaction. The time it keeps the database sets how many rows the next step may
 * touch; the time it waited for its turn shows how busy the others are, and makes the pause after
 * it longer.
 */
import type { Tx } from "#base/store/index.ts";
import type { Engine } from "../work.ts";

/** Rows of the first step. */
const FIRST_ROWS = 50;
const MAX_ROWS = 500;
/**
 * Time that a step may keep the database, and rows that it may always touch. SQLite has one writer,
 * which all others wait for. On PostgreSQL others wait only for the step's rows, and the round trip
 * takes most of its time.
 */
const LIMITS = {
  sqlite: { stepMs: 1.5, minRows: 10 },
  postgres: { stepMs: 30, minRows: 100 },
} as const;
/** Pause after a step, in multiples of the step's duration and of its wait. */
const PAUSE_PER_TOOK = 20;
const PAUSE_PER_WAITED = 4;
/** Every write is also copied from the log into the file: a shorter pause would slow others down. */
const MIN_PAUSE_MS = 40;
const MAX_PAUSE_MS = 250;

export interface StepTimes {
  askedAt: number;
  /** Times when the transaction got the database, and when it was done but for its commit. */
  begunAt: number;
  endedAt: number;
}

export interface Pace {
  /** Runs a step of so many rows. Returns the pause before the next, in ms. */
  step(act: (rows: number) => Promise<StepTimes>): Promise<number>;
}

export function createPace({ store }: Pick<Engine, "store">): Pace {
  const { stepMs, minRows } = LIMITS[store.dialect];
  let rows = Math.max(FIRST_ROWS, minRows);
  return {
    async step(act) {
      const { askedAt, begunAt, endedAt } = await act(rows);
      const took = endedAt - begunAt;
      if (took > stepMs) rows = Math.max(minRows, Math.floor(rows / 2));
      else if (took < stepMs / 2) rows = Math.min(MAX_ROWS, Math.ceil(rows * 1.25));
      const pause = PAUSE_PER_TOOK * took + PAUSE_PER_WAITED * (begunAt - askedAt);
      return Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, pause));
    },
  };
}

/** Runs one transaction and measures it. */
export async function timed(
  { store, clock }: Pick<Engine, "store" | "clock">,
  act: (tx: Tx) => Promise<void>,
): Promise<StepTimes> {
  const steady = () => clock.steady?.() ?? clock.now();
  const askedAt = steady();
  return store.transaction(async (tx) => {
    const begunAt = steady();
    await act(tx);
    return { askedAt, begunAt, endedAt: steady() };
  });
}
