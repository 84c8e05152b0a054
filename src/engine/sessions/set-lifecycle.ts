/** Writes a new lifecycle, tells of it, and lets the machine that holds the files know of an end. */
import type { Lifecycle } from "#protocol/sessions.ts";
import type { SessionWriter, Work } from "../work.ts";
import { findWorkspace } from "../workspaces/queries.ts";

/** Whether the change is allowed was checked before. */
export async function setLifecycle(
  work: Work,
  session: SessionWriter,
  to: Lifecycle,
  /** A word of the code, when more is known than that somebody wanted it. */
  why?: string,
): Promise<void> {
  const { row } = session;
  const from = row.lifecycle;
  row.lifecycle = to;
  row.archived_at = to === "archived" || to === "terminated" ? work.now : null;
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
