/**
 * Audit trail of delegation: who acted, the action, and the child. Trail and log use the same words
 * and contain no content of messages.
 */
import type { SessionRow, SessionWriter, Work } from "#engine/index.ts";

/** Area of these entries in the audit trail. */
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

export interface OrchestrationRecord {
  action: OrchestrationAction;
  /** Key of the principal that acted. */
  by: string;
  childId?: string;
  /** Fixed word of the code, never user content. */
  detail?: string;
}

/** `parent`: session whose trail gets the entry. */
export function recordOrchestration(
  work: Work,
  parent: Pick<SessionRow, "id" | "org_id" | "owner_id">,
  { action, by, childId, detail }: OrchestrationRecord,
): Promise<void> {
  return work.reportChange({
    orgId: parent.org_id,
    by,
    area: ORCHESTRATION,
    action,
    subjectId: childId ?? null,
    session: parent,
    ...(detail === undefined ? {} : { detail }),
  });
}

/** Records an action of an agent on its child, without any content of messages. */
export function recordAgentAction(
  work: Work,
  { row }: SessionWriter,
  action: OrchestrationAction,
  childId?: string,
): Promise<void> {
  const by = `session:${row.id}`;
  return recordOrchestration(work, row, {
    action,
    by,
    ...(childId === undefined ? {} : { childId }),
  });
}

/** Sends a hint to open pages that the inbox changed; nothing depends on it. */
export function hintInbox(work: Work, { id, owner_id }: SessionRow): void {
  if (owner_id === null) return;
  work.tx.afterCommit(() => work.announcer.hint(`user:${owner_id}`, "inbox", id));
}
