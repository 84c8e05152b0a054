/**
 * Permissions on tasks. People and the agent that owns the board may change everything except a check
 * that somebody above them has set. A child may change its own tasks and unassigned ones; of a task
 * that it was given, only its progress.
 */
import { Refusal } from "#base/refusal.ts";
import type { NewTask, TaskChange } from "../contract.ts";
import type { TaskRow } from "../schema.ts";
import type { Actor } from "./board.ts";

const NOT_YOURS = (task: TaskRow) =>
  new Refusal(
    "forbidden",
    "task_not_yours",
    `Task ${task.id} belongs to session ${task.assignee_id}. You can change your own tasks and unassigned ones: see my_tasks, and task_list with ready.`,
  );

/** Fields in which the assignee reports on a task. */
const ASSIGNEE_FIELDS: ReadonlySet<string> = new Set([
  "status",
  "blockedReason",
  "result",
  "sessionId",
]);

export function requireCreate(actor: Actor, { sessionId }: NewTask): void {
  if (actor.kind !== "child" || sessionId == null || sessionId === actor.sessionId) return;
  throw new Refusal(
    "forbidden",
    "task_not_yours",
    "You can assign a new task to yourself, or leave sessionId out to leave it unassigned. Your parent assigns tasks to others.",
  );
}

export function requireChange(actor: Actor, task: TaskRow, change: TaskChange): void {
  if (change.check !== undefined && !maySetCheck(actor, task)) {
    throw new Refusal(
      "forbidden",
      "check_not_yours",
      "Somebody else set the check of this task, and only they can change it. Make it pass.",
    );
  }
  if (actor.kind !== "child") return;
  if (task.assignee_id !== null && task.assignee_id !== actor.sessionId) throw NOT_YOURS(task);
  if (change.sessionId != null && change.sessionId !== actor.sessionId) {
    throw new Refusal(
      "forbidden",
      "task_not_yours",
      "You can take a task yourself or, with sessionId null, give it back. Your parent assigns tasks to others.",
    );
  }
  const isBlockedByAnother = task.blocked_reason !== null && task.blocked_by_hand !== actor.key;
  const touchesBlock = change.status !== undefined || change.blockedReason !== undefined;
  if (isBlockedByAnother && touchesBlock) {
    throw new Refusal(
      "conflict",
      "task_blocked",
      `This task was blocked by ${task.blocked_by_hand}: ${task.blocked_reason} Tell your parent what you know, so that it can unblock it.`,
    );
  }
  if (task.created_by === actor.key) return;
  const others = Object.keys(change).filter((field) => !ASSIGNEE_FIELDS.has(field));
  if (others.length > 0) {
    throw new Refusal(
      "forbidden",
      "task_not_yours",
      `You did not create this task, so you cannot change its ${others.join(", ")}. Set its status, result or blockedReason, and tell your parent what else should change.`,
    );
  }
}

/**
 * True if the actor may set the check.
 * A check is no evidence if the agent that has to pass it can remove it.
 */
function maySetCheck(actor: Actor, { session_id, check_by, created_by }: TaskRow): boolean {
  if (actor.kind === "person") return true;
  const setBy = check_by ?? created_by;
  if (setBy === actor.key) return true;
  const isSetByPerson = setBy.startsWith("user:");
  if (actor.kind === "board") return check_by === null || !isSetByPerson;
  return check_by === null && setBy !== `session:${session_id}` && !isSetByPerson;
}
