/** Writes a new lifecycle, records it, and notifies the machine that holds the files of an end. */
import { type LifecycleEvent, transitionSession } from "#engine/transitions/session-transitions.ts";
import type { SessionWriter, Work } from "#engine/work.ts";
import { findWorkspace } from "#engine/workspaces/queries.ts";

/** Sets a lifecycle; the caller has checked that the session may change to it. */
export async function setLifecycle(
  work: Work,
  session: SessionWriter,
  event: LifecycleEvent,
  /** Reason code, when more is known than that somebody requested the change. */
  why?: string,
): Promise<void> {
  const { row } = session;
  const from = row.lifecycle;
  Object.assign(row, transitionSession(row, event, work.now));
  const { lifecycle: to } = row;
  const data = { lifecycle: to, from, ...(why === undefined ? {} : { why }) };
  session.record({ type: "session_updated", reason: to, data });
  await work.emit({ type: "session_lifecycle", session, from });
  if (to !== "active") await notifyKeeper(work, row.id);
}

/** Notifies the machine that holds the files, so that it ends what still runs there. */
async function notifyKeeper(work: Work, sessionId: string): Promise<void> {
  const workspace = await findWorkspace(work.tx, sessionId);
  if (workspace) work.tx.afterCommit(() => work.announcer.tidy(workspace.runner_id));
}
