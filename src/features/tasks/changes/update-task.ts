/**
 * Changes a task. Its dependents and the notices follow in the same transaction. A task whose check has
 * not passed stays unchanged, but the result of the check is kept: that refusal is returned, not
 * thrown.
 */
import type { Refusal } from "#base/refusal.ts";
import { cleanJson, cleanText } from "#base/text/clean-text.ts";
import { type BoardEdit, causeOf, requireAssignee } from "../board/board.ts";
import { factsOf, statusChanged } from "../board/dependents.ts";
import { requireBlockers, requireParent } from "../board/graph.ts";
import { requireChange } from "../board/rights.ts";
import { checkTask, requireCheckable } from "../checks/check-task.ts";
import { MAX_REASON_CHARS, type TaskChange } from "../contract.ts";
import { sendBoardNotices } from "../notify.ts";
import { type Edge, listBlockers, saveBlockers } from "../queries.ts";
import type { TaskRow } from "../schema.ts";
import {
  assignmentNotice,
  cleaned,
  dueInstant,
  dueKey,
  labelsText,
  priorityNumber,
} from "./create-task.ts";
import { saveChanged } from "./record-changes.ts";
import { isSettled, nextStatus } from "./status.ts";

export interface Updated {
  task: TaskRow;
  /** Tasks that this change has unblocked. */
  unblocked: TaskRow[];
}

export async function updateTask(
  edit: BoardEdit,
  before: TaskRow,
  change: TaskChange,
): Promise<Updated | { refused: Refusal }> {
  const { work, actor } = edit;
  requireChange(actor, before, change);
  const row = await withFields(edit, before, change);
  const blockers = await blockersFor(edit, row, change);
  if (change.parentTaskId != null)
    await requireParent(work.tx, row.session_id, row.id, change.parentTaskId);
  await assign(edit, row, change);
  applyStatus(edit, row, blockers, change);
  if (row.status === "completed" && before.status !== "completed") {
    row.assignee_id ??= row.check_spec === null ? null : actor.sessionId;
    const refused = await checkTask(edit, row);
    if (refused) return { refused };
  }
  if (change.blockedBy) await saveBlockers(work.tx, row, idsOf(blockers.now));
  await saveChanged(edit, before, row, blockers.changes);
  const unblocked = await statusChanged(edit, before, row);
  const isGiven = row.assignee_id !== null && row.assignee_id !== before.assignee_id;
  if (isGiven && actor.kind === "person" && row.status === "pending")
    edit.notices.push(assignmentNotice(row));
  await sendBoardNotices(work, edit.notices, causeOf(actor));
  return { task: row, unblocked };
}

async function withFields(edit: BoardEdit, before: TaskRow, change: TaskChange): Promise<TaskRow> {
  const { actor } = edit;
  const row = { ...before };
  const { title, description, result, parentTaskId, priority, labels, position, check } = change;
  if (title !== undefined) row.title = cleanText(title);
  if (description !== undefined) row.description = cleaned(description);
  if (result !== undefined) row.result = cleaned(result);
  if (parentTaskId !== undefined) row.parent_id = parentTaskId;
  if (priority !== undefined) row.priority = priorityNumber(priority);
  if (labels !== undefined) row.labels = labelsText(labels);
  if (position !== undefined) row.position = position;
  if (change.dueAt !== undefined) {
    row.due_at = await dueInstant(edit, change.dueAt);
    row.due_key = dueKey(row.due_at);
    if (row.due_at !== before.due_at) row.overdue_told_at = null;
  }
  if (check !== undefined) {
    if (check) requireCheckable(check);
    row.check_spec = check && cleanJson(check);
    row.check_by = check && actor.key;
  }
  return row;
}

interface Blockers {
  now: readonly Pick<Edge, "blocked_by" | "status">[];
  changes: { field: string; from: string; to: string }[];
}

async function blockersFor(
  { work }: BoardEdit,
  row: TaskRow,
  { blockedBy }: TaskChange,
): Promise<Blockers> {
  const before = await listBlockers(work.tx, [row.id]);
  if (!blockedBy) return { now: before, changes: [] };
  const rows = await requireBlockers(work.tx, row.session_id, row.id, blockedBy);
  const now = rows.map(({ id, status }) => ({ blocked_by: id, status }));
  const [from, to] = [idsOf(before).sort().join(", "), idsOf(now).sort().join(", ")];
  return { now, changes: from === to ? [] : [{ field: "blockedBy", from, to }] };
}

function idsOf(edges: Blockers["now"]): string[] {
  return edges.map(({ blocked_by }) => blocked_by);
}

/** Assigns the task. A child that begins an unassigned task takes it. */
async function assign(edit: BoardEdit, row: TaskRow, change: TaskChange): Promise<void> {
  const { actor } = edit;
  const takes = actor.kind === "child" && row.assignee_id === null && change.status !== undefined;
  if (change.sessionId === undefined) {
    if (takes && change.status !== "pending") row.assignee_id = actor.sessionId;
    return;
  }
  if (change.sessionId !== null && change.sessionId !== row.assignee_id)
    await requireAssignee(edit, change.sessionId);
  row.assignee_id = change.sessionId;
}

function applyStatus(
  { work, actor }: BoardEdit,
  row: TaskRow,
  { now }: Blockers,
  { status, blockedReason, blockedBy, result }: TaskChange,
): void {
  if (status === undefined && blockedReason === undefined && blockedBy === undefined) return;
  const before = { status: row.status, reason: row.blocked_reason };
  const openBlockers = idsOf(now.filter((blocker) => blocker.status !== "completed"));
  const next = nextStatus(
    { ...factsOf(row), openBlockers },
    {
      status,
      blockedReason: blockedReason && cleanText(blockedReason),
      result: result && cleanText(result.slice(0, MAX_REASON_CHARS)),
    },
  );
  row.status = next.status;
  row.blocked_reason = next.blockedReason;
  if (next.blockedReason !== before.reason)
    row.blocked_by_hand = next.blockedReason === null ? null : actor.key;
  // The note concerned blockers that no longer hold the task back.
  if (row.status !== "blocked" || openBlockers.length === 0) row.note = null;
  if (!isSettled(row.status)) row.settled_at = null;
  else if (row.status !== before.status) row.settled_at = work.now;
}
