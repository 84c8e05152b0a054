/**
 * Limits on open streams: live sockets, event streams, waiting requests, runner sockets. Counted per
 * credential and per person, in this process, since each of them takes memory and a descriptor here.
 */
import { Refusal } from "#base/refusal.ts";
import { partyOf } from "#engine/index.ts";
import { type Caller, OWNER_FACTOR } from "../guards/callers.ts";

export type StreamKind = "live" | "events" | "wait" | "runner";

const PER_CREDENTIAL: Readonly<Record<StreamKind, number>> = {
  live: 128,
  events: 128,
  wait: 64,
  runner: 64,
};
/** A person has several credentials: browsers, keys and machines. */
const PARTY_FACTOR = 2;
const WORDS: Readonly<Record<StreamKind, string>> = {
  live: "live sockets",
  events: "event streams",
  wait: "pending requests",
  runner: "runner connections",
};
const RETRY_AFTER_MS = 5_000;

export class StreamSlots {
  /** Taken slots, by kind. */
  readonly totals: Record<StreamKind, number> = { live: 0, events: 0, wait: 0, runner: 0 };
  readonly #counts = new Map<string, number>();

  /** Returns the function that frees the slot; refuses when none is left. */
  enter(kind: StreamKind, caller: Caller): () => void {
    const most = PER_CREDENTIAL[kind] * (caller.kind === "owner_key" ? OWNER_FACTOR : 1);
    const counted = [
      { key: `${kind} ${caller.credentialId}`, most },
      { key: `${kind} ${partyOf(caller.principal)}`, most: most * PARTY_FACTOR },
    ];
    for (const { key, most: limit } of counted)
      if ((this.#counts.get(key) ?? 0) >= limit) throw tooMany(kind, limit);
    for (const { key } of counted) this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    this.totals[kind] += 1;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.totals[kind] -= 1;
      for (const { key } of counted) this.#leave(key);
    };
  }

  #leave(key: string): void {
    const count = (this.#counts.get(key) ?? 1) - 1;
    if (count > 0) this.#counts.set(key, count);
    else this.#counts.delete(key);
  }
}

function tooMany(kind: StreamKind, limit: number): Refusal {
  return new Refusal(
    "limit",
    "too_many_streams",
    `You have ${limit} ${WORDS[kind]} open, which is the limit. Close some, then try again.`,
    { retryAfterMs: RETRY_AFTER_MS },
  );
}
