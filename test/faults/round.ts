/** The input and the result of a fault round. */
import type { Cleanup } from "#test/services/servers/cleanup.ts";
import type { Verdict } from "./checker.ts";
import type { Random } from "./random.ts";

export interface RoundContext {
  cleanup: Cleanup;
  /** The bundled program. */
  program: string;
  /** Number of times the fault strikes. */
  cycles: number;
  random: Random;
}

export interface Report {
  violations: string[];
  /** A short description with numbers. */
  summary: string;
}

/** The round cannot run here; the message says what is missing. */
export class RoundUnavailable extends Error {
  override readonly name = "NotHere";
}

export interface FaultRound {
  name: string;
  play(context: RoundContext): Promise<Report>;
}

/** Adds up the checker's findings over several stretches of one round. */
export class Tally {
  readonly violations: string[] = [];
  acknowledged = 0;
  events = 0;
  readonly #outcomes = new Map<string, number>();

  add({ violations, figures }: Verdict): void {
    this.violations.push(...violations);
    this.acknowledged += figures.acknowledged;
    this.events += figures.events;
    for (const [outcome, count] of Object.entries(figures.outcomes))
      this.#outcomes.set(outcome, (this.#outcomes.get(outcome) ?? 0) + count);
  }

  get lost(): number {
    return this.violations.filter((text) => text.startsWith("lost:")).length;
  }

  toString(): string {
    const outcomes = [...this.#outcomes].map(([name, count]) => `${count} ${name}`).sort();
    return `${this.acknowledged} acknowledged, ${this.lost} lost, ${this.events} events (${outcomes.join(", ")})`;
  }
}
