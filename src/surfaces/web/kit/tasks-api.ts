/** The calls of task boards. */
import type {
  NewTask,
  Task,
  TaskCard,
  TaskChange,
  TaskPage,
  TaskStatus,
} from "#features/tasks/contract.ts";
import type { Page } from "#protocol/page.ts";
import { callApi } from "./api-client.ts";

export interface TaskQuery {
  status?: TaskStatus | undefined;
  /** The last settled first. */
  order?: "settled" | undefined;
  cursor?: string | undefined;
}

const COLUMN_LIMIT = 50;
/** What a page of the server holds at most. */
const OFFERED_LIMIT = 200;

const tasks = (boardId: string) => `/api/sessions/${encodeURIComponent(boardId)}/tasks`;
const task = (boardId: string, id: string) => `${tasks(boardId)}/${encodeURIComponent(id)}`;

export const tasksApi = {
  list: (boardId: string, query: TaskQuery, signal: AbortSignal) =>
    callApi<Page<TaskCard>>(tasks(boardId), {
      query: { ...query, limit: COLUMN_LIMIT },
      signal,
    }),
  /** Those that others can wait for or be part of. */
  listOpen: (boardId: string, signal: AbortSignal) =>
    callApi<Page<TaskCard>>(tasks(boardId), {
      query: { status: "pending,in_progress,blocked", limit: OFFERED_LIMIT },
      signal,
    }),
  /**
   * Null: it is not there. Whether it is, is asked as a list first: browsers note every refused
   * request as a fault of the page, and that a task was deleted is none.
   */
  read: async (boardId: string, id: string, signal?: AbortSignal): Promise<TaskPage | null> => {
    const options = signal ? { signal } : {};
    const found = await tasksApi.find(boardId, id, signal);
    return found && callApi<TaskPage>(task(boardId, id), options);
  },
  /** Null: it is not on this board. */
  find: async (boardId: string, id: string, signal?: AbortSignal): Promise<TaskCard | null> => {
    const { items } = await callApi<Page<TaskCard>>(tasks(boardId), {
      query: { ids: id },
      ...(signal && { signal }),
    });
    return items[0] ?? null;
  },
  /** Null: it is on no board that one may see. */
  findAnywhere: async (id: string, signal: AbortSignal): Promise<TaskCard | null> => {
    const { items } = await callApi<Page<TaskCard>>("/api/tasks", { query: { ids: id }, signal });
    return items[0] ?? null;
  },
  create: (boardId: string, body: NewTask, idempotencyKey: string) =>
    callApi<{ task: Task }>(tasks(boardId), { method: "POST", body, idempotencyKey }),
  change: (boardId: string, id: string, body: TaskChange) =>
    callApi<{ task: Task; unblocked: Task[] }>(task(boardId, id), { method: "PUT", body }),
  remove: (boardId: string, id: string) =>
    callApi<{ deleted: string[] }>(task(boardId, id), { method: "DELETE" }),
};
