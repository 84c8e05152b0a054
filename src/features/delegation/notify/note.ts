/**
 * What is done in leading others leaves a trace: who did it, what it was, to which child. The trail
 * and the log are told by the same words, and neither hears what anybody said.
 */
import type { SessionRow, SessionWriter, Work } from "#engine/index.ts";

/** The area of these changes, among all that are told. */
export const ORCHESTRATION = "orchestration";

export type OrchestrationAction =
  | "supervisor_enabled"
  | "supervisor_disabled"
  | "worker_spawned"
  | "worker_messaged"
  | "worker_interrupted"
  | "worker_killed"
  | "worker_detached"
  | "worker_resumed"
  | "worker_relocated"
  | "worker_read"
  | "plan_decided"
  | "workers_listed"
  | "inbox_enqueued"
  | "inbox_read"
  | "inbox_cleared"
  | "wake_delivered"
  | "wake_failed"
  | "wake_held";

export interface Note {
  action: OrchestrationAction;
  /** A principal's key. */
  by: string;
  childId?: string;
  /** A word of the code. */
  detail?: string;
}

/** `parent`: the session that leads, in whose trail it stands. */
export function note(
  work: Work,
  parent: Pick<SessionRow, "id" | "org_id" | "owner_id">,
  { action, by, childId, detail }: Note,
): Promise<void> {
  return work.tell({
    orgId: parent.org_id,
    by,
    area: ORCHESTRATION,
    action,
    subjectId: childId ?? null,
    session: parent,
    ...(detail === undefined ? {} : { detail }),
  });
}

/** What an agent did to whom, for those who look into it later; nothing of what was said. */
export function trace(
  work: Work,
  { row }: SessionWriter,
  action: OrchestrationAction,
  childId?: string,
): Promise<void> {
  const by = `session:${row.id}`;
  return note(work, row, { action, by, ...(childId === undefined ? {} : { childId }) });
}

/** Whoever looks at this parent's inbox looks again. A hint: nothing depends on it. */
export function hintInbox(work: Work, { id, owner_id }: SessionRow): void {
  if (owner_id === null) return;
  work.tx.afterCommit(() => work.announcer.hint(`user:${owner_id}`, "inbox", id));
}
