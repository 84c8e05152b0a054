/**
 * Decides what happens to a run whose attempt was lost. Pure.
 *
 * An attempt that died with its runner and had journaled nothing is a strike; after three in a row
 * the prompt is put aside, because it probably kills whatever runs it. Progress clears earlier
 * losses.
 *
 * Losses that say nothing about the prompt are no strikes: the server was restarted, the runner
 * fell silent, never accepted the assignment, or was revoked. They are tried again at growing
 * intervals, so that restarts alone do not end a turn, and are bounded only in case the prompt does
 * take the whole machine down. A run that a draining runner gives back does not count at all.
 */
export const MAX_STRIKES = 3;
export const MAX_BLAMELESS = 40;
const BACKOFF_FIRST_MS = 250;
const STRIKE_BACKOFF_MAX_MS = 5_000;
/** The first few blameless losses in a row are tried again at once. */
const BLAMELESS_AT_ONCE = 3;
const BLAMELESS_BACKOFF_MAX_MS = 15_000;

/**
 * - `prompt`: the runner died with it.
 * - `machine`: something else took the attempt away.
 * - `none`: it was given back unharmed.
 */
export type Blame = "prompt" | "machine" | "none";

interface Losses {
  strikes: number;
  blameless: number;
}

export interface LostAttempt extends Losses {
  progressed: boolean;
  blame: Blame;
}

export type AfterLoss = ({ kind: "retry"; backoffMs: number } | { kind: "give_up" }) & Losses;

export function afterLoss({ strikes, blameless, progressed, blame }: LostAttempt): AfterLoss {
  const before: Losses = progressed ? { strikes: 0, blameless: 0 } : { strikes, blameless };
  if (blame === "none") return { kind: "retry", backoffMs: 0, ...before };
  if (blame === "machine") return afterBlameless(before, progressed);
  const counted = { strikes: before.strikes + 1, blameless: 0 };
  if (counted.strikes >= MAX_STRIKES) return { kind: "give_up", ...counted };
  const backoffMs = Math.min(BACKOFF_FIRST_MS * 4 ** (counted.strikes - 1), STRIKE_BACKOFF_MAX_MS);
  return { kind: "retry", backoffMs, ...counted };
}

function afterBlameless(before: Losses, progressed: boolean): AfterLoss {
  if (progressed) return { kind: "retry", backoffMs: 0, ...before };
  const counted = { ...before, blameless: before.blameless + 1 };
  if (counted.blameless >= MAX_BLAMELESS) return { kind: "give_up", ...counted };
  const late = counted.blameless - BLAMELESS_AT_ONCE;
  const backoffMs =
    late <= 0 ? 0 : Math.min(BACKOFF_FIRST_MS * 2 ** (late - 1), BLAMELESS_BACKOFF_MAX_MS);
  return { kind: "retry", backoffMs, ...counted };
}
