/** Remembers that a write has failed, until one succeeds that is tried for the purpose. */
import { Refusal } from "../refusal.ts";
import type { CompiledStatement } from "./statement.ts";

/** Writes a page and changes nothing. */
export const PROBE: CompiledStatement<never> = {
  sql: "update schema_migrations set applied_at = applied_at where id = (select min(id) from schema_migrations)",
  parameters: [],
};

export class WriteHealth {
  #isFailing = false;
  #trying: Promise<void> | undefined;

  /** Notes how a command ended. */
  note(error: unknown): void {
    if (error instanceof Refusal && error.kind === "unavailable") this.#isFailing = true;
  }

  /** Rejects while writes fail. However many ask, one write is tried at a time. */
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
