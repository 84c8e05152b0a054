/** The only SQL on tasks and their dependencies. */
import { builder, inserter, type Reader, statements, type Tx } from "#base/store/index.ts";
import type { TaskLink, TaskStatus } from "./contract.ts";
import type { DependencyRow, TaskRow, TaskTables } from "./schema.ts";

const prepare = statements<TaskTables>();
/** Chunk size: both databases limit the parameters of one statement. */
const IDS_AT_ONCE = 500;

function inPieces<T>(ids: readonly string[], act: (piece: readonly string[]) => Promise<T[]>) {
  const pieces: Promise<T[]>[] = [];
  for (let from = 0; from < ids.length; from += IDS_AT_ONCE)
    pieces.push(act(ids.slice(from, from + IDS_AT_ONCE)));
  return Promise.all(pieces).then((lists) => lists.flat());
}

const COLUMNS = [
  "id",
  "org_id",
  "session_id",
  "thread",
  "assignee_id",
  "parent_id",
  "title",
  "description",
  "status",
  "blocked_reason",
  "blocked_by_hand",
  "note",
  "result",
  "priority",
  "labels",
  "due_at",
  "due_key",
  "overdue_told_at",
  "position",
  "check_spec",
  "check_by",
  "changes",
  "created_by",
  "created_at",
  "updated_at",
  "settled_at",
] as const satisfies readonly (keyof TaskRow)[];

const insertTaskRows = inserter<TaskRow>("tasks", COLUMNS);
export function insertTask(tx: Tx, row: TaskRow): Promise<number> {
  return tx.execute(insertTaskRows(tx.dialect, [row]));
}

const selectTask = prepare<{ id: string }, TaskRow>((db, p) =>
  db.selectFrom("tasks").selectAll().where("id", "=", p("id")),
);
export function findTask(reader: Reader, id: string): Promise<TaskRow | undefined> {
  return reader.first(selectTask, { id });
}

const updateTaskRow = prepare<TaskRow, unknown>((db, p) =>
  db
    .updateTable("tasks")
    .set({
      thread: p("thread"),
      assignee_id: p("assignee_id"),
      parent_id: p("parent_id"),
      title: p("title"),
      description: p("description"),
      status: p("status"),
      blocked_reason: p("blocked_reason"),
      blocked_by_hand: p("blocked_by_hand"),
      note: p("note"),
      result: p("result"),
      priority: p("priority"),
      labels: p("labels"),
      due_at: p("due_at"),
      due_key: p("due_key"),
      overdue_told_at: p("overdue_told_at"),
      position: p("position"),
      check_spec: p("check_spec"),
      check_by: p("check_by"),
      changes: p("changes"),
      updated_at: p("updated_at"),
      settled_at: p("settled_at"),
    })
    .where("id", "=", p("id")),
);
export function saveTask(tx: Tx, row: TaskRow): Promise<number> {
  return tx.run(updateTaskRow, row);
}

const countOf = prepare<{ boardId: string }, { count: number }>((db, p) =>
  db
    .selectFrom("tasks")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("session_id", "=", p("boardId")),
);
export async function countTasks(reader: Reader, boardId: string): Promise<number> {
  return Number((await reader.first(countOf, { boardId }))?.count ?? 0);
}

const selectLastPosition = prepare<{ boardId: string }, { position: number }>((db, p) =>
  db
    .selectFrom("tasks")
    .select("position")
    .where("session_id", "=", p("boardId"))
    .orderBy("position", "desc")
    .limit(1),
);
export async function lastPosition(reader: Reader, boardId: string): Promise<number> {
  return Number((await reader.first(selectLastPosition, { boardId }))?.position ?? 0);
}

export interface TaskFilter {
  boardId: string;
  statuses?: readonly TaskStatus[] | undefined;
  /** `none`: unassigned tasks. */
  assigneeId?: string | undefined;
  /** `none`: tasks that are part of no other. */
  parentId?: string | undefined;
  label?: string | undefined;
  ids?: readonly string[] | undefined;
  /** `settled`: only settled tasks, the last one first. */
  order?: "board" | "settled" | undefined;
  after?: { at: number; id: string } | undefined;
  limit: number;
}

