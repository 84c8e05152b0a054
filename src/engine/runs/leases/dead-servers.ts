/**
 * Finds dead servers of the same database by the locks they no longer hold, and takes over: their
 * runners are offline, and runs of runners that ended with them are free at once instead of when
 * their leases end. Runners that work on without their server keep their runs and come back.
 */
import { findDeadServers } from "#base/store/index.ts";
import { forEachIndependently } from "#engine/for-each-independently.ts";
import type { Engine } from "#engine/work.ts";
import { listOtherServers, listRunnersOf, markAbandoned } from "../runners/runner-queries.ts";
import { freeRunsOfDeadServer } from "./leases.ts";

const LOOK_EVERY_MS = 1_000;
/**
 * Longer than replacing a lost connection takes, and than a server's interval between two
 * confirmations of its runners (`presence.ts`). A living server that is taken for dead all the same
 * can write nothing: its fences are stale.
 */
const DEAD_AFTER_MS = 3_000;
const MAX_GAP_MS = 5_000;

/** A server without a lock. */
interface MissingServer {
  confirmedAt: number;
  /** Start of the time without a lock or a confirmation, at every look of this server. */
  since: number;
}

export class DeadServers {
  readonly #engine: Engine;
  #missing = new Map<string, MissingServer>();
  #lookedAt: number | null = null;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  async look(): Promise<void> {
    const { store, clock, serverId } = this.#engine;
    if (store.dialect === "sqlite") return;
    const instant = () => clock.steady?.() ?? clock.now();
    if (this.#lookedAt !== null && instant() - this.#lookedAt < LOOK_EVERY_MS) return;
    const missing = await store.read(async (reader) => {
      const others = await listOtherServers(reader, serverId);
      const ids = others.map(({ server_id }) => server_id);
      const lockless = new Set(await findDeadServers(reader, ids));
      return others.filter(({ server_id }) => lockless.has(server_id));
    });
    // Counted from the answer: while the database was away, nobody could hold a lock.
    const now = instant();
    // After a gap of its own this server cannot tell what happened in between.
    if (this.#lookedAt !== null && now - this.#lookedAt > MAX_GAP_MS) this.#missing.clear();
    this.#lookedAt = now;
    const before = this.#missing;
    this.#missing = new Map(
      missing.map(({ server_id: id, confirmed_at: confirmedAt }) => {
        const known = before.get(id);
        // A server that confirms runners is alive, and only cannot get its lock back: leases cover
        // the rest.
        const since = known && known.confirmedAt === confirmedAt ? known.since : now;
        return [id, { confirmedAt, since }];
      }),
    );
    const dead = [...this.#missing].filter(([, { since }]) => now - since >= DEAD_AFTER_MS);
    await forEachIndependently(dead, ([id]) => this.#takeOver(id));
  }

  async #takeOver(deadId: string): Promise<void> {
    const { store, announcer } = this.#engine;
    const runners = await store.read((reader) => listRunnersOf(reader, deadId));
    for (const { id, ends_with_server } of runners)
      if (ends_with_server === 1) await freeRunsOfDeadServer(this.#engine, id, deadId);
    // Done last, so that a server that dies here leaves the rest for the next one to find.
    await store.transaction((tx) => markAbandoned(tx, deadId));
    this.#missing.delete(deadId);
    for (const { id } of runners) announcer.hint("runners", "runner", id);
  }
}
