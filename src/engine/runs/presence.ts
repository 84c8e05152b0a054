/**
 * Keeps the rows of runners true about who is connected. A server that dies cannot mark its runners
 * offline: on SQLite the next start does it; on PostgreSQL the other servers do, because each server
 * confirms its own runners every few seconds.
 */
import type { RunnerRow } from "../schema.ts";
import type { Engine } from "../work.ts";
import { markUnconfirmed, setRunnerState } from "./runner-queries.ts";
import { UNCONFIRMED_AFTER_MS } from "./runners.ts";

/** Other servers take one for dead that has no lock and confirms nothing; see `dead-servers.ts`. */
const CONFIRM_EVERY_MS = 2_000;

export interface Present {
  runner: RunnerRow;
  state: "online" | "draining";
}

export class Presence {
  readonly #engine: Engine;
  #confirmedAt: number | null = null;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** `present`: the runners that are connected to this server. */
  async confirm(present: readonly Present[]): Promise<void> {
    const { store, clock, serverId, announcer } = this.#engine;
    const isAlone = store.dialect === "sqlite";
    const now = clock.now();
    if (this.#confirmedAt !== null) {
      if (isAlone || Math.abs(now - this.#confirmedAt) < CONFIRM_EVERY_MS) return;
    }
    const changed = await store.transaction(async (tx) => {
      if (!isAlone)
        for (const { runner, state } of present)
          await setRunnerState(tx, {
            id: runner.id,
            bootId: runner.boot_id,
            state,
            serverId,
            now: tx.now,
          });
      const before = isAlone ? Number.MAX_SAFE_INTEGER : tx.now - UNCONFIRMED_AFTER_MS;
      return markUnconfirmed(tx, { serverId, before });
    });
    this.#confirmedAt = now;
    if (changed > 0) announcer.hint("runners", "runner", serverId);
  }
}
