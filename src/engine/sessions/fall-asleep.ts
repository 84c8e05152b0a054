/** Sessions that nobody has used for a while are put to sleep: what they keep stays, what they run ends. */
import { eachApart } from "../each-apart.ts";
import { command, type Engine } from "../work.ts";
import { changeLifecycle } from "./lifecycle.ts";
import { listIdle } from "./queries.ts";

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
