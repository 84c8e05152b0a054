/** Saves changed tasks. Each change is recorded with its author, time and field. */
import { clearTimer, setTimer } from "#engine/index.ts";
import { type BoardEdit, hint } from "../board/board.ts";
import { TASK_PRIORITIES } from "../contract.ts";
import { saveTask } from "../queries.ts";
import type { TaskChangeRow, TaskRow } from "../schema.ts";
import { insertChanges } from "./record-queries.ts";
import { isSettled } from "./status.ts";

export const DUE_TIMER = "task_due";
const CHANGES_KEPT = 100;
const SHORT_CHARS = 300;

/** Fields that are recorded with their value. Of the long fields only the change is recorded. */
const SHORT: Readonly<Record<string, (row: TaskRow) => string | null>> = {
  title: ({ title }) => title,
  status: ({ status }) => status,
  sessionId: ({ assignee_id }) => assignee_id,
  parentTaskId: ({ parent_id }) => parent_id,
  priority: ({ priority }) => TASK_PRIORITIES[priority] ?? null,
  labels: ({ labels }) => labels.trim().replaceAll("\n", ", "),
  dueAt: ({ due_at }) => (due_at === null ? null : new Date(due_at).toISOString()),
  position: ({ position }) => String(position),
  blockedReason: ({ blocked_reason }) => blocked_reason,
  note: ({ note }) => note,
};
const LONG: Readonly<Record<string, (row: TaskRow) => string | null>> = {
  description: ({ description }) => description,
  result: ({ result }) => result,
  check: ({ check_spec }) => check_spec,
};

/** Saves a task and records the differences. `more`: changes that are not in the row. */
export async function saveChanged(
  edit: Pick<BoardEdit, "work" | "board" | "actor">,
  before: TaskRow,
  row: TaskRow,
  more: readonly { field: string; from: string; to: string }[] = [],
): Promise<void> {
  const { work, actor } = edit;
  const found = [
    ...differences(SHORT, before, row, cut),
    ...differences(LONG, before, row, () => null),
    ...more.map(({ field, from, to }) => ({ field, was: cut(from), became: cut(to) })),
  ];
  if (found.length === 0) return;
  row.updated_at = work.now;
  await insertChanges(work.tx, numbered(row, actor.key, work.now, found), CHANGES_KEPT);
  await saveTask(work.tx, row);
  if (before.due_at !== row.due_at || isSettled(before.status) !== isSettled(row.status))
    await watchDue(edit, row);
  hint(edit, row.id);
}

/**
 * Sets or clears the timer of the due date.
 * A settled task is not overdue, and the notice is sent only once.
 */
export async function watchDue({ work }: Pick<BoardEdit, "work">, row: TaskRow): Promise<void> {
  const isWatched = row.due_at !== null && row.overdue_told_at === null && !isSettled(row.status);
  if (isWatched) await setTimer(work, DUE_TIMER, row.id, row.org_id, row.due_at as number);
  else await clearTimer(work.tx, DUE_TIMER, row.id);
}

type Difference = Pick<TaskChangeRow, "field" | "was" | "became">;

function differences(
  fields: typeof SHORT,
  before: TaskRow,
  row: TaskRow,
  show: (text: string | null) => string | null,
): Difference[] {
  return Object.entries(fields).flatMap(([field, read]) => {
    const [was, became] = [read(before), read(row)];
    return was === became ? [] : [{ field, was: show(was), became: show(became) }];
  });
}

function numbered(
  row: TaskRow,
  by: string,
  at: number,
  found: readonly Difference[],
): TaskChangeRow[] {
  return found.map((difference) => {
    row.changes += 1;
    const { id: task_id, session_id, changes: number } = row;
    return { task_id, number, session_id, by, at, ...difference };
  });
}

function cut(text: string | null): string | null {
  if (text === null || text.length <= SHORT_CHARS) return text;
  return `${text.slice(0, SHORT_CHARS - 1).toWellFormed()}…`;
}
