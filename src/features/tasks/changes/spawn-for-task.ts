/** Spawns a child for a task: the child is assigned from the start, and its prompt describes the task. */
import { Refusal } from "#base/refusal.ts";
import type { SessionWriter, Work } from "#engine/index.ts";
import { treeTop } from "#engine/sessions/index.ts";
import { agentActor, openBoard, requireTask } from "../board/board.ts";
import { openBlockersOf } from "../board/dependents.ts";
import { checkOf } from "../checks/check-task.ts";
import type { TaskRow } from "../schema.ts";
import { saveChanged } from "./record-changes.ts";
import { isSettled, stillBlocked } from "./status.ts";

/** Returns the task if a child can be spawned for it; otherwise refuses. */
export async function requireSpawnable(
  work: Work,
  parent: SessionWriter,
  taskId: string,
): Promise<TaskRow> {
  const task = await requireTask(work.tx, treeTop(parent.row), taskId);
  const open = (await openBlockersOf({ work }, [task.id])).get(task.id) ?? [];
  if (open.length > 0) throw stillBlocked(open);
  if (task.blocked_reason !== null || isSettled(task.status)) {
    throw new Refusal(
      "conflict",
      task.blocked_reason === null ? "task_settled" : "task_blocked",
      `Task ${taskId} is ${task.status}. Set it to pending with task_update first, if it should be done.`,
    );
  }
  if (task.assignee_id !== null && task.assignee_id !== parent.row.id) {
    throw new Refusal(
      "conflict",
      "task_assigned",
      `Task ${taskId} is assigned to session ${task.assignee_id}. Write to that session with send_message, or unassign the task with task_update, sessionId null.`,
    );
  }
  return task;
}

/** Describes the task to the child, after the parent's own prompt. */
export function taskBrief(task: TaskRow): string {
  const check = checkOf(task);
  const description = task.description === null ? "" : `\n${task.description}`;
  const how =
    check === null
      ? ""
      : check.kind === "command"
        ? ` Before that, run exactly this with bash at the top of the workspace, after your last change; it must exit with code ${check.expectExitCode ?? 0}:\n${check.command}`
        : " Before that, open a pull request with create_pull_request.";
  return `[Your task on the board: ${task.id}]\n${task.title}${description}\n\nWhen it is done, call task_update with taskId ${task.id}, status completed and the result. If it cannot be done, set it to blocked or failed and say why.${how}`;
}

export async function giveToChild(
  work: Work,
  parent: SessionWriter,
  thread: string,
  task: TaskRow,
  child: SessionWriter,
): Promise<void> {
  const edit = await openBoard(work, parent.row, agentActor(parent, thread));
  await saveChanged(edit, task, {
    ...task,
    assignee_id: child.row.id,
    status: "in_progress",
    note: null,
  });
}