/** Lists tasks, by default in the order of the board. */
export function listTasks(reader: Reader, filter: TaskFilter): Promise<TaskRow[]> {
  const { boardId, statuses, assigneeId, parentId, label, ids, order, after, limit } = filter;
  let query = builder<TaskTables>(reader.dialect)
    .selectFrom("tasks")
    .selectAll()
    .where("session_id", "=", boardId);
  if (ids) query = query.where("id", "in", ids);
  if (statuses) query = query.where("status", "in", statuses);
  if (assigneeId === "none") query = query.where("assignee_id", "is", null);
  else if (assigneeId !== undefined) query = query.where("assignee_id", "=", assigneeId);
  if (parentId === "none") query = query.where("parent_id", "is", null);
  else if (parentId !== undefined) query = query.where("parent_id", "=", parentId);
  if (label !== undefined)
    query = query.where((eb) =>
      eb(
        eb.fn<number>(reader.dialect === "sqlite" ? "instr" : "strpos", [
          "labels",
          eb.val(`\n${label}\n`),
        ]),
        ">",
        0,
      ),
    );
  if (order === "settled") {
    query = query.where("settled_at", "is not", null);
    if (after)
      query = query.where((eb) =>
        eb.or([
          eb("settled_at", "<", after.at),
          eb.and([eb("settled_at", "=", after.at), eb("id", "<", after.id)]),
        ]),
      );
    const lastFirst = query.orderBy("settled_at", "desc").orderBy("id", "desc");
    return reader.query<TaskRow>(lastFirst.limit(limit).compile());
  }
  if (after)
    query = query.where((eb) =>
      eb.or([
        eb("position", ">", after.at),
        eb.and([eb("position", "=", after.at), eb("id", ">", after.id)]),
      ]),
    );
  return reader.query<TaskRow>(query.orderBy("position").orderBy("id").limit(limit).compile());
}

const selectReady = prepare<{ boardId: string; limit: number }, TaskRow>((db, p) =>
  db
    .selectFrom("tasks")
    .selectAll()
    .where("session_id", "=", p("boardId"))
    .where("status", "=", "pending")
    .where("assignee_id", "is", null)
    .orderBy("priority")
    .orderBy("due_key")
    .orderBy("position")
    .orderBy("id")
    .limit(p("limit")),
);
/** Lists the tasks that anybody could begin now: a pending task has no open blockers. */
export function listReady(reader: Reader, boardId: string, limit: number): Promise<TaskRow[]> {
  return reader.all(selectReady, { boardId, limit });
}

const selectOpenOf = prepare<{ assigneeId: string }, TaskRow>((db, p) =>
  db
    .selectFrom("tasks")
    .selectAll()
    .where("assignee_id", "=", p("assigneeId"))
    .where("status", "in", ["pending", "in_progress", "blocked"])
    .orderBy("position")
    .orderBy("id"),
);
/** Lists the open tasks of a session, on any board. */
export function listOpenOf(reader: Reader, assigneeId: string): Promise<TaskRow[]> {
  return reader.all(selectOpenOf, { assigneeId });
}

const insertEdges = inserter<DependencyRow>("task_dependencies", [
  "task_id",
  "blocked_by",
  "session_id",
]);
const dropEdges = prepare<{ taskId: string }, unknown>((db, p) =>
  db.deleteFrom("task_dependencies").where("task_id", "=", p("taskId")),
);
export async function saveBlockers(
  tx: Tx,
  { id, session_id }: TaskRow,
  blockers: readonly string[],
): Promise<void> {
  await tx.run(dropEdges, { taskId: id });
  if (blockers.length === 0) return;
  const rows = blockers.map((blocked_by) => ({ task_id: id, blocked_by, session_id }));
  await tx.execute(insertEdges(tx.dialect, rows));
}

