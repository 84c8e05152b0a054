/** Remembers that a write has failed, until a test write succeeds. */
import { Refusal } from "../refusal.ts";
import type { CompiledStatement } from "./statement.ts";

/** A test write: writes a page and changes nothing. */
export const PROBE: CompiledStatement<never> = {
  sql: "update schema_migrations set applied_at = applied_at where id = (select min(id) from schema_migrations)",
  parameters: [],
};

export class WriteHealth {
  #isFailing = false;
  #trying: Promise<void> | undefined;

  /** Records the error of a failed command. */
  note(error: unknown): void {
    if (error instanceof Refusal && error.kind === "unavailable") this.#isFailing = true;
  }

  /** Rejects while writes fail. However many callers ask, one test write runs at a time. */
  async check(write: () => Promise<unknown>): Promise<void> {
    if (!this.#isFailing) return;
    this.#trying ??= write()
      .then(() => {
        this.#isFailing = false;
      })
      .finally(() => {
        this.#trying = undefined;
      });
    await this.#trying;
  }
}
