import { Refusal } from "#base/refusal.ts";

/** A turn needs one slot; programs with subagents of their own need a few. */
const MAX_CALLS_PER_RUN = 4;

/** Requests under way in this process, by run: bodies and streams take its memory and sockets. */
export class CallSlots {
  readonly #counts = new Map<string, number>();

  enter(runId: string): void {
    const count = this.#counts.get(runId) ?? 0;
    if (count >= MAX_CALLS_PER_RUN)
      throw new Refusal(
        "limit",
        "too_many_model_requests",
        `A turn may have ${MAX_CALLS_PER_RUN} open requests to models. Wait until one has ended.`,
        { retryAfterMs: 1_000 },
      );
    this.#counts.set(runId, count + 1);
  }

  leave(runId: string): void {
    const count = (this.#counts.get(runId) ?? 1) - 1;
    if (count > 0) this.#counts.set(runId, count);
    else this.#counts.delete(runId);
  }
}
