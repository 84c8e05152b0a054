/** A machine that will not come back: its sessions' files are gone, and they go on without them. */
import { eachApart } from "../each-apart.ts";
import { listLiveRuns, saveRunAndLease } from "../runs/queries.ts";
import { command, type Engine } from "../work.ts";
import { deleteWorkspace, findWorkspace, listHeldWorkspaces } from "../workspaces/queries.ts";
import { demandKey, wishOf } from "./fit.ts";

const BATCH = 500;

export async function freeWorkspaces(engine: Engine, runnerId: string): Promise<void> {
  for (;;) {
    const held = await engine.store.read((reader) => listHeldWorkspaces(reader, runnerId, BATCH));
    if (held.length === 0) return;
    await eachApart(held, ({ session_id }) => freeOne(engine, runnerId, session_id));
  }
}

async function freeOne(engine: Engine, runnerId: string, sessionId: string): Promise<void> {
  await command(engine, async (work) => {
    const session = await work.session(sessionId);
    const workspace = await findWorkspace(work.tx, sessionId);
    if (workspace?.runner_id !== runnerId) return;
    await deleteWorkspace(work.tx, sessionId);
    if (!session) return;
    session.record({
      type: "notice",
      thread: "main",
      entryId: work.ids.mint("ent"),
      kind: "notice",
      role: "system",
      content: [
        {
          type: "text",
          text: "The machine that held this session's files was removed. It goes on in a new workspace.",
        },
      ],
      reason: "workspace_lost",
    });
    for (const run of await listLiveRuns(work.tx, sessionId)) {
      if (run.pinned_runner_id !== runnerId) continue;
      run.pinned_runner_id = null;
      run.demand_key = demandKey(wishOf(run));
      await saveRunAndLease(work.tx, run);
    }
    work.tx.afterCommit(() => work.announcer.runsReady());
  });
}