export interface Edge {
  task_id: string;
  blocked_by: string;
  status: TaskStatus;
}
/** Lists the blockers of these tasks, with their status. */
export function listBlockers(reader: Reader, taskIds: readonly string[]): Promise<Edge[]> {
  return inPieces(taskIds, (piece) =>
    reader.query<Edge>(
      builder<TaskTables>(reader.dialect)
        .selectFrom("task_dependencies as d")
        .innerJoin("tasks as b", "b.id", "d.blocked_by")
        .select(["d.task_id", "d.blocked_by", "b.status"])
        .where("d.task_id", "in", piece)
        .orderBy("d.task_id")
        .orderBy("d.blocked_by")
        .compile(),
    ),
  );
}

export function listTasksById(reader: Reader, ids: readonly string[]): Promise<TaskRow[]> {
  return inPieces(ids, (piece) =>
    reader.query<TaskRow>(
      builder<TaskTables>(reader.dialect)
        .selectFrom("tasks")
        .selectAll()
        .where("id", "in", piece)
        .compile(),
    ),
  );
}

/** Lists titles and status of these tasks. */
export function listLinks(reader: Reader, ids: readonly string[]): Promise<TaskLink[]> {
  return inPieces(ids, (piece) =>
    reader.query<TaskLink>(
      builder<TaskTables>(reader.dialect)
        .selectFrom("tasks")
        .select(["id", "title", "status"])
        .where("id", "in", piece)
        .compile(),
    ),
  );
}

/** Counts the parts of each of these tasks, and the completed ones among them. */
export async function countParts(reader: Reader, ids: readonly string[]) {
  const rows = await inPieces(ids, (piece) =>
    reader.query<{ parent_id: string; status: TaskStatus; count: number }>(
      builder<TaskTables>(reader.dialect)
        .selectFrom("tasks")
        .select((eb) => ["parent_id", "status", eb.fn.countAll<number>().as("count")])
        .where("parent_id", "in", piece)
        .groupBy(["parent_id", "status"])
        .compile(),
    ),
  );
  const parts = new Map<string, { total: number; completed: number }>();
  for (const { parent_id, status, count } of rows) {
    const known = parts.get(parent_id) ?? { total: 0, completed: 0 };
    known.total += Number(count);
    if (status === "completed") known.completed += Number(count);
    parts.set(parent_id, known);
  }
  return parts;
}

/** Lists the tasks that depend on any of these. */
export async function listDependents(reader: Reader, ids: readonly string[]): Promise<TaskRow[]> {
  const found = await inPieces(ids, (piece) =>
    reader.query<{ task_id: string }>(
      builder<TaskTables>(reader.dialect)
        .selectFrom("task_dependencies")
        .select("task_id")
        .where("blocked_by", "in", piece)
        .compile(),
    ),
  );
  const rows = await listTasksById(reader, [...new Set(found.map(({ task_id }) => task_id))]);
  return rows.sort((a, b) => a.position - b.position || (a.id < b.id ? -1 : 1));
}

export function listSubtaskIds(reader: Reader, ids: readonly string[]): Promise<string[]> {
  return inPieces(ids, async (piece) => {
    const rows = await reader.query<{ id: string }>(
      builder<TaskTables>(reader.dialect)
        .selectFrom("tasks")
        .select("id")
        .where("parent_id", "in", piece)
        .compile(),
    );
    return rows.map(({ id }) => id);
  });
}

export async function deleteTasks(tx: Tx, ids: readonly string[]): Promise<void> {
  const db = builder<TaskTables>(tx.dialect);
  for (let from = 0; from < ids.length; from += IDS_AT_ONCE) {
    const piece = ids.slice(from, from + IDS_AT_ONCE);
    await tx.execute(db.deleteFrom("task_dependencies").where("task_id", "in", piece).compile());
    await tx.execute(db.deleteFrom("task_dependencies").where("blocked_by", "in", piece).compile());
    await tx.execute(db.deleteFrom("task_checks").where("task_id", "in", piece).compile());
    await tx.execute(db.deleteFrom("task_changes").where("task_id", "in", piece).compile());
    await tx.execute(db.deleteFrom("tasks").where("id", "in", piece).compile());
  }
}
