/**
 * Asks a provider again when it failed in a way that may pass. Waits between attempts grow and are
 * spread at random, so that many sessions do not come back at the same moment. A wait the provider
 * itself asks for is the least; one that is too long to sit through is handed on with the failure.
 */
import { type Clock, systemClock } from "#base/clock.ts";
import type { ModelEvent, ModelFailure, ModelProvider, ModelRequest } from "./model.ts";

const ATTEMPTS = 6;
const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 30_000;
/** For more than this, the turn is better parked than held. */
const MAX_WAIT_MS = 60_000;

export interface RetryOptions {
  attempts?: number;
  clock?: Clock;
  /** From 0 to 1. */
  random?: () => number;
}

export function withRetries(provider: ModelProvider, options: RetryOptions = {}): ModelProvider {
  const { attempts = ATTEMPTS, clock = systemClock, random = Math.random } = options;
  return {
    name: provider.name,
    async *stream(request) {
      for (let attempt = 1; ; attempt++) {
        const failure = yield* passOn(provider, request);
        if (!failure) return;
        const delayMs = attempt < attempts ? delayBefore(failure, attempt, random) : null;
        if (delayMs === null || request.signal.aborted) {
          yield { type: "failed", failure };
          return;
        }
        yield { type: "restart", attempt, delayMs, failure };
        await clock.sleep(delayMs, request.signal);
        if (request.signal.aborted) {
          yield { type: "failed", failure };
          return;
        }
      }
    },
  };
}

/** Hands on all that comes; the failure at its end is returned instead. */
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
    message: `The answer of ${provider.name} broke off. It is asked again by itself.`,
    retryable: true,
  };
}

/** Null when it is not to be asked again now. */
function delayBefore(failure: ModelFailure, attempt: number, random: () => number): number | null {
  const { retryable, retryAfterMs = 0 } = failure;
  if (!retryable || retryAfterMs > MAX_WAIT_MS) return null;
  const ceilingMs = Math.min(FIRST_DELAY_MS * 2 ** (attempt - 1), MAX_DELAY_MS);
  return Math.max(Math.round(random() * ceilingMs), retryAfterMs);
}
