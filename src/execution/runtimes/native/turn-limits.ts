/** Limits of a turn. Each one that is reached ends the turn with a code of its own. */

import type { Clock } from "#base/clock.ts";
import { BUDGET_SPENT } from "#protocol/budget-words.ts";
import type { Assignment } from "#protocol/frames.ts";
import type { TurnOver } from "../runtime.ts";

export class TurnBounds {
  readonly #assignment: Assignment;
  readonly #clock: Clock;
  readonly #deadline: number;
  #spentMicros: number;
  #sinceAssigned = 0;

  constructor(assignment: Assignment, clock: Clock) {
    this.#assignment = assignment;
    this.#clock = clock;
    this.#deadline = clock.now() + Math.max(0, assignment.limits.wallMs - assignment.workedMs);
    this.#spentMicros = assignment.spentMicros;
  }

  get remainingMs(): number {
    return Math.max(0, this.#deadline - this.#clock.now());
  }

  /** Remaining time for a timer, which cannot wait longer. */
  get remainingTimerMs(): number {
    return Math.min(this.remainingMs, 2 ** 31 - 1);
  }

  /** True if the turn has a cost limit. */
  get keepsToMoney(): boolean {
    const { limits, budgetLeftMicros } = this.#assignment;
    return limits.costMicros !== null || budgetLeftMicros !== null;
  }

  spend(costMicros: number | null): void {
    this.#spentMicros += costMicros ?? 0;
    this.#sinceAssigned += costMicros ?? 0;
  }

  /**
   * Returns the end of the turn if the request of this number, from 1, exceeds a limit; undefined
   * if it may be made.
   */
  reached(request: number): TurnOver | undefined {
    const { limits, budgetLeftMicros } = this.#assignment;
    if (this.remainingMs === 0) return timeIsUp(limits.wallMs);
    if (request > limits.requests)
      return over(
        "request_limit_reached",
        `The turn has reached its limit of ${limits.requests} model requests. Send another prompt to continue, or raise MUSTER_MAX_REQUESTS_PER_TURN.`,
      );
    if (limits.costMicros !== null && this.#spentMicros >= limits.costMicros)
      return over(
        "cost_limit_reached",
        `The turn has cost ${dollars(this.#spentMicros)}, which is its limit. Send another prompt to continue, or raise MUSTER_MAX_TURN_COST.`,
      );
    if (budgetLeftMicros !== null && this.#sinceAssigned >= budgetLeftMicros)
      return over("budget_exhausted", BUDGET_SPENT);
    return undefined;
  }
}

export function timeIsUp(wallMs: number): TurnOver {
  return over(
    "turn_time_limit_reached",
    `The turn has worked for ${Math.round(wallMs / 60_000)} minutes, which is its limit. Send another prompt to continue, or raise MUSTER_MAX_TURN_MINUTES.`,
  );
}

function over(code: string, message: string): TurnOver {
  return { outcome: "failed", error: { code, message } };
}

function dollars(micros: number): string {
  return `$${(micros / 1_000_000).toFixed(2)}`;
}
