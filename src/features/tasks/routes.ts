/** Boards over HTTP, for people: any session of a tree leads to the one board that the tree has. */
import * as z from "zod";
import { notFound } from "#base/refusal.ts";
import type { Reader } from "#base/store/index.ts";
import {
  command,
  defineRoute,
  findRepeated,
  may,
  type Principal,
  principalKey,
  type Route,
  requireMay,
  type SessionRow,
  sessionThing,
  type Work,
} from "#engine/index.ts";
import { findSession, treeTop } from "#engine/sessions/index.ts";
import { pageOf } from "#protocol/page.ts";
import { type Doing, openBoard, personActor, requireTask } from "./board.ts";
import {
  newTaskSchema,
  readyQuery,
  taskCardSchema,
  taskChangeSchema,
  taskListQuery,
  taskPageSchema,
  taskSchema,
  tasksByIdQuery,
} from "./contract.ts";
import { createTask } from "./create-task.ts";
import { deleteTask } from "./delete-task.ts";
import { listReadableTasks, readBoard, requireBoardOf } from "./read-board.ts";
import { updateTask } from "./update-task.ts";
import { readPage, readReady, readTaskPage, viewCards, viewTask, viewTasks } from "./views.ts";

const TAG = "Tasks";
const TASKS = "/api/sessions/{id}/tasks";
const TASK = `${TASKS}/{taskId}`;
const one = z.object({ task: taskSchema });
const page = pageOf(taskSchema);
const cards = pageOf(taskCardSchema);

type Params = Readonly<Record<string, string>>;

function readable(reader: Reader, principal: Principal, { id = "" }: Params): Promise<SessionRow> {
  return requireBoardOf(reader, principal, id);
}

async function writable(work: Work, principal: Principal, { id = "" }: Params): Promise<Doing> {
  const session = (await findSession(work.tx, id)) ?? (await makeMissing(work, principal, id));
  if (!session || !may(principal, "task.write", sessionThing(session))) throw notFound("session");
  return openBoard(work, session, personActor(principalKey(principal)));
}

/** A person's orchestrator comes to be with the first task for it. */
async function makeMissing(
  work: Work,
  principal: Principal,
  sessionId: string,
): Promise<SessionRow | undefined> {
  await work.emit({ type: "session_missing", sessionId, principal });
  return (await work.session(sessionId))?.row;
}

const listRoute = defineRoute({
  method: "get",
  path: TASKS,
  summary:
    "The tasks of the board, in its order or the last settled first; `none` asks for those without a session or parent",
  tag: TAG,
  query: taskListQuery,
  response: cards,
  async handle({ engine, principal, params, query }) {
    const { status: statuses, sessionId: assigneeId, parentTaskId: parentId, ...rest } = query;
    const filter = { statuses, assigneeId, parentId, ...rest };
    return readBoard(engine, principal, params.id ?? "", filter);
  },
});

const readyRoute = defineRoute({
  method: "get",
  path: `${TASKS}/ready`,
  summary: "What anybody could begin now: by priority, then by when it is due, then in order",
  tag: TAG,
  query: readyQuery,
  response: page,
  async handle({ engine, principal, params, query }) {
    return engine.store.read(async (reader) => {
      const boardId = treeTop(await readable(reader, principal, params));
      const items = await readReady(reader, boardId, query.limit, engine.clock.now());
      return { items, next: null };
    });
  },
});

const mineRoute = defineRoute({
  method: "get",
  path: "/api/sessions/{id}/my-tasks",
  summary: "The tasks that this session has",
  tag: TAG,
  query: taskListQuery.omit({ sessionId: true }),
  response: page,
  async handle({ engine, principal, params, query }) {
    const { status: statuses, parentTaskId: parentId, ...rest } = query;
    return engine.store.read(async (reader) => {
      const session = await readable(reader, principal, params);
      const whose = { boardId: treeTop(session), assigneeId: session.id };
      return readPage(reader, { ...whose, statuses, parentId, ...rest }, engine.clock.now());
    });
  },
});

const createRoute = defineRoute({
  method: "post",
  path: TASKS,
  summary: "Put a task on the board; one that waits for others is blocked until they are completed",
  tag: TAG,
  body: newTaskSchema,
  response: one,
  status: 201,
  takesIdempotencyKey: true,
  async handle({ engine, principal, params, body, idempotency }) {
    const id = engine.ids.mint("tsk");
    return command(engine, async (work) => {
      const doing = await writable(work, principal, params);
      const repeated = await findRepeated(work, principalKey(principal), idempotency, id);
      const row =
        repeated === undefined
          ? await createTask(doing, id, body)
          : await requireTask(work.tx, doing.board.row.id, repeated);
      return { task: await viewTask(work.tx, row, work.now) };
    });
  },
});

const readRoute = defineRoute({
  method: "get",
  path: TASK,
  summary:
    "A task, with the results of its checks and who changed what, newest first, and the tasks around it",
  tag: TAG,
  response: taskPageSchema,
  async handle({ engine, principal, params }) {
    return engine.store.read(async (reader) => {
      const boardId = treeTop(await readable(reader, principal, params));
      const row = await requireTask(reader, boardId, params.taskId ?? "");
      return readTaskPage(reader, row, engine.clock.now());
    });
  },
});

const updateRoute = defineRoute({
  method: "put",
  path: TASK,
  summary: "Change what is named of a task; says what is not blocked any more because of it",
  tag: TAG,
  body: taskChangeSchema,
  response: z.object({ task: taskSchema, unblocked: z.array(taskSchema) }),
  async handle({ engine, principal, params, body }) {
    const answer = await command(engine, async (work) => {
      const doing = await writable(work, principal, params);
      const before = await requireTask(work.tx, doing.board.row.id, params.taskId ?? "");
      const updated = await updateTask(doing, before, body);
      if ("refused" in updated) return updated;
      return {
        task: await viewTask(work.tx, updated.task, work.now),
        unblocked: await viewTasks(work.tx, updated.unblocked, work.now),
      };
    });
    // After the commit: what was found of the check stays.
    if ("refused" in answer) throw answer.refused;
    return answer;
  },
});

const deleteRoute = defineRoute({
  method: "delete",
  path: TASK,
  summary: "Delete a task with all its parts; what waited for it is told",
  tag: TAG,
  response: z.object({ deleted: z.array(z.string()) }),
  async handle({ engine, principal, params }) {
    return command(engine, async (work) => {
      const doing = await writable(work, principal, params);
      const task = await requireTask(work.tx, doing.board.row.id, params.taskId ?? "");
      return { deleted: await deleteTask(doing, task) };
    });
  },
});

/** Whoever names a task somewhere else, such as a message, names no board. */
const byIdRoute = defineRoute({
  method: "get",
  path: "/api/tasks",
  summary: "Tasks by id on any board that you may see; those you may not see are left out",
  tag: TAG,
  query: tasksByIdQuery,
  response: cards,
  async handle({ engine, principal, query }) {
    requireMay(principal, "task.read");
    return engine.store.read(async (reader) => {
      const rows = await listReadableTasks(reader, principal, query.ids);
      return { items: await viewCards(reader, rows, engine.clock.now()), next: null };
    });
  },
});

/** What is fixed in a path goes before what is not. */
export const taskRoutes: readonly Route[] = [
  byIdRoute,
  listRoute,
  createRoute,
  readyRoute,
  mineRoute,
  readRoute,
  updateRoute,
  deleteRoute,
];
