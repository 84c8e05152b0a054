/** Creates a task with its parent, its blockers and its assignee. */
import { Refusal } from "#base/refusal.ts";
import { cleanJson, cleanText } from "#base/text/clean-text.ts";
import {
  isLocalTime,
  type LocalTimeSettings,
  UTC_SETTINGS,
  zonedInstant,
} from "#base/zoned-time.ts";
import type { SessionRow, Work } from "#engine/index.ts";
import { findUser } from "#features/auth/index.ts";
import { MAIN_THREAD } from "#protocol/sessions.ts";
import { type BoardEdit, causeOf, hint, requireAssignee } from "../board/board.ts";
import { requireBlockers, requireParent } from "../board/graph.ts";
import { requireCreate } from "../board/rights.ts";
import { namedTask, nameOf } from "../board-text.ts";
import { requireCheckable } from "../checks/check-task.ts";
import { type NewTask, TASK_PRIORITIES, type TaskPriority } from "../contract.ts";
import { noticeForAssignee, sendBoardNotices } from "../notify.ts";
import { countTasks, insertTask, lastPosition, saveBlockers } from "../queries.ts";
import type { TaskRow } from "../schema.ts";
import { watchDue } from "./record-changes.ts";
import { insertChanges } from "./record-queries.ts";

export const MAX_TASKS = 20_000;

/** `id` was minted before the command. */
export async function createTask(edit: BoardEdit, id: string, input: NewTask): Promise<TaskRow> {
  const { work, board, actor } = edit;
  requireCreate(actor, input);
  const { blockedBy = [], parentTaskId, sessionId, check, title } = input;
  await requireRoom(edit);
  if (check) requireCheckable(check);
  if (sessionId != null) await requireAssignee(edit, sessionId);
  if (parentTaskId != null) await requireParent(work.tx, board.row.id, null, parentTaskId);
  const blockers = await requireBlockers(work.tx, board.row.id, null, blockedBy);
  const isBlocked = blockers.some(({ status }) => status !== "completed");
  const failed = blockers.filter(({ status }) => status === "failed");
  const dueAt = await dueInstant(edit, input.dueAt);
  const row: TaskRow = {
    id,
    org_id: board.row.org_id,
    session_id: board.row.id,
    thread: actor.kind === "board" ? actor.thread : MAIN_THREAD,
    assignee_id: sessionId ?? null,
    parent_id: parentTaskId ?? null,
    title: cleanText(title),
    description: cleaned(input.description),
    status: isBlocked ? "blocked" : "pending",
    blocked_reason: null,
    blocked_by_hand: null,
    note:
      failed.length === 0
        ? null
        : `${failed.map(nameOf).join(", ")}, which it depends on, has failed.`,
    result: null,
    priority: priorityNumber(input.priority ?? "normal"),
    labels: labelsText(input.labels ?? []),
    due_at: dueAt,
    due_key: dueKey(dueAt),
    overdue_told_at: null,
    position: input.position ?? Math.floor(await lastPosition(work.tx, board.row.id)) + 1,
    check_spec: check ? cleanJson(check) : null,
    check_by: check ? actor.key : null,
    changes: 1,
    created_by: actor.key,
    created_at: work.now,
    updated_at: work.now,
    settled_at: null,
  };
  await insertTask(work.tx, row);
  await saveBlockers(
    work.tx,
    row,
    blockers.map((blocker) => blocker.id),
  );
  await recordCreation(edit, row);
  await watchDue(edit, row);
  hint(edit, id);
  if (actor.kind === "person" && row.assignee_id !== null && !isBlocked)
    edit.notices.push(assignmentNotice(row));
  await sendBoardNotices(work, edit.notices, causeOf(actor));
  return row;
}

async function requireRoom({ work, board }: BoardEdit): Promise<void> {
  if ((await countTasks(work.tx, board.row.id)) < MAX_TASKS) return;
  throw new Refusal(
    "conflict",
    "task_limit_reached",
    `This board has ${MAX_TASKS} tasks, which is the limit. Delete some that are settled.`,
  );
}

async function recordCreation({ work, actor }: BoardEdit, row: TaskRow): Promise<void> {
  const { id: task_id, session_id, status: became } = row;
  const fact = { field: "created", was: null, became };
  const change = { task_id, number: 1, session_id, by: actor.key, at: work.now, ...fact };
  await insertChanges(work.tx, [change], 1);
}

/** Notice for the assignee of a task that a person has assigned; it makes the assignee begin. */
export function assignmentNotice(row: TaskRow) {
  return noticeForAssignee(row, { event: "assigned", task: namedTask(row) });
}

export function cleaned(text: string | null | undefined): string | null {
  return text == null || text === "" ? null : cleanText(text);
}

export function priorityNumber(priority: TaskPriority): number {
  return TASK_PRIORITIES.indexOf(priority);
}

export function labelsText(labels: readonly string[]): string {
  const each = [...new Set(labels.map(cleanText))];
  return each.length === 0 ? "" : `\n${each.join("\n")}\n`;
}

/** Resolves a due time. A time without a zone is in the time zone of the board's owner. */
export async function dueInstant(
  { work, board }: Pick<BoardEdit, "work" | "board">,
  dueAt: string | null | undefined,
): Promise<number | null> {
  if (dueAt == null) return null;
  const place = isLocalTime(dueAt) ? await placeOf(work, board.row) : UTC_SETTINGS;
  return zonedInstant(dueAt, place);
}

/** Time zone and locale of the session's owner. */
export async function placeOf(
  { tx }: Pick<Work, "tx">,
  { owner_id }: Pick<SessionRow, "owner_id">,
): Promise<LocalTimeSettings> {
  return (owner_id === null ? undefined : await findUser(tx, owner_id)) ?? UTC_SETTINGS;
}

export function dueKey(dueAt: number | null): number {
  return dueAt ?? Number.MAX_SAFE_INTEGER;
}
