/** Blocks the tasks of a session while its plan waits for a decision, and restores them afterwards. */
import type { GateRow, Work } from "#engine/index.ts";
import { type BoardEdit, openBoard, SYSTEM } from "../board/board.ts";
import { openBlockersOf } from "../board/dependents.ts";
import { findTask, listOpenOf } from "../queries.ts";
import type { TaskRow } from "../schema.ts";
import { saveChanged } from "./record-changes.ts";

/** Value of `blocked_by_hand`: the plan that blocks the task, and the task's status before. */
function markOf({ id }: GateRow, status: "in_progress" | "pending"): string {
  return `${PLAN_MARK}${id}:${status}`;
}

const PLAN_MARK = "plan:";

/** Removes the plan block from a task that its session gives up: the plan blocks nobody else. */
export function withoutPlanBlock(task: TaskRow): TaskRow {
  if (!task.blocked_by_hand?.startsWith(PLAN_MARK)) return task;
  return { ...task, blocked_reason: null, blocked_by_hand: null };
}

export async function blockForPlan(work: Work, gate: GateRow): Promise<void> {
  if (gate.kind !== "plan" || gate.state !== "pending") return;
  await changeTasks(work, gate, async (edit, task) => {
    if (task.status !== "in_progress" && task.status !== "pending") return;
    await saveChanged(edit, task, {
      ...task,
      status: "blocked",
      blocked_reason: `Its plan (${gate.id}) is waiting for a decision.`,
      blocked_by_hand: markOf(gate, task.status),
    });
  });
}

export async function unblockAfterPlan(work: Work, gate: GateRow): Promise<void> {
  if (gate.kind !== "plan") return;
  await changeTasks(work, gate, async (edit, task) => {
    const wasBegun = task.blocked_by_hand === markOf(gate, "in_progress");
    if (!wasBegun && task.blocked_by_hand !== markOf(gate, "pending")) return;
    const free = { ...task, blocked_reason: null, blocked_by_hand: null };
    // Work that had begun goes on, even if the task has new blockers.
    const waits = !wasBegun && (await openBlockersOf(edit, [task.id])).get(task.id)?.length;
    const status = wasBegun ? "in_progress" : waits ? "blocked" : "pending";
    await saveChanged(edit, task, { ...free, status });
  });
}

async function changeTasks(
  work: Work,
  { session_id: sessionId }: GateRow,
  change: (edit: BoardEdit, task: TaskRow) => Promise<void>,
): Promise<void> {
  for (const { id, session_id: boardId } of await listOpenOf(work.tx, sessionId)) {
    const board = await work.session(boardId);
    if (!board) continue;
    const edit = await openBoard(work, board.row, SYSTEM);
    // Read again under the board's lock.
    const task = await findTask(work.tx, id);
    if (task?.assignee_id === sessionId) await change(edit, task);
  }
}
