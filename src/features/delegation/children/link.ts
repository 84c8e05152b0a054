/**
 * Links a child to its parent and removes the link. Every child is linked when it is created, by
 * any route. The parent's limits are checked then, under the parent's lock, and again when the
 * child wakes.
 */

import { notFound, Refusal } from "#base/refusal.ts";
import type { Reader } from "#base/store/index.ts";
import type { KernelEvent, SessionRow, SessionWriter, Work } from "#engine/index.ts";
import { findSession } from "#engine/sessions/index.ts";
import { isOrchestrator, MAIN_THREAD } from "#protocol/sessions.ts";
import { recordOrchestration } from "../notify/note.ts";
import { inQuotes } from "../notify/words.ts";
import { forgetPlan } from "../plans/plan.ts";
import {
  countLiveChildren,
  deleteLink,
  findLink,
  insertLink,
  listActiveChildren,
  saveLink,
} from "../queries.ts";
import type { LinkRow } from "../schema.ts";
import { endOrphanedWaits } from "../waits/orphaned-waits.ts";
import { reserveBudget } from "./budget.ts";
import { isLive } from "./lifecycle.ts";

export interface DelegationLimits {
  /** Live workers of a session that is not an orchestrator. */
  workersPerSupervisor: number;
  /** Live children of an orchestrator. */
  childrenPerOrchestrator: number;
  /** Maximum depth of a session below its root. */
  maxDepth: number;
  /** Turns that agents and platform prompts may start in a tree until a person writes. */
  unattendedTurns: number;
}

export const DEFAULT_LIMITS: DelegationLimits = {
  workersPerSupervisor: 8,
  childrenPerOrchestrator: 100,
  maxDepth: 1,
  // Enough to start all the children that an orchestrator may have, and to let each report once.
  unattendedTurns: 200,
};

export async function linkChild(
  work: Work,
  { row }: SessionWriter,
  limits: DelegationLimits,
): Promise<void> {
  if (row.parent_session_id === null) return;
  if (row.depth > limits.maxDepth) {
    throw new Refusal(
      "conflict",
      "depth_limit_exceeded",
      "A child session cannot have children of its own. Do the work yourself, or tell your parent what else is needed.",
    );
  }
  if (await findLink(work.tx, row.id)) {
    throw new Refusal(
      "conflict",
      "worker_already_linked",
      "This session already has a parent. Detach it first.",
    );
  }
  // Locked, so that two concurrent spawns cannot exceed the limit.
  const parent = await work.session(row.parent_session_id);
  if (!parent) throw notFound("parent session");
  requireLive(parent.row);
  await requireRoom(work, parent.row, limits);
  const reserved = reserveBudget(parent.row, row);
  await insertLink(work.tx, {
    session_id: row.id,
    org_id: row.org_id,
    parent_session_id: row.parent_session_id,
    parent_thread: MAIN_THREAD,
    handoff: 0,
    is_silent: 0,
    quiet_run: null,
    returned_micros: 0,
    reserved_micros: reserved,
    created_at: work.now,
  });
  await recordOrchestration(work, parent.row, {
    action: "worker_spawned",
    by: row.created_by,
    childId: row.id,
  });
}

function requireLive(parent: SessionRow): void {
  if (isLive(parent)) return;
  throw new Refusal(
    "conflict",
    "session_not_active",
    `The parent session is ${parent.lifecycle} and cannot get children. Wake it first, or name another.`,
  );
}

/** Refuses to wake a child when its parent's limit is reached. */
export async function refuseOverLimit(
  work: Work,
  { session: { row }, by }: Pick<Waking, "session" | "by">,
  limits: DelegationLimits,
): Promise<Refusal | null> {
  const parent =
    row.parent_session_id === null ? undefined : await work.session(row.parent_session_id);
  const full = parent && (await findFullLimit(work, parent.row, limits));
  if (!parent || full === undefined) return null;
  const names = await nameLiveChildren(work, parent.row.id);
  return limitReached(by === "session" ? forAgent(full, names) : forPerson(full, names));
}

