/**
 * What becomes of a run whose runner was lost, as a pure decision.
 *
 * A lost attempt that journaled nothing is a strike; three in a row and the prompt is put aside,
 * because it probably kills whatever takes it. Progress wipes earlier strikes. An attempt that was
 * lost together with the server that handed it out says nothing about the prompt and is no strike,
 * but even those are bounded, in case it is the prompt that takes the machine down.
 */
export const MAX_STRIKES = 3;
export const MAX_BLAMELESS_ATTEMPTS = 20;
const BACKOFF_FIRST_MS = 250;
const BACKOFF_MAX_MS = 5_000;

export interface LostAttempt {
  attempts: number;
  strikes: number;
  progressed: boolean;
  /** Given back by a draining runner, or lost with its server. */
  blameless: boolean;
}

export type AfterLoss =
  | { kind: "retry"; strikes: number; backoffMs: number }
  | { kind: "give_up"; strikes: number };

export function afterLoss({ attempts, strikes, progressed, blameless }: LostAttempt): AfterLoss {
  if (blameless) {
    const kept = progressed ? 0 : strikes;
    if (!progressed && attempts >= MAX_BLAMELESS_ATTEMPTS)
      return { kind: "give_up", strikes: kept };
    return { kind: "retry", strikes: kept, backoffMs: 0 };
  }
  const counted = progressed ? 1 : strikes + 1;
  if (counted >= MAX_STRIKES) return { kind: "give_up", strikes: counted };
  return {
    kind: "retry",
    strikes: counted,
    backoffMs: Math.min(BACKOFF_FIRST_MS * 4 ** (counted - 1), BACKOFF_MAX_MS),
  };
}
