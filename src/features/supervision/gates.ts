/**
 * Access checks of supervisor mode. The mode is available unless the server's operator disabled it;
 * orchestrators are not affected.
 */
import { notFound, Refusal } from "#base/refusal.ts";
import {
  may,
  type Principal,
  type SessionRow,
  type SessionWriter,
  sessionResource,
  type Work,
} from "#engine/index.ts";
import { findSession, requireReadable } from "#engine/sessions/index.ts";
import { findLink, type LinkRow } from "#features/delegation/index.ts";
import { type DisabledReason, REFUSAL_KINDS, type SupervisionRefusal } from "./contract.ts";

/** Role of a session in supervisor mode. */
export const ROLE = "supervisor";

export interface SupervisionSettings {
  /** Null if supervisor mode is available. */
  disabledReason: DisabledReason | null;
  workersPerSupervisor: number;
  maxDepth: number;
  /** True if an agent may have a worker deleted at once, with everything it wrote. */
  allowDelete: boolean;
}

/** MINIMAL_UI disables supervisor mode, whatever else is set. */
export function disabledReason({
  disabled,
  minimalUi,
}: {
  disabled: boolean;
  minimalUi: boolean;
}): DisabledReason | null {
  if (minimalUi) return "minimal_ui_disabled";
  return disabled ? "orchestration_disabled" : null;
}

const WORDS: Readonly<Record<SupervisionRefusal, string>> = {
  orchestration_disabled:
    "Supervisor mode is disabled on this server. Whoever runs it can remove ORCHESTRATION_DISABLED.",
  minimal_ui_disabled:
    "Supervisor mode is not available with MINIMAL_UI. Whoever runs this server can remove it.",
  not_owner: "Only the session's owner may do that. Ask them.",
  depth_limit_exceeded:
    "This session is a worker, and a worker cannot have workers. Detach it from its supervisor first.",
  fanout_limit_exceeded:
    "The supervisor has the maximum number of live workers. Kill or detach one first.",
  supervisor_mode_off:
    "The parent session is not in supervisor mode, so it has no workers. Enable supervisor mode for it, or leave parentSessionId out.",
  different_project:
    "A worker works in the project of its supervisor. Leave repo and projectDir out, or start a session without a parent.",
  supervisor_not_found:
    "There is no such supervisor. Check the id, or enable supervisor mode for the session first.",
  worker_not_found: "There is no such worker. List the workers to see their ids.",
  worker_already_linked: "This session is already a worker. Detach it first.",
  worker_not_linked: "This session is not a worker of this supervisor. List its workers.",
  worker_not_live:
    "This worker was archived or has ended. Spawn another, or have a person resume it.",
};

export function refuse(code: SupervisionRefusal, words = WORDS[code]): Refusal {
  return new Refusal(REFUSAL_KINDS[code], code, words);
}

export function requireOpen({
  disabledReason: reason,
}: Pick<SupervisionSettings, "disabledReason">): void {
  if (reason !== null) throw refuse(reason);
}

/**
 * Returns the locked session for its owner. A caller who may not read the session gets `missing`.
 */
export async function requireOwn(
  work: Work,
  principal: Principal,
  id: string,
  missing: Refusal = notFound("session"),
): Promise<SessionWriter> {
  const session = await work.session(id);
  if (session && may(principal, "session.manage", sessionResource(session.row))) return session;
  if (session && (await maySee(work, principal, session.row))) throw refuse("not_owner");
  throw missing;
}

async function maySee(work: Work, principal: Principal, row: SessionRow): Promise<boolean> {
  try {
    await requireReadable(work.tx, principal, row, work.now);
    return true;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}

/**
 * Requires the caller's own supervisor. A missing session, another person's and one that is no
 * supervisor get the same refusal.
 */
export async function requireSupervisor(
  work: Work,
  principal: Principal,
  id: string,
): Promise<SessionWriter> {
  const session = await requireOwn(work, principal, id, refuse("supervisor_not_found"));
  if (session.row.role !== ROLE) throw refuse("supervisor_not_found");
  return session;
}

/** Requires a worker of this supervisor, locked after it, for the owner of both. */
export async function requireWorker(
  work: Work,
  principal: Principal,
  supervisor: SessionWriter,
  workerId: string,
): Promise<{ worker: SessionWriter; link: LinkRow }> {
  const link = await findLink(work.tx, workerId);
  if (link?.parent_session_id === supervisor.row.id) {
    const missing = refuse("worker_not_found");
    return { worker: await requireOwn(work, principal, workerId, missing), link };
  }
  // Not locked: the session belongs elsewhere in the lock order.
  const row = await findSession(work.tx, workerId);
  if (!row || !(await maySee(work, principal, row))) throw refuse("worker_not_found");
  const isOwn = may(principal, "session.manage", sessionResource(row));
  throw refuse(isOwn ? "worker_not_linked" : "not_owner");
}
