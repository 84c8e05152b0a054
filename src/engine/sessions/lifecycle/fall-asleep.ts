/**
 * Sessions that nobody has used for a while are put to sleep: what they keep stays, what they run ends.
 * One that could not wake when something came for it is tried again.
 */
import { eachApart } from "#engine/each-apart.ts";
import { command, type Engine } from "#engine/work.ts";
import { listHeldAsleep, listIdle } from "../queries.ts";
import { changeLifecycle, refusesToWake } from "./lifecycle.ts";

const BATCH = 100;

export async function fallAsleep(engine: Engine, now: number, idleMs: number): Promise<void> {
  const idle = await engine.store.read((reader) => listIdle(reader, { now, idleMs, limit: BATCH }));
  await eachApart(idle, (id) =>
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
 * Tries the next ones of those that are held, and returns the last id: whoever calls again goes on
 * behind it, so that many which cannot wake keep nobody else from their turn.
 */
export async function wakeHeld(engine: Engine, after: string): Promise<string> {
  const held = await engine.store.read((reader) => listHeldAsleep(reader, after, BATCH));
  await eachApart(held, (id) =>
    command(engine, async (work) => {
      const session = await work.family(id);
      if (session?.row.lifecycle !== "hibernated" || session.row.waiting === 0) return;
      if (await refusesToWake(work, session, "system")) return;
      await changeLifecycle(work, session, "active");
    }),
  );
  return held.length < BATCH ? "" : (held.at(-1) ?? "");
}
