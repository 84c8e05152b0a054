/** Dependencies and parts of tasks. Neither relation may form a cycle. */
import { Refusal } from "#base/refusal.ts";
import type { Reader } from "#base/store/index.ts";
import { findTask, listBlockers, listTasksById } from "../queries.ts";
import type { TaskRow } from "../schema.ts";

const MAX_DEPTH = 20;

/** Returns the blockers, each once, or refuses. `taskId` is null for a new task, on which nothing depends. */
export async function requireBlockers(
  reader: Reader,
  boardId: string,
  taskId: string | null,
  blockedBy: readonly string[],
): Promise<TaskRow[]> {
  const ids = [...new Set(blockedBy)];
  const rows = await listTasksById(reader, ids);
  const onBoard = new Map(
    rows.filter(({ session_id }) => session_id === boardId).map((row) => [row.id, row]),
  );
  const missing = ids.filter((id) => !onBoard.has(id));
  if (missing.length > 0) {
    throw new Refusal(
      "invalid",
      "blocker_not_found",
      `There is no task ${missing.join(", ")} on this board. List its tasks to see their ids.`,
    );
  }
  const cycle = taskId === null ? undefined : await findCycle(reader, taskId, ids);
  if (cycle) {
    throw new Refusal(
      "conflict",
      "dependency_cycle",
      `These tasks would wait for each other forever: ${cycle.join(" → ")}. Remove one of the dependencies.`,
    );
  }
  return ids.map((id) => onBoard.get(id) as TaskRow);
}

/** Finds a cycle from the task through its blockers back to itself; undefined if there is none. */
export async function findCycle(
  reader: Reader,
  taskId: string,
  blockers: readonly string[],
): Promise<string[] | undefined> {
  const cameFrom = new Map(blockers.map((id) => [id, taskId]));
  let edge = blockers;
  while (edge.length > 0 && !cameFrom.has(taskId)) {
    const next: string[] = [];
    for (const { task_id, blocked_by } of await listBlockers(reader, edge)) {
      if (cameFrom.has(blocked_by)) continue;
      cameFrom.set(blocked_by, task_id);
      next.push(blocked_by);
    }
    edge = next;
  }
  if (!cameFrom.has(taskId)) return undefined;
  const path = [taskId];
  for (let at = cameFrom.get(taskId); at !== undefined && at !== taskId; at = cameFrom.get(at))
    path.unshift(at);
  return [taskId, ...path];
}

/** Requires a valid parent task. `taskId` is null for a new task, which has no parts. */
export async function requireParent(
  reader: Reader,
  boardId: string,
  taskId: string | null,
  parentId: string,
): Promise<void> {
  const way: string[] = taskId === null ? [] : [taskId];
  let at: string | null = parentId;
  while (at !== null) {
    const row: TaskRow | undefined = await findTask(reader, at);
    if (at === parentId && row?.session_id !== boardId) {
      throw new Refusal(
        "invalid",
        "parent_task_not_found",
        `There is no task ${parentId} on this board. Name another parent task, or none.`,
      );
    }
    way.push(at);
    if (at === taskId) {
      throw new Refusal(
        "conflict",
        "dependency_cycle",
        `A task cannot be its own subtask: ${way.join(" → ")}. Name another parent task, or none.`,
      );
    }
    if (way.length > MAX_DEPTH) {
      throw new Refusal(
        "conflict",
        "task_too_deep",
        `Subtasks can be nested ${MAX_DEPTH} levels deep at most. Name a parent task further up.`,
      );
    }
    at = row?.parent_id ?? null;
  }
}
