/**
 * Releases the sessions of a machine that will not come back: they continue elsewhere, with the
 * recorded changes of their files.
 */
import { forEachIndependently } from "#engine/for-each-independently.ts";
import { command, type Engine } from "#engine/work.ts";
import { deleteWorkspace, findWorkspace, listHeldWorkspaces } from "#engine/workspaces/queries.ts";
import { isInFolder, leaveWorkspace } from "#engine/workspaces/relocate.ts";

const BATCH = 500;

export async function freeWorkspaces(engine: Engine, runnerId: string): Promise<void> {
  for (;;) {
    const held = await engine.store.read((reader) => listHeldWorkspaces(reader, runnerId, BATCH));
    if (held.length === 0) return;
    await forEachIndependently(held, ({ session_id }) => freeOne(engine, runnerId, session_id));
  }
}

async function freeOne(engine: Engine, runnerId: string, sessionId: string): Promise<void> {
  await command(engine, async (work) => {
    const session = await work.sessionWithParent(sessionId);
    const workspace = await findWorkspace(work.tx, sessionId);
    if (workspace?.runner_id !== runnerId || workspace.left_at !== null) return;
    if (session) await leaveWorkspace(work, session, workspace);
    // A folder of that machine cannot be carried over.
    if (!session || isInFolder(session.row)) await deleteWorkspace(work.tx, sessionId);
  });
}
