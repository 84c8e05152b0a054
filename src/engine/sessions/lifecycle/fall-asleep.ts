/**
 * Puts sessions to sleep that nobody has used for a while: their data stays, their processes end. A
 * session that could not wake for a prompt is tried again.
 */
import { forEachIndependently } from "#engine/for-each-independently.ts";
import { command, type Engine } from "#engine/work.ts";
import { listHeldAsleep, listIdle } from "../queries.ts";
import { changeLifecycle, refusesToWake } from "./lifecycle.ts";

const BATCH = 100;

export async function fallAsleep(engine: Engine, now: number, idleMs: number): Promise<void> {
  const idle = await engine.store.read((reader) => listIdle(reader, { now, idleMs, limit: BATCH }));
  await forEachIndependently(idle, (id) =>
    command(engine, async (work) => {
      const session = await work.session(id);
      if (!session) return;
      const { lifecycle, run_state, waiting, updated_at, idle_ms } = session.row;
      const isIdle = lifecycle === "active" && run_state === null && waiting === 0;
      if (isIdle && updated_at < work.now - (idle_ms ?? idleMs))
        await changeLifecycle(work, session, "hibernated");
    }),
  );
}

/**
 * Tries to wake the next held sessions, and returns the last id: the next call continues behind it,
 * so that many sessions which cannot wake keep no other from its turn.
 */
export async function wakeHeld(engine: Engine, after: string): Promise<string> {
  const held = await engine.store.read((reader) => listHeldAsleep(reader, after, BATCH));
  await forEachIndependently(held, (id) =>
    command(engine, async (work) => {
      const session = await work.sessionWithParent(id);
      if (session?.row.lifecycle !== "hibernated" || session.row.waiting === 0) return;
      if (await refusesToWake(work, session, "system")) return;
      await changeLifecycle(work, session, "active");
    }),
  );
  return held.length < BATCH ? "" : (held.at(-1) ?? "");
}
