/**
 * Indexes in small transactions, for a short time per round. A sweep starts each round. Kernel events
 * about turns only say where to look first, and nothing is lost without them: every minute the sweep
 * looks through all sessions for logs that were not read to their end.
 */
import type { Engine, Listener, Sweep } from "#engine/index.ts";
import { listProgress } from "../queries.ts";
import { DROP_ROOM } from "./drop-room.ts";
import { indexChanges } from "./index-changes.ts";
import { indexLog } from "./index-log.ts";
import type { Sources } from "./sources.ts";

const EVERY_MS = 500;
/** Duration of one round: other sweeps wait for it. */
const ROUND_MS = 100;
const MAX_STEPS = 40;
const LOOK_EVERY_MS = 60_000;
const SESSIONS_AT_ONCE = 500;

export interface Indexer {
  listener: Listener;
  sweep: Sweep;
}

export function createIndexer(sources: Sources): Indexer {
  /** Sessions whose logs have grown, the longest waiting first. */
  const grown = new Set<string>();
  const limit = { room: DROP_ROOM };
  let lookedAt = Number.NEGATIVE_INFINITY;
  /** Last session of the current pass over all sessions; undefined: the pass is over. */
  let lookAfter: string | undefined;

  async function look({ store }: Engine, now: number): Promise<void> {
    if (lookAfter === undefined) {
      if (now - lookedAt < LOOK_EVERY_MS) return;
      lookedAt = now;
      lookAfter = "";
    }
    if (grown.size >= SESSIONS_AT_ONCE) return;
    const after = lookAfter;
    const some = await store.read((reader) => listProgress(reader, after, SESSIONS_AT_ONCE));
    for (const { id, last_seq, seq } of some) if (last_seq !== seq) grown.add(id);
    lookAfter = some.length < SESSIONS_AT_ONCE ? undefined : some.at(-1)?.id;
  }

  async function indexGrown(engine: Engine, isOver: () => boolean): Promise<void> {
    for (const id of [...grown]) {
      if (isOver()) return;
      // Events from here on are handled in the next round.
      grown.delete(id);
      if (!(await indexLog(engine, id))) grown.add(id);
    }
  }

  return {
    async listener(work, event) {
      switch (event.type) {
        case "prompt_started":
        case "call_ended":
        case "prompt_settled": {
          const { id } = event.session.row;
          work.tx.afterCommit(() => grown.add(id));
        }
      }
    },
    sweep: {
      name: "search",
      everyMs: EVERY_MS,
      async run(engine, now) {
        const rest = limiter(engine);
        // Changes and logs each get half of the time, so that neither holds up the other.
        const isHalfOver = rest(ROUND_MS / 2);
        while (!isHalfOver() && (await indexChanges(engine, sources, limit)));
        await look(engine, now);
        await indexGrown(engine, rest(ROUND_MS));
      },
    },
  };
}

/** Returns checks that say when a part of the round is over, by time or by number of steps. */
function limiter({ clock }: Engine) {
  // Measured from here, not from the start of the tick, so that other sweeps do not use up this time.
  const begunAt = clock.now();
  return (untilMs: number) => {
    let steps = 0;
    return () => ++steps > MAX_STEPS || clock.now() - begunAt >= untilMs;
  };
}
