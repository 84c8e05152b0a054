/**
 * Keeps the rows of runners true about their connections. A server that dies cannot mark its
 * runners offline, so each server confirms its own every few seconds, busy or not, and marks those
 * offline that nobody has confirmed for a while. At its start it repairs what earlier servers left.
 */
import { findDeadServers } from "#base/store/index.ts";
import type { RunnerRow } from "#engine/schema.ts";
import type { Engine } from "#engine/work.ts";
import {
  listOtherServers,
  markOfflineOf,
  markOthersOffline,
  markUnconfirmed,
  setRunnerState,
} from "../runners/runner-queries.ts";
import { UNCONFIRMED_AFTER_MS } from "../runners/runners.ts";

/** A server without a lock that confirms nothing is taken for dead by others; see `dead-servers.ts`. */
const CONFIRM_EVERY_MS = 2_000;
/** A server that is alone on its database knows its connections; rows are only for its next start. */
const CONFIRM_ALONE_EVERY_MS = 10_000;
const UNCONFIRMED_ALONE_AFTER_MS = 30_000;

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

  /**
   * Repairs the rows before anybody is served: on SQLite no runner can be connected yet, on
   * PostgreSQL those of dead servers are not. Runs are left to leases and `dead-servers.ts`.
   */
  async setRight(): Promise<void> {
    const { store, serverId } = this.#engine;
    await store.transaction(async (tx) => {
      if (store.dialect === "sqlite") return markOthersOffline(tx, serverId);
      await markUnconfirmed(tx, tx.now - UNCONFIRMED_AFTER_MS);
      const others = await listOtherServers(tx, serverId);
      const dead = await findDeadServers(
        tx,
        others.map(({ server_id }) => server_id),
      );
      for (const id of dead) await markOfflineOf(tx, id);
    });
  }

  /** Confirms the runners that are connected to this server. */
  async confirm(present: readonly Present[]): Promise<void> {
    const { store, clock, serverId, announcer } = this.#engine;
    const isAlone = store.dialect === "sqlite";
    const everyMs = isAlone ? CONFIRM_ALONE_EVERY_MS : CONFIRM_EVERY_MS;
    const afterMs = isAlone ? UNCONFIRMED_ALONE_AFTER_MS : UNCONFIRMED_AFTER_MS;
    const now = clock.now();
    if (this.#confirmedAt !== null && Math.abs(now - this.#confirmedAt) < everyMs) return;
    const changed = await store.transaction(async (tx) => {
      // Ordered by id, so that two servers never wait for each other.
      for (const { runner, state } of [...present].sort(byRunnerId))
        await setRunnerState(tx, {
          id: runner.id,
          bootId: runner.boot_id,
          state,
          serverId,
          by: serverId,
          now: tx.now,
        });
      // A server that is alone knows that runners of other servers are connected to none.
      const left = isAlone ? await markOthersOffline(tx, serverId) : 0;
      return left + (await markUnconfirmed(tx, tx.now - afterMs));
    });
    this.#confirmedAt = now;
    if (changed > 0) announcer.hint("runners", "runner", serverId);
  }
}

function byRunnerId(a: Present, b: Present): number {
  return a.runner.id < b.runner.id ? -1 : 1;
}
