/**
 * Asks a provider again when it failed in a way that may pass. Waits between attempts grow and are
 * spread at random, so that many sessions do not come back at the same moment. A wait that the
 * provider asks for is the minimum; one that is too long is passed on with the failure.
 *
 * While the server on the way to the provider is away, as during its restart, nothing counts
 * against the provider: it is asked again until the server is back.
 */
import { type Clock, systemClock } from "#base/clock.ts";
import type { ModelEvent, ModelFailure, ModelProvider, ModelRequest } from "./model.ts";

const ATTEMPTS = 6;
const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 30_000;
/** Longest wait; for more, the turn is better parked than held. */
const MAX_WAIT_MS = 60_000;
/** Limits for a server that is away: it is asked again more often. */
const MAX_AWAY_DELAY_MS = 3_000;
const MAX_AWAY_MS = 5 * 60_000;

export interface RetryOptions {
  attempts?: number;
  clock?: Clock;
  /** From 0 to 1. */
  random?: () => number;
  /** Awaited before the next attempt; a rejection ends the attempts. */
  beforeRetry?: () => Promise<void>;
}

export function withRetries(provider: ModelProvider, options: RetryOptions = {}): ModelProvider {
  const { clock = systemClock, beforeRetry = async () => {} } = options;
  return {
    name: provider.name,
    async *stream(request) {
      const patience = new Patience({ ...options, clock });
      for (let attempt = 1; ; attempt++) {
        const failure = yield* passOn(provider, request);
        if (!failure) return;
        const delayMs = patience.delayAfter(failure);
        if (delayMs === null || request.signal.aborted) {
          yield { type: "failed", failure };
          return;
        }
        yield { type: "restart", attempt, delayMs, failure };
        await clock.sleep(delayMs, request.signal);
        const mayAsk = await beforeRetry().then(
          () => true,
          () => false,
        );
        if (!mayAsk || request.signal.aborted) {
          yield { type: "failed", failure };
          return;
        }
      }
    },
  };
}

/** Counts the failures of one request and decides the delay after each. */
class Patience {
  readonly #attempts: number;
  readonly #random: () => number;
  readonly #clock: Clock;
  #failed = 0;
  #awaySince: number | null = null;
  #timesAway = 0;
  #hasJustBroken = false;

  constructor({ attempts = ATTEMPTS, random = Math.random, clock = systemClock }: RetryOptions) {
    this.#attempts = attempts;
    this.#random = random;
    this.#clock = clock;
  }

  /** Null when the provider is not to be asked again now. */
  delayAfter(failure: ModelFailure): number | null {
    if (failure.isServerAway) return this.#delayWhileAway(failure);
    this.#awaySince = null;
    this.#timesAway = 0;
    this.#failed += 1;
    this.#hasJustBroken = failure.code === "model_stream_broken";
    return this.#failed < this.#attempts ? delayBefore(failure, this.#failed, this.#random) : null;
  }

  #delayWhileAway({ retryAfterMs = 0 }: ModelFailure): number | null {
    const now = this.#clock.now();
    // The stream broke because the server went away: that was not the provider's failure.
    if (this.#awaySince === null && this.#hasJustBroken) this.#failed -= 1;
    this.#awaySince ??= now;
    this.#timesAway += 1;
    if (now - this.#awaySince > MAX_AWAY_MS || retryAfterMs > MAX_WAIT_MS) return null;
    const ceilingMs = Math.min(FIRST_DELAY_MS * 2 ** (this.#timesAway - 1), MAX_AWAY_DELAY_MS);
    return Math.max(Math.round(this.#random() * ceilingMs), retryAfterMs);
  }
}

/** Passes on all events, but returns a failure at the end instead. */
async function* passOn(
  provider: ModelProvider,
  request: ModelRequest,
): AsyncGenerator<ModelEvent, ModelFailure | null> {
  for await (const event of provider.stream(request)) {
    if (event.type === "failed") return event.failure;
    yield event;
    if (event.type === "end") return null;
  }
  return {
    code: "model_stream_broken",
    message: `The answer of ${provider.name} broke off. It is retried by itself.`,
    retryable: true,
  };
}

/** Null when the provider is not to be asked again now. */
function delayBefore(failure: ModelFailure, attempt: number, random: () => number): number | null {
  const { retryable, retryAfterMs = 0 } = failure;
  if (!retryable || retryAfterMs > MAX_WAIT_MS) return null;
  const ceilingMs = Math.min(FIRST_DELAY_MS * 2 ** (attempt - 1), MAX_DELAY_MS);
  return Math.max(Math.round(random() * ceilingMs), retryAfterMs);
}
