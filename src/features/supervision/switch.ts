/**
 * Enables and disables supervisor mode of one session, by its owner. Nothing restarts: a running
 * turn continues, and watchers see an ordinary change of the session.
 */

import { Refusal } from "#base/refusal.ts";
import { type Principal, principalKey, type SessionWriter, type Work } from "#engine/index.ts";
import {
  clearInbox,
  detachChild,
  hintInbox,
  isLive,
  listLinks,
  recordOrchestration,
} from "#features/delegation/index.ts";
import { isOrchestrator } from "#protocol/sessions.ts";
import { ROLE, refuse } from "./gates.ts";

export async function enableSupervisor(
  work: Work,
  session: SessionWriter,
  by: Principal,
): Promise<void> {
  const { row } = session;
  requireMayLead(session);
  if (row.role === ROLE) return;
  row.role = ROLE;
  session.record({
    type: "session_updated",
    reason: "supervisor_enabled",
    data: { supervisor: true },
  });
  hintInbox(work, row);
  await recordOrchestration(work, row, { action: "supervisor_enabled", by: principalKey(by) });
}

export function mayLead({ row }: Pick<SessionWriter, "row">): boolean {
  return row.parent_session_id === null && !isOrchestrator(row) && isLive(row);
}

function requireMayLead(session: SessionWriter): void {
  if (mayLead(session)) return;
  const { kind, parent_session_id, lifecycle } = session.row;
  if (parent_session_id !== null) throw refuse("depth_limit_exceeded");
  if (isOrchestrator({ kind }))
    throw new Refusal(
      "conflict",
      "leads_already",
      "An orchestrator has child sessions without supervisor mode. Ask it to spawn one.",
    );
  throw new Refusal(
    "conflict",
    "session_not_active",
    `This session is ${lifecycle}. Start a new one, or wake it first.`,
  );
}

/**
 * Detaches the workers, which continue on their own, and clears the inbox with its pending events.
 */
export async function disableSupervisor(
  work: Work,
  session: SessionWriter,
  by: Principal,
): Promise<void> {
  const { row } = session;
  if (row.role !== ROLE) return;
  row.role = null;
  const links = await listLinks(work.tx, row.id);
  for (const { session_id: id } of links.toSorted((a, b) =>
    a.session_id < b.session_id ? -1 : 1,
  )) {
    const worker = await work.session(id);
    if (worker) await detachChild(work, worker);
  }
  await clearInbox(work, session);
  session.record({
    type: "session_updated",
    reason: "supervisor_disabled",
    data: { supervisor: false, detached: links.length },
  });
  await recordOrchestration(work, row, { action: "supervisor_disabled", by: principalKey(by) });
}
