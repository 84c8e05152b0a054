/** The log of the simulation: hashed as a whole, with the last lines kept for people. */
import { createHash } from "node:crypto";

const KEPT = 60;

export class Trace {
  readonly #hash = createHash("sha256");
  readonly #last: string[] = [];
  readonly #echo: boolean;
  lines = 0;

  constructor(echo: boolean) {
    this.#echo = echo;
  }

  add(now: number, line: string): void {
    const text = `${now % 100_000_000} ${line}`;
    this.#hash.update(`${text}\n`);
    this.lines += 1;
    if (this.#echo) console.log(text);
    this.#last.push(text);
    if (this.#last.length > 2 * KEPT) this.#last.splice(0, KEPT);
  }

  last(): string[] {
    return this.#last.slice(-KEPT);
  }

  digest(): string {
    return this.#hash.digest("hex").slice(0, 16);
  }
}
