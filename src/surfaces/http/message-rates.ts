/**
 * How fast live sockets and runners may send. Each socket has a rate of its own, and all sockets of a
 * credential share another, so that opening more of them gains little. A sender above its rate is
 * read more slowly (`SocketIntake`); what it sent is not lost.
 */
import type { Clock } from "#base/clock.ts";
import type { MessageRate } from "#surfaces/live/index.ts";
import { OWNER_FACTOR } from "./callers.ts";
import { createRateLimiter, type RateLimiter } from "./rate-limit.ts";

/** A runner speaks for many turns at once. */
const RUNNER_FACTOR = 20;
/** In seconds of the rate: a page that opens subscribes to all its topics at once. */
const BURST_SECONDS = 5;
const CREDENTIAL_FACTOR = 2;
/** Bytes of a runner's frame that cost as much as one more frame. */
const BYTES_PER_UNIT = 16 * 1024;

export interface MessageRates {
  live(caller: { credentialId: string; kind: string }): MessageRate;
  runner(caller: { credentialId: string }): MessageRate;
}

/** `rateLimit`: messages a second of one live socket; 0 is off. */
export function createMessageRates(rateLimit: number, clock: Clock): MessageRates {
  const limiter = (perSecond: number) => createRateLimiter(perSecond, perSecond * BURST_SECONDS);
  const shared = {
    live: limiter(rateLimit * CREDENTIAL_FACTOR),
    owner: limiter(rateLimit * CREDENTIAL_FACTOR * OWNER_FACTOR),
    runner: limiter(rateLimit * CREDENTIAL_FACTOR * RUNNER_FACTOR),
  };
  const both = (own: RateLimiter, all: RateLimiter, credentialId: string): MessageRate => ({
    owes: () => Math.max(own.owes("", clock.now()), all.owes(credentialId, clock.now())),
    spend(cost) {
      own.spend("", cost, clock.now());
      all.spend(credentialId, cost, clock.now());
    },
  });
  return {
    live({ credentialId, kind }) {
      const isOwner = kind === "owner_key";
      const own = limiter(rateLimit * (isOwner ? OWNER_FACTOR : 1));
      return both(own, isOwner ? shared.owner : shared.live, credentialId);
    },
    runner: ({ credentialId }) =>
      both(limiter(rateLimit * RUNNER_FACTOR), shared.runner, credentialId),
  };
}

/** Cost of a runner's frame: one, and more for its size. Pieces of text that are shown cost little. */
export function frameCost(op: string | undefined, bytes: number): number {
  const base = op === "delta" || op === "accepted" ? 0.1 : 1;
  return base + bytes / BYTES_PER_UNIT;
}
