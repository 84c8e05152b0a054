/**
 * Sessions that nobody has used for a while are put to sleep: what they keep stays, what they run ends.
 * One that could not wake when something came for it is tried again.
 */
import { eachApart } from "../each-apart.ts";
import { command, type Engine } from "../work.ts";
import { changeLifecycle, refusesToWake } from "./lifecycle.ts";
import { listHeldAsleep, listIdle } from "./queries.ts";

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

export async function wakeHeld(engine: Engine): Promise<void> {
  const held = await engine.store.read((reader) => listHeldAsleep(reader, BATCH));
  await eachApart(held, (id) =>
    command(engine, async (work) => {
      const session = await work.family(id);
      if (session?.row.lifecycle !== "hibernated" || session.row.waiting === 0) return;
      if (await refusesToWake(work, session, "system")) return;
      await changeLifecycle(work, session, "active");
    }),
  );
}
