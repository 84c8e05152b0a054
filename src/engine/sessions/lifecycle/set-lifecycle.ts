/** Writes a new lifecycle, tells of it, and lets the machine that holds the files know of an end. */
import { type LifecycleEvent, transitionSession } from "#engine/transitions/session-transitions.ts";
import type { SessionWriter, Work } from "#engine/work.ts";
import { findWorkspace } from "#engine/workspaces/queries.ts";

/** The caller has checked that the session may do so. */
export async function setLifecycle(
  work: Work,
  session: SessionWriter,
  event: LifecycleEvent,
  /** A word of the code, when more is known than that somebody wanted it. */
  why?: string,
): Promise<void> {
  const { row } = session;
  const from = row.lifecycle;
  Object.assign(row, transitionSession(row, event, work.now));
  const { lifecycle: to } = row;
  const data = { lifecycle: to, from, ...(why === undefined ? {} : { why }) };
  session.record({ type: "session_updated", reason: to, data });
  await work.emit({ type: "session_lifecycle", session, from });
  if (to !== "active") await tellKeeper(work, row.id);
}

/** The machine that holds its files may end what still runs there. */
async function tellKeeper(work: Work, sessionId: string): Promise<void> {
  const workspace = await findWorkspace(work.tx, sessionId);
  if (workspace) work.tx.afterCommit(() => work.announcer.tidy(workspace.runner_id));
}