type Waking = Extract<KernelEvent, { type: "session_waking" }>;

async function requireRoom(
  work: Work,
  parent: SessionRow,
  limits: DelegationLimits,
): Promise<void> {
  const full = await findFullLimit(work, parent, limits);
  if (full !== undefined)
    throw limitReached(forAgent(full, await nameLiveChildren(work, parent.id)));
}

const NAMED = 20;

/** Names the active children, the one idle for longest first. */
async function nameLiveChildren(work: Work, parentId: string): Promise<string> {
  const live = await listActiveChildren(work.tx, parentId, NAMED + 1);
  const names = live.slice(0, NAMED).map(({ id, title, run_state }) => {
    const state = run_state === null ? "idle" : "working";
    return `${inQuotes(title ?? id)} (${id}, ${state})`;
  });
  return `${names.join(", ")}${live.length > NAMED ? " and others" : ""}`;
}

/** Limit that has been reached; undefined while there is room. */
async function findFullLimit(
  work: Work,
  parent: SessionRow,
  { workersPerSupervisor, childrenPerOrchestrator }: DelegationLimits,
): Promise<number | undefined> {
  const limit = isOrchestrator(parent) ? childrenPerOrchestrator : workersPerSupervisor;
  return (await countLiveChildren(work.tx, parent.id)) < limit ? undefined : limit;
}

const forAgent = (limit: number, names: string) =>
  `There are already ${limit} live child sessions, which is the limit of this session: ${names}. End or detach one you no longer need, or wait until one is done and end it.`;
const forPerson = (limit: number, names: string) =>
  `This session is asleep, and its parent already has ${limit} live children, which is its limit: ${names}. End, detach or hibernate one of them, or detach this one; then send it again.`;

function limitReached(words: string): Refusal {
  return new Refusal("limit", "fanout_limit_exceeded", words);
}

/** Removes the link. The session continues its work without a parent. */
export async function detach(work: Work, child: SessionWriter): Promise<void> {
  const from = child.row.parent_session_id;
  const parent = from === null ? undefined : await work.session(from);
  await deleteLink(work.tx, child.row.id);
  child.row.parent_session_id = null;
  child.row.root_session_id = child.row.id;
  child.row.depth = 0;
  // Without a parent nobody decides on its plan.
  await forgetPlan(work, child);
  child.record({ type: "session_updated", reason: "detached", data: { from } });
  await work.emit({ type: "session_changed", session: child, fields: ["parentSessionId"] });
  if (parent) await endOrphanedWaits(work, parent, child.row.id);
}

/** Stops notifications about a child that its parent ended. */
export async function muteChild(work: Work, link: LinkRow): Promise<void> {
  link.is_silent = 1;
  await saveLink(work.tx, link);
}

export async function muteRun(work: Work, link: LinkRow, runId: string): Promise<void> {
  link.quiet_run = runId;
  await saveLink(work.tx, link);
}

/**
 * Returns the child and its link, locked. A missing child and another parent's child get the same
 * refusal.
 */
export async function requireChild(
  work: Work,
  parentId: string,
  childId: string,
  { code = "worker_not_linked" }: { code?: string } = {},
): Promise<{ child: SessionWriter; link: LinkRow }> {
  const link = await findLink(work.tx, childId);
  const child = link?.parent_session_id === parentId ? await work.session(childId) : undefined;
  if (!link || !child) throw notLinked(childId, code);
  return { child, link };
}

/** Returns the child's row without a lock, for reading. */
export async function requireChildRow(
  reader: Reader,
  parentId: string,
  childId: string,
): Promise<SessionRow> {
  const link = await findLink(reader, childId);
  const row = link?.parent_session_id === parentId ? await findSession(reader, childId) : undefined;
  if (!row) throw notLinked(childId, "worker_not_linked");
  return row;
}

function notLinked(childId: string, code: string): Refusal {
  return new Refusal(
    code === "worker_not_linked" ? "conflict" : "not_found",
    code,
    `You have no child session ${childId}. List your children to see their ids.`,
  );
}
