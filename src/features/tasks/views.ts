/** Tasks as they are shown, and reading them. */
import type { Reader } from "#base/store/index.ts";
import { decodeCursor, pageOf } from "#engine/cursor.ts";
import { isoTime } from "#engine/sessions/index.ts";
import type { Page } from "#protocol/page.ts";
import { checkOf } from "./check-task.ts";
import { TASK_PRIORITIES, type Task, type TaskCheckRun, type TaskDetail } from "./contract.ts";
import { listBlockers, listReady, listTasks, type TaskFilter } from "./queries.ts";
import { listChanges, listChecks } from "./record-queries.ts";
import type { TaskCheckRow, TaskRow } from "./schema.ts";
import { isSettled } from "./status.ts";

const LIST = "tasks";

export async function viewTasks(
  reader: Reader,
  rows: readonly TaskRow[],
  now: number,
): Promise<Task[]> {
  const blockedBy = new Map<string, string[]>();
  const open = new Map<string, string[]>();
  const ids = rows.map(({ id }) => id);
  for (const { task_id, blocked_by, status } of await listBlockers(reader, ids)) {
    blockedBy.set(task_id, [...(blockedBy.get(task_id) ?? []), blocked_by]);
    if (status !== "completed") open.set(task_id, [...(open.get(task_id) ?? []), blocked_by]);
  }
  return rows.map((row) => ({
    ...plain(row, now),
    blockedBy: blockedBy.get(row.id) ?? [],
    openBlockers: open.get(row.id) ?? [],
  }));
}

export async function viewTask(reader: Reader, row: TaskRow, now: number): Promise<Task> {
  return (await viewTasks(reader, [row], now))[0] as Task;
}

function plain(row: TaskRow, now: number): Omit<Task, "blockedBy" | "openBlockers"> {
  return {
    id: row.id,
    boardId: row.session_id,
    sessionId: row.assignee_id,
    parentTaskId: row.parent_id,
    title: row.title,
    description: row.description,
    status: row.status,
    blockedReason: row.blocked_reason,
    note: row.note,
    result: row.result,
    priority: TASK_PRIORITIES[row.priority] ?? "normal",
    labels: row.labels.split("\n").filter((label) => label !== ""),
    dueAt: row.due_at === null ? null : isoTime(row.due_at),
    isOverdue: row.due_at !== null && row.due_at < now && !isSettled(row.status),
    position: row.position,
    check: checkOf(row),
    createdBy: row.created_by,
    createdAt: isoTime(row.created_at),
    updatedAt: isoTime(row.updated_at),
    settledAt: row.settled_at === null ? null : isoTime(row.settled_at),
  };
}

export async function readPage(
  reader: Reader,
  filter: Omit<TaskFilter, "after"> & { cursor?: string | undefined },
  now: number,
): Promise<Page<Task>> {
  const { cursor, limit, ...wanted } = filter;
  const after = decodeCursor(LIST, cursor);
  const rows = await listTasks(reader, { ...wanted, after, limit: limit + 1 });
  const page = pageOf(
    LIST,
    rows,
    limit,
    ({ position: at, id }) => ({ at, id }),
    (row) => row,
  );
  return { items: await viewTasks(reader, page.items, now), next: page.next };
}

export async function readReady(
  reader: Reader,
  boardId: string,
  limit: number,
  now: number,
): Promise<Task[]> {
  return viewTasks(reader, await listReady(reader, boardId, limit), now);
}

export async function readDetail(reader: Reader, row: TaskRow, now: number): Promise<TaskDetail> {
  const checks = await listChecks(reader, row.id);
  const changes = await listChanges(reader, row.id);
  return {
    task: await viewTask(reader, row, now),
    checks: checks.map(checkRun),
    changes: changes.map(({ at, by, field, was, became }) => ({
      at: isoTime(at),
      by,
      field,
      from: was,
      to: became,
    })),
  };
}

function checkRun(row: TaskCheckRow): TaskCheckRun {
  return {
    id: row.id,
    sessionId: row.checked_session_id,
    kind: row.kind,
    subject: row.subject,
    passed: row.passed === 1,
    exitCode: row.exit_code,
    output: row.output,
    at: isoTime(row.at),
  };
}
