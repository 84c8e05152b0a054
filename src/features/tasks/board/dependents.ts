/** Updates the dependents of a task, in the transaction that changes the task. */

import { namedTask, nameOf } from "../board-text.ts";
import { saveChanged } from "../changes/record-changes.ts";
import { isSettled, nextStatus } from "../changes/status.ts";
import { noticeForAssignee, noticeForBoard } from "../notify.ts";
import { listBlockers, listDependents } from "../queries.ts";
import type { TaskRow } from "../schema.ts";
import type { BoardEdit } from "./board.ts";

/** Lists the open blockers of each of these tasks. */
export async function openBlockersOf(
  { work }: Pick<BoardEdit, "work">,
  ids: readonly string[],
): Promise<Map<string, string[]>> {
  const open = new Map<string, string[]>(ids.map((id) => [id, []]));
  for (const { task_id, blocked_by, status } of await listBlockers(work.tx, ids))
    if (status !== "completed") open.get(task_id)?.push(blocked_by);
  return open;
}

/** Updates the dependents after a status change was saved; returns the tasks that became free. */
export async function statusChanged(
  edit: BoardEdit,
  before: TaskRow,
  task: TaskRow,
): Promise<TaskRow[]> {
  if (before.status === task.status) return [];
  const dependents = await listDependents(edit.work.tx, [task.id]);
  if (dependents.length === 0) return [];
  if (task.status === "failed") await blockerFailed(edit, task, dependents);
  if (task.status === "completed") return recomputeStatus(edit, dependents, freed(edit, task));
  if (before.status === "completed") return recomputeStatus(edit, dependents, () => {});
  if (before.status === "failed") return recomputeStatus(edit, dependents, clearNote);
  return [];
}

/** Updates the tasks that waited for deleted blockers; the edges to those are already gone. */
export async function blockersDeleted(
  edit: BoardEdit,
  deleted: ReadonlyMap<string, TaskRow>,
  waited: readonly { task: TaskRow; for: readonly string[] }[],
): Promise<TaskRow[]> {
  const gone = new Map(
    waited.map(({ task, for: ids }) => [
      task.id,
      ids.map((id) => namedTask(deleted.get(id) as TaskRow)),
    ]),
  );
  return recomputeStatus(
    edit,
    waited.map(({ task }) => task).filter(({ status }) => !isSettled(status)),
    (before, row) => {
      const blockers = gone.get(row.id) ?? [];
      row.note = `A task it depended on was deleted: ${blockers.map(nameOf).join(", ")}.`;
      const isFree = row.status === "pending" && before.status === "blocked";
      const event = { event: "blocker_deleted", task: namedTask(row), blockers, isFree } as const;
      edit.notices.push(noticeForAssignee(row, event), noticeForBoard(row, event));
    },
  );
}

type Revise = (before: TaskRow, row: TaskRow) => void;

/** Recomputes the status of each task from its blockers; `revise` sees each row before it is saved. */
async function recomputeStatus(
  edit: BoardEdit,
  tasks: readonly TaskRow[],
  revise: Revise,
): Promise<TaskRow[]> {
  const open = await openBlockersOf(
    edit,
    tasks.map(({ id }) => id),
  );
  const free: TaskRow[] = [];
  for (const before of tasks) {
    const row = { ...before };
    // Work that has begun goes on, and a settled task stays settled.
    if (before.status === "pending" || before.status === "blocked") {
      const facts = { ...factsOf(row), openBlockers: open.get(row.id) ?? [] };
      row.status = nextStatus(facts, {}).status;
    }
    revise(before, row);
    await saveChanged(edit, before, row);
    if (before.status === "blocked" && row.status === "pending") free.push(row);
  }
  return free;
}

function freed(edit: BoardEdit, blocker: TaskRow): Revise {
  return (before, row) => {
    if (before.status !== "blocked" || row.status !== "pending") return;
    row.note = null;
    const [task, by] = [namedTask(row), namedTask(blocker)];
    const isAssigned = row.assignee_id !== null;
    edit.notices.push(noticeForAssignee(row, { event: "unblocked", task, by, isAssigned }));
  };
}

/** Clears the note that a blocker had failed, because the blocker is being tried again. */
const clearNote: Revise = (_before, row) => {
  row.note = null;
};

async function blockerFailed(
  edit: BoardEdit,
  blocker: TaskRow,
  dependents: readonly TaskRow[],
): Promise<void> {
  for (const before of dependents) {
    if (isSettled(before.status)) continue;
    const row = { ...before, note: `${nameOf(blocker)}, which it depends on, has failed.` };
    await saveChanged(edit, before, row);
    Object.assign(before, row);
    const [task, failed] = [namedTask(row), namedTask(blocker)];
    const event = { event: "blocker_failed", task, blocker: failed } as const;
    edit.notices.push(noticeForAssignee(row, event), noticeForBoard(row, event));
  }
}

export function factsOf({ status, blocked_reason }: TaskRow) {
  return { status, blockedReason: blocked_reason };
}
