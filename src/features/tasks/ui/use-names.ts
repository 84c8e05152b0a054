import { useQueryClient } from "@tanstack/react-query";
import type { TaskCard, TaskPage } from "#features/tasks/contract.ts";
import type { Page } from "#protocol/page.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { useAssignees, useBoard } from "./use-board.ts";

/** Names of tasks and sessions by id, as far as they are cached. Makes no request of its own. */
export function useNames(taskId: string | null): ReadonlyMap<string, string> {
  const { boardId } = useBoard();
  const queryClient = useQueryClient();
  const open = queryClient.getQueryData<Page<TaskCard>>(keys.openTasks(boardId))?.items ?? [];
  const assignees = useAssignees();
  const page =
    taskId === null
      ? undefined
      : queryClient.getQueryData<TaskPage | null>(keys.task(boardId, taskId));
  const around = page
    ? [...page.parts, ...page.dependents, ...page.task.blockers, page.task, page.task.parent]
    : [];
  const names = new Map(assignees.map(({ id, name }) => [id, name]));
  for (const task of [...open, ...around]) if (task) names.set(task.id, task.title);
  if (page?.task.sessionId && page.task.sessionTitle)
    names.set(page.task.sessionId, page.task.sessionTitle);
  return names;
}
