/**
 * The only words that enter the trail. All text from outside the server passes through one of these
 * functions, which replace anything that is neither a known word nor an identifier.
 */
import type { Work } from "#engine/index.ts";
import { OUTCOMES } from "#protocol/sessions.ts";

const STOP_REASONS: ReadonlySet<string> = new Set([
  ...[
    "end",
    "tool_calls",
    "summary",
    "stop",
    "length",
    "content-filter",
    "tool-calls",
    "error",
    "other",
    "unknown",
  ],
  ...["end_turn", "max_tokens", "stop_sequence", "tool_use", "pause_turn", "refusal", "aborted"],
]);
const OUTCOME_NAMES: ReadonlySet<string> = new Set(OUTCOMES);
/** Known runtimes; any other word was typed by somebody. */
const RUNTIMES: ReadonlySet<string> = new Set(["native", "echo", "scripted", "opencode"]);
/** Channels of people, and the platform's own sources of prompts. */
const CHANNELS: ReadonlySet<string> = new Set([
  ...["web", "api", "slack", "github", "telegram", "linear"],
  ...["session", "system", "runner", "wake", "mail", "tasks"],
]);

const one = (known: ReadonlySet<string>, other: string) => (name: string | null | undefined) =>
  name != null && known.has(name) ? name : other;

/** A model can invent any name, so only names of the catalogue are recorded. */
export function toolName({ toolName: known }: Pick<Work, "toolName">, name: string): string {
  return known(name) ?? "unknown";
}

export const stopReason = one(STOP_REASONS, "other");

/** Providers' stop reasons, as the trail spells them. */
const TURN_STOPS: Readonly<Record<string, string>> = {
  end: "end_turn",
  stop: "end_turn",
  tool_calls: "tool_use",
  "tool-calls": "tool_use",
  summary: "end_turn",
  length: "max_tokens",
  "content-filter": "refusal",
};

/** Reason why a completed turn ended. A turn without a model, such as a script, simply ended. */
export function turnStop(reason: string | null | undefined): string {
  if (reason == null) return "end_turn";
  return TURN_STOPS[reason] ?? stopReason(reason);
}
export const outcomeName = one(OUTCOME_NAMES, "unknown");
export const channelName = one(CHANNELS, "other");
export const runtimeName = one(RUNTIMES, "other");

/** Our own codes match this pattern; a sentence does not. */
export function codeName(code: string | null | undefined): string {
  return code != null && /^[a-z][a-z0-9_]{0,63}$/.test(code) ? code : "other";
}

const MODEL = /^[A-Za-z0-9][\w.:@+/-]{0,79}$/;
const PROVIDER = /^[a-z][a-z0-9-]{0,40}$/;

/**
 * Returns `provider/model` as the runner offers it. People may request any model of a provider by name, so
 * for one that is not offered only the provider is recorded, and nothing when that is unknown too.
 */
export function modelName(
  name: string,
  offers: readonly { id: string; provider: string }[],
): string {
  if (MODEL.test(name) && offers.some(({ id }) => id === name)) return name;
  const provider = name.split("/", 1)[0] ?? "";
  const isOffered = PROVIDER.test(provider) && offers.some((offer) => offer.provider === provider);
  return isOffered ? `${provider}/other` : "unknown";
}

/** An orchestrator's id contains its owner's id. */
const ID = /^(?:orchestrator:(?:org:)?)?[a-z]{3}_[0-9a-z]{1,40}$/;

/** An id that the server has minted. */
export function idName(id: string | null): string | null {
  return id !== null && ID.test(id) ? id : null;
}

/** Returns a slug, which has no room for a sentence. */
export function personaName(slug: string | null): string | null {
  return slug !== null && /^[a-z0-9][a-z0-9-]{0,63}$/.test(slug) ? slug : null;
}

export function count(value: number | null | undefined): number | null {
  return value != null && Number.isFinite(value) ? Math.round(value) : null;
}
