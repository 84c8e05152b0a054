import { useQueryClient } from "@tanstack/react-query";
import type { TaskCard, TaskPage } from "#features/tasks/contract.ts";
import type { Page } from "#protocol/page.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { useAssignees, useBoard } from "./use-board.ts";

/** What tasks and sessions are called, by their ids, as far as this page knows. Asks for nothing new. */
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
