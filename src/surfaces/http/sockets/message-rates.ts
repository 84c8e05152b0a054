/**
 * Rate limits of live sockets and runners. Each socket has a rate of its own, all sockets of a credential
 * share another, and all of a person's a third, so that opening more sockets gains little. A sender above its
 * rate is read more slowly (`SocketIntake`); its messages are not lost.
 */
import type { Clock } from "#base/clock.ts";
import { partyOf } from "#engine/index.ts";
import type { MessageRate } from "#surfaces/live/index.ts";
import { type Caller, OWNER_FACTOR, PARTY_FACTOR } from "../guards/callers.ts";
import { createRateLimiter, type RateLimiter } from "../guards/rate-limit.ts";

/** A runner sends for many turns at once. */
const RUNNER_FACTOR = 20;
/** Burst, in seconds of the rate. A page subscribes to all its topics at once when it opens. */
const BURST_SECONDS = { live: 5, owner: 5, runner: 2 } as const;
const CREDENTIAL_FACTOR = 2;
/** Bytes of a runner's frame that cost as much as one more frame. */
const BYTES_PER_UNIT = 16 * 1024;
/** At its full rate, a runner's frames keep the server busy for at most a tenth of the time. */
const COST_PER_MS = 20;

export interface MessageRates {
  live(caller: Caller): MessageRate;
  runner(caller: Caller): MessageRate;
}

/** `rateLimit`: messages per second of one live socket; 0 is off. */
export function createMessageRates(rateLimit: number, clock: Clock): MessageRates {
  const kindOf = (factor: number, burstSeconds: number) => {
    const limiter = (perSecond: number) => createRateLimiter(perSecond, perSecond * burstSeconds);
    return {
      own: () => limiter(rateLimit * factor),
      ofCredential: limiter(rateLimit * factor * CREDENTIAL_FACTOR),
      ofParty: limiter(rateLimit * factor * PARTY_FACTOR),
    };
  };
  const kinds = {
    live: kindOf(1, BURST_SECONDS.live),
    owner: kindOf(OWNER_FACTOR, BURST_SECONDS.owner),
    runner: kindOf(RUNNER_FACTOR, BURST_SECONDS.runner),
  };
  const rateOf = (kind: keyof typeof kinds, { credentialId, principal }: Caller): MessageRate => {
    const { own, ofCredential, ofParty } = kinds[kind];
    const itself = own();
    const buckets: readonly [RateLimiter, string][] = [
      [itself, ""],
      [ofCredential, credentialId],
      [ofParty, partyOf(principal)],
    ];
    return {
      owes: () => Math.max(...buckets.map(([bucket, key]) => bucket.owes(key, clock.now()))),
      owesItself: () => itself.owes("", clock.now()),
      spend(cost) {
        for (const [bucket, key] of buckets) bucket.spend(key, cost, clock.now());
      },
    };
  };
  return {
    live: (caller) => rateOf(caller.kind === "owner_key" ? "owner" : "live", caller),
    runner: (caller) => rateOf("runner", caller),
  };
}

/** Cost of the server's synchronous work for a frame, whatever makes it slow. */
export function timeCost(ms: number): number {
  return ms * COST_PER_MS;
}

/** Cost of a runner's frame: one, and more for its size. Streamed pieces of text cost little. */
export function frameCost(op: string | undefined, bytes: number): number {
  const base = op === "delta" || op === "accepted" ? 0.1 : 1;
  return base + bytes / BYTES_PER_UNIT;
}
