/** Counters in memory, each a few hundred numbers at most: a scrape reads them, a restart zeroes them. */
import type { MetricFamily, Sample } from "./contract.ts";

/** Label values also come from runners and settings; further ones count as `other`. */
const MAX_LABEL_VALUES = 100;
const OTHER = "other";

/** A counter with one label. */
export class LabelledCounter {
  readonly #name: string;
  readonly #help: string;
  readonly #label: string;
  readonly #counts = new Map<string, number>();

  constructor(name: string, help: string, label: string) {
    this.#name = name;
    this.#help = help;
    this.#label = label;
  }

  add(value: string, amount = 1): void {
    const isKnown = this.#counts.has(value) || this.#counts.size < MAX_LABEL_VALUES;
    const key = isKnown ? value : OTHER;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + amount);
  }

  family(): MetricFamily {
    const samples = [...this.#counts].map(([value, count]): Sample => {
      return { labels: { [this.#label]: value }, value: count };
    });
    return { name: this.#name, help: this.#help, type: "counter", samples };
  }
}

/** Upper bounds in seconds: from a turn that only echoes to one that works for hours. */
const BOUNDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600, 7_200];

export class DurationHistogram {
  readonly #name: string;
  readonly #help: string;
  /** One count per bound, and one for values above all bounds. */
  readonly #counts = new Array<number>(BOUNDS.length + 1).fill(0);
  #sum = 0;

  constructor(name: string, help: string) {
    this.#name = name;
    this.#help = help;
  }

  observe(ms: number): void {
    const seconds = Math.max(0, ms) / 1_000;
    const found = BOUNDS.findIndex((bound) => seconds <= bound);
    const at = found < 0 ? BOUNDS.length : found;
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
    this.#sum += seconds;
  }

  family(): MetricFamily {
    let below = 0;
    const samples = this.#counts.map((count, at): Sample => {
      below += count;
      return { suffix: "_bucket", labels: { le: String(BOUNDS[at] ?? "+Inf") }, value: below };
    });
    samples.push({ suffix: "_sum", value: this.#sum }, { suffix: "_count", value: below });
    return { name: this.#name, help: this.#help, type: "histogram", samples };
  }
}
