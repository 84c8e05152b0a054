/** A model that nobody has would make an orchestrator fail at every turn: it is refused when it is chosen. */
import { Refusal } from "#base/refusal.ts";
import type { Work } from "#engine/index.ts";
import { isFindingModels, listModelOffers } from "#engine/runs/index.ts";
import type { UserPrincipal } from "#features/auth/index.ts";
import type { ModelOffer } from "#protocol/models.ts";

const NAMED = 20;

/**
 * While no runner is connected, or one that is has yet to find out its models, nobody knows what there
 * is, and anything may be chosen.
 */
export async function requireOffered(
  work: Work,
  principal: UserPrincipal,
  model: string,
): Promise<void> {
  const why = whyNotOffered(await listModelOffers(work.tx, principal), model);
  if (why === null || (await isFindingModels(work.tx, principal))) return;
  throw new Refusal("conflict", "model_not_available", why);
}

export function whyNotOffered(offers: readonly ModelOffer[], model: string): string | null {
  if (offers.length === 0) return null;
  const usable = offers.filter((offer) => offer.usable);
  if (usable.some(({ id }) => id === model)) return null;
  const provider = model.slice(0, model.indexOf("/"));
  const lacking = offers.find((offer) => offer.provider === provider && !offer.usable)?.why;
  const names = usable.slice(0, NAMED).map(({ id }) => id);
  const more = usable.length > NAMED ? `, and ${usable.length - NAMED} more` : "";
  const there = names.length === 0 ? "none" : `${names.join(", ")}${more}`;
  return `No connected runner has the model ${JSON.stringify(model.slice(0, 200))}.${lacking ? ` ${lacking}` : ""} Choose one of these: ${there}; GET /api/models lists them all.`;
}
