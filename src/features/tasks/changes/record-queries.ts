/** The only SQL on the records beside tasks: changes, checks, and the prompts that carry notices. */
import { builder, inserter, type Reader, statements, type Tx } from "#base/store/index.ts";
import type { TaskChangeRow, TaskCheckRow, TaskNoticeRow, TaskTables } from "../schema.ts";

const prepare = statements<TaskTables>();

const insertChangeRows = inserter<TaskChangeRow>("task_changes", [
  "task_id",
  "number",
  "session_id",
  "by",
  "at",
  "field",
  "was",
  "became",
]);
const dropOldChanges = prepare<{ taskId: string; through: number }, unknown>((db, p) =>
  db
    .deleteFrom("task_changes")
    .where("task_id", "=", p("taskId"))
    .where("number", "<=", p("through")),
);
/** Inserts changes. `kept`: number of a task's newest changes that stay. */
export async function insertChanges(
  tx: Tx,
  rows: readonly TaskChangeRow[],
  kept: number,
): Promise<void> {
  const last = rows.at(-1);
  if (!last) return;
  await tx.execute(insertChangeRows(tx.dialect, rows));
  if (last.number > kept)
    await tx.run(dropOldChanges, { taskId: last.task_id, through: last.number - kept });
}

const selectChanges = prepare<{ taskId: string }, TaskChangeRow>((db, p) =>
  db
    .selectFrom("task_changes")
    .selectAll()
    .where("task_id", "=", p("taskId"))
    .orderBy("number", "desc"),
);
/** Lists the changes of a task, newest first. */
export function listChanges(reader: Reader, taskId: string): Promise<TaskChangeRow[]> {
  return reader.all(selectChanges, { taskId });
}

const insertCheckRow = inserter<TaskCheckRow>("task_checks", [
  "id",
  "org_id",
  "session_id",
  "task_id",
  "checked_session_id",
  "seq",
  "kind",
  "subject",
  "passed",
  "exit_code",
  "output",
  "at",
]);
const selectChecks = prepare<{ taskId: string }, TaskCheckRow>((db, p) =>
  db
    .selectFrom("task_checks")
    .selectAll()
    .where("task_id", "=", p("taskId"))
    .orderBy("at", "desc")
    .orderBy("seq", "desc"),
);
/** Lists the check results of a task, newest first. */
export function listChecks(reader: Reader, taskId: string): Promise<TaskCheckRow[]> {
  return reader.all(selectChecks, { taskId });
}

export type CheckMark = Pick<TaskCheckRow, "task_id" | "subject" | "passed" | "at">;
/** Lists check results without their output, oldest first. At most as many ids as a page has tasks. */
export async function listCheckMarks(
  reader: Reader,
  taskIds: readonly string[],
): Promise<CheckMark[]> {
  if (taskIds.length === 0) return [];
  return reader.query<CheckMark>(
    builder<TaskTables>(reader.dialect)
      .selectFrom("task_checks")
      .select(["task_id", "subject", "passed", "at"])
      .where("task_id", "in", taskIds)
      .orderBy("at")
      .orderBy("seq")
      .compile(),
  );
}

const dropCheck = prepare<{ id: string }, unknown>((db, p) =>
  db.deleteFrom("task_checks").where("id", "=", p("id")),
);
/** Keeps each result once, and of a task's results the newest `kept`. */
export async function keepCheck(tx: Tx, row: TaskCheckRow, kept: number): Promise<void> {
  const known = await listChecks(tx, row.task_id);
  const isKnown = known.some(
    ({ checked_session_id, seq, subject }) =>
      checked_session_id === row.checked_session_id && seq === row.seq && subject === row.subject,
  );
  if (isKnown) return;
  await tx.execute(insertCheckRow(tx.dialect, [row]));
  for (const { id } of known.slice(kept - 1)) await tx.run(dropCheck, { id });
}

const selectNotice = prepare<{ sessionId: string; thread: string }, TaskNoticeRow>((db, p) =>
  db
    .selectFrom("task_notices")
    .selectAll()
    .where("session_id", "=", p("sessionId"))
    .where("thread", "=", p("thread")),
);
export function findNotice(
  reader: Reader,
  sessionId: string,
  thread: string,
): Promise<TaskNoticeRow | undefined> {
  return reader.first(selectNotice, { sessionId, thread });
}

const upsertNotice = prepare<TaskNoticeRow, unknown>((db, p) =>
  db
    .insertInto("task_notices")
    .values({
      session_id: p("session_id"),
      thread: p("thread"),
      board_id: p("board_id"),
      prompt_id: p("prompt_id"),
      held: p("held"),
    })
    .onConflict((conflict) =>
      conflict.columns(["session_id", "thread"]).doUpdateSet({
        board_id: p("board_id"),
        prompt_id: p("prompt_id"),
        held: p("held"),
      }),
    ),
);
export function saveNotice(tx: Tx, row: TaskNoticeRow): Promise<number> {
  return tx.run(upsertNotice, row);
}

const selectHeld = prepare<{ boardId: string }, TaskNoticeRow>((db, p) =>
  db
    .selectFrom("task_notices")
    .selectAll()
    .where("board_id", "=", p("boardId"))
    .where("held", "is not", null)
    .orderBy("session_id")
    .orderBy("thread"),
);
/** Lists notices that are held until a person speaks. */
export function listHeld(reader: Reader, boardId: string): Promise<TaskNoticeRow[]> {
  return reader.all(selectHeld, { boardId });
}
