/** Reads tasks and builds the views that the API returns. */
import type { Reader } from "#base/store/index.ts";
import { decodeCursor, pageOf } from "#engine/requests/index.ts";
import { findSession, isoTime } from "#engine/sessions/index.ts";
import type { Page } from "#protocol/page.ts";
import { listChanges, listCheckMarks, listChecks } from "../changes/record-queries.ts";
import { isSettled } from "../changes/status.ts";
import { checkOf, checkSubject } from "../checks/check-task.ts";
import {
  MAX_NAMED,
  TASK_PRIORITIES,
  type Task,
  type TaskCard,
  type TaskCheckRun,
  type TaskDetail,
  type TaskLink,
  type TaskPage,
} from "../contract.ts";
import {
  countParts,
  listBlockers,
  listDependents,
  listLinks,
  listReady,
  listTasks,
  type TaskFilter,
} from "../queries.ts";
import type { TaskCheckRow, TaskRow } from "../schema.ts";

const LIST = "tasks";
/** Cursor name of the settled list, whose positions are times. */
const SETTLED_LIST = "tasks:settled";

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

type PageFilter = Omit<TaskFilter, "after"> & { cursor?: string | undefined };

async function readRows(reader: Reader, filter: PageFilter): Promise<Page<TaskRow>> {
  const { cursor, limit, ...wanted } = filter;
  const isSettledFirst = wanted.order === "settled";
  const list = isSettledFirst ? SETTLED_LIST : LIST;
  const after = decodeCursor(list, cursor, { isFraction: !isSettledFirst });
  const rows = await listTasks(reader, { ...wanted, after, limit: limit + 1 });
  return pageOf(
    list,
    rows,
    limit,
    ({ position, settled_at, id }) => ({ at: isSettledFirst ? (settled_at ?? 0) : position, id }),
    (row) => row,
  );
}

export async function readPage(
  reader: Reader,
  filter: PageFilter,
  now: number,
): Promise<Page<Task>> {
  const { items, next } = await readRows(reader, filter);
  return { items: await viewTasks(reader, items, now), next };
}

/** Reads tasks as cards for people, with the names of related tasks and sessions. */
export async function readCards(
  reader: Reader,
  filter: PageFilter,
  now: number,
): Promise<Page<TaskCard>> {
  const { items, next } = await readRows(reader, filter);
  return { items: await viewCards(reader, items, now), next };
}

export async function viewCards(
  reader: Reader,
  rows: readonly TaskRow[],
  now: number,
): Promise<TaskCard[]> {
  const tasks = await viewTasks(reader, rows, now);
  const named = tasks.flatMap(({ blockedBy, parentTaskId }) => [...blockedBy, parentTaskId ?? ""]);
  const links = new Map((await listLinks(reader, [...new Set(named)])).map((to) => [to.id, to]));
  const parts = await countParts(
    reader,
    tasks.map(({ id }) => id),
  );
  const checks = await lastChecks(reader, rows);
  const titles = await sessionTitles(reader, tasks);
  return tasks.map((task) => ({
    ...task,
    sessionTitle: titles.get(task.sessionId ?? "") ?? null,
    parent: links.get(task.parentTaskId ?? "") ?? null,
    blockers: task.blockedBy.flatMap((id) => links.get(id) ?? []),
    parts: parts.get(task.id) ?? { total: 0, completed: 0 },
    lastCheck: checks.get(task.id) ?? null,
  }));
}

/** Finds the last result of each task's present check. Results of an earlier check say nothing. */
async function lastChecks(reader: Reader, rows: readonly TaskRow[]) {
  const subjects = new Map(rows.flatMap((row) => subjectOf(row) ?? []));
  const last = new Map<string, { passed: boolean; at: string }>();
  for (const { task_id, subject, passed, at } of await listCheckMarks(reader, [...subjects.keys()]))
    if (subjects.get(task_id) === subject)
      last.set(task_id, { passed: passed === 1, at: isoTime(at) });
  return last;
}

function subjectOf(row: TaskRow): [[string, string]] | undefined {
  const check = checkOf(row);
  return check ? [[row.id, checkSubject(check)]] : undefined;
}

async function sessionTitles(reader: Reader, tasks: readonly Task[]) {
  const titles = new Map<string, string | null>();
  for (const id of new Set(tasks.map(({ sessionId }) => sessionId)))
    if (id !== null) titles.set(id, (await findSession(reader, id))?.title ?? null);
  return titles;
}

export async function readTaskPage(reader: Reader, row: TaskRow, now: number): Promise<TaskPage> {
  const detail = await readDetail(reader, row, now);
  const [task] = await viewCards(reader, [row], now);
  const parts = await listTasks(reader, {
    boardId: row.session_id,
    parentId: row.id,
    limit: MAX_NAMED,
  });
  const dependents = await listDependents(reader, [row.id]);
  return {
    ...detail,
    task: task as TaskCard,
    parts: parts.map(linkTo),
    dependents: dependents.slice(0, MAX_NAMED).map(linkTo),
  };
}

function linkTo({ id, title, status }: TaskRow): TaskLink {
  return { id, title, status };
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
