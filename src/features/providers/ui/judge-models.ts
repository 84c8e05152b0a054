/**
 * Judges from the runners' reports if a provider that was just saved can be used. Pure. Until runners
 * have heard of the change, they report the old state.
 */
import type { ModelCapability } from "#protocol/models.ts";

export type ModelJudgement =
  | { is: "waiting" }
  | { is: "ready"; models: ModelCapability[] }
  | { is: "failed"; why: string | null };

export interface ModelSnapshot {
  before: readonly ModelCapability[];
  now: readonly ModelCapability[];
  elapsedMs: number;
}

/** Time for every runner to report, after which an unchanged report counts as an answer. */
const SETTLED_MS = 4_000;
const TIMEOUT_MS = 15_000;

export function judgeModels(
  name: string,
  { before, now, elapsedMs }: ModelSnapshot,
): ModelJudgement {
  const mine = now.filter(({ provider }) => provider === name);
  const usable = mine.filter((offer) => offer.usable);
  const hasChanged = factsOf(mine) !== factsOf(before.filter(({ provider }) => provider === name));
  const isSettled = elapsedMs >= SETTLED_MS;
  if (usable.length > 0 && (hasChanged || isSettled)) return { is: "ready", models: usable };
  const why = mine.find((offer) => !offer.usable)?.why ?? null;
  // Failure counts only after all runners had time to report: one may not reach what another does.
  if (hasChanged && isSettled && why !== null) return { is: "failed", why };
  return elapsedMs < TIMEOUT_MS ? { is: "waiting" } : { is: "failed", why };
}

function factsOf(offers: readonly ModelCapability[]): string {
  return JSON.stringify(offers.map(({ id, usable, why }) => [id, usable, why]).sort());
}
