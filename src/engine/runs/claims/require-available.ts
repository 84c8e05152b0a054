/** Refuses the choice of a model or a runtime that no runner has: every turn with it would fail. */
import { Refusal } from "#base/refusal.ts";
import type { Reader } from "#base/store/index.ts";
import type { Principal } from "#engine/requests/principal.ts";
import type { ModelCapability } from "#protocol/models.ts";
import {
  isFindingModels,
  listModelCapabilities,
  listRuntimeNames,
} from "../runners/runner-directory.ts";

const NAMED = 20;

/**
 * Refuses an unknown model. While no runner is connected, or a connected one has yet to find out
 * its models, nobody knows them all, and any model may be chosen.
 */
export async function requireModelAvailable(
  reader: Reader,
  principal: Principal,
  model: string,
): Promise<void> {
  const why = whyUnavailable(await listModelCapabilities(reader, principal), model);
  if (why === null || (await isFindingModels(reader, principal))) return;
  throw new Refusal("conflict", "model_not_available", why);
}

export function whyUnavailable(offers: readonly ModelCapability[], model: string): string | null {
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

/**
 * Refuses an unknown runtime. A runtime of a disconnected runner may be chosen: the session waits
 * for it.
 */
export async function requireRuntimeAvailable(
  reader: Reader,
  principal: Principal,
  runtime: string,
): Promise<void> {
  const names = await listRuntimeNames(reader, principal);
  if (names.size === 0 || names.has(runtime)) return;
  const there = [...names.keys()].sort().join(", ");
  throw new Refusal(
    "conflict",
    "runtime_not_available",
    `No runner has the runtime ${JSON.stringify(runtime.slice(0, 200))}. Choose one of these: ${there}; or leave it out.`,
  );
}
