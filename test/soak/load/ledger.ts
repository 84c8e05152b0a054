/** Everything the clients of a soak observed: accepted prompts, latencies, and complaints. */
import type { Prompt } from "#protocol/sessions.ts";
import { Api, type ApiResponse } from "#test/faults/clients/api.ts";
import { describe, isBadAnswer } from "#test/faults/clients/load.ts";
import type { Sample } from "../judge.ts";

const MAX_COMPLAINTS = 50;

export class Ledger {
  readonly complaints: string[] = [];
  /** Latencies of plain prompts, from accepted to settled. */
  readonly settled: Sample[] = [];
  /** Latencies of live events, from their commit to a subscriber. */
  readonly delivered: Sample[] = [];
  /** Latencies of `GET /health`. */
  readonly health: Sample[] = [];
  /** Latencies of a request to the model server, which is not part of the product. */
  readonly reference: Sample[] = [];
  readonly outcomes = new Map<string, number>();
  readonly #open = new Set<string>();
  readonly #startedAt = performance.now();

  /** Seconds since the start. */
  get now(): number {
    return (performance.now() - this.#startedAt) / 1_000;
  }

  /** Accepted prompts that have not been seen settled. */
  get open(): ReadonlySet<string> {
    return this.#open;
  }

  api(url: string, key: string): Api {
    const onAnswer = (answer: ApiResponse, what: string) => {
      if (isBadAnswer(answer)) this.complain(describe(answer, what));
    };
    return new Api({ url, key, onAnswer });
  }

  complain(text: string): void {
    if (this.complaints.length < MAX_COMPLAINTS) this.complaints.push(text);
  }

  accepted(id: string): void {
    this.#open.add(id);
  }

  settle({ id, outcome, error }: Prompt, expected: readonly string[]): void {
    this.#open.delete(id);
    const name = outcome ?? "none";
    this.outcomes.set(name, (this.outcomes.get(name) ?? 0) + 1);
    if (!expected.includes(name))
      this.complain(`prompt ${id} ended as ${name}: ${JSON.stringify(error)}`);
  }

  note(series: "settled" | "delivered" | "health" | "reference", ms: number): void {
    this[series].push({ at: this.now, value: ms });
  }
}
