/** Boards over HTTP, for people. Any session of a tree leads to the tree's board. */
import { notFound } from "#base/refusal.ts";
import type { Reader } from "#base/store/index.ts";
import {
  command,
  findRepeated,
  may,
  type Principal,
  principalKey,
  type Route,
  requireMay,
  type SessionRow,
  serve,
  sessionResource,
  type Work,
} from "#engine/index.ts";
import { findSession, treeTop } from "#engine/sessions/index.ts";
import { type BoardEdit, openBoard, personActor, requireTask } from "./board/board.ts";
import { listReadableTasks, readBoard, requireBoardOf } from "./board/read-board.ts";
import {
  readPage,
  readReady,
  readTaskPage,
  viewCards,
  viewTask,
  viewTasks,
} from "./board/views.ts";
import { createTask } from "./changes/create-task.ts";
import { deleteTask } from "./changes/delete-task.ts";
import { updateTask } from "./changes/update-task.ts";
import { tasksApi } from "./contract.ts";

interface Params {
  readonly id: string;
}

function readable(reader: Reader, principal: Principal, { id }: Params): Promise<SessionRow> {
  return requireBoardOf(reader, principal, id);
}

async function writable(work: Work, principal: Principal, { id }: Params): Promise<BoardEdit> {
  const session = (await findSession(work.tx, id)) ?? (await makeMissing(work, principal, id));
  if (!session || !may(principal, "task.write", sessionResource(session)))
    throw notFound("session");
  return openBoard(work, session, personActor(principalKey(principal)));
}

/** Creates a person's orchestrator with the first task for it. */
async function makeMissing(
  work: Work,
  principal: Principal,
  sessionId: string,
): Promise<SessionRow | undefined> {
  await work.emit({ type: "session_missing", sessionId, principal });
  return (await work.session(sessionId))?.row;
}

const listRoute = serve(tasksApi.list, async ({ engine, principal, params, query }) => {
  const { status: statuses, sessionId: assigneeId, parentTaskId: parentId, ...rest } = query;
  const filter = { statuses, assigneeId, parentId, ...rest };
  return readBoard(engine, principal, params.id, filter);
});

const readyRoute = serve(tasksApi.ready, async ({ engine, principal, params, query }) => {
  return engine.store.read(async (reader) => {
    const boardId = treeTop(await readable(reader, principal, params));
    const items = await readReady(reader, boardId, query.limit, engine.clock.now());
    return { items, next: null };
  });
});

const mineRoute = serve(tasksApi.mine, async ({ engine, principal, params, query }) => {
  const { status: statuses, parentTaskId: parentId, ...rest } = query;
  return engine.store.read(async (reader) => {
    const session = await readable(reader, principal, params);
    const whose = { boardId: treeTop(session), assigneeId: session.id };
    return readPage(reader, { ...whose, statuses, parentId, ...rest }, engine.clock.now());
  });
});

const createRoute = serve(
  tasksApi.create,
  async ({ engine, principal, params, body, idempotency }) => {
    const id = engine.ids.mint("tsk");
    return command(engine, async (work) => {
      const edit = await writable(work, principal, params);
      const repeated = await findRepeated(work, principalKey(principal), idempotency, id);
      const row =
        repeated === undefined
          ? await createTask(edit, id, body)
          : await requireTask(work.tx, edit.board.row.id, repeated);
      return { task: await viewTask(work.tx, row, work.now) };
    });
  },
);

const readRoute = serve(tasksApi.get, async ({ engine, principal, params }) => {
  return engine.store.read(async (reader) => {
    const boardId = treeTop(await readable(reader, principal, params));
    const row = await requireTask(reader, boardId, params.taskId);
    return readTaskPage(reader, row, engine.clock.now());
  });
});

const updateRoute = serve(tasksApi.update, async ({ engine, principal, params, body }) => {
  const result = await command(engine, async (work) => {
    const edit = await writable(work, principal, params);
    const before = await requireTask(work.tx, edit.board.row.id, params.taskId);
    const updated = await updateTask(edit, before, body);
    if ("refused" in updated) return updated;
    return {
      task: await viewTask(work.tx, updated.task, work.now),
      unblocked: await viewTasks(work.tx, updated.unblocked, work.now),
    };
  });
  // Thrown after the commit, so that the result of the check is kept.
  if ("refused" in result) throw result.refused;
  return result;
});

const deleteRoute = serve(tasksApi.delete, async ({ engine, principal, params }) => {
  return command(engine, async (work) => {
    const edit = await writable(work, principal, params);
    const task = await requireTask(work.tx, edit.board.row.id, params.taskId);
    return { deleted: await deleteTask(edit, task) };
  });
});

/** Reads tasks by id, for places that name a task without its board, such as a message. */
const byIdRoute = serve(tasksApi.byId, async ({ engine, principal, query }) => {
  requireMay(principal, "task.read");
  return engine.store.read(async (reader) => {
    const rows = await listReadableTasks(reader, principal, query.ids);
    return { items: await viewCards(reader, rows, engine.clock.now()), next: null };
  });
});

/** Fixed path segments come before parameters. */
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
