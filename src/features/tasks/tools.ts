/** Tools of the board for agents. The run identifies the caller, and the caller determines the board. */
import * as z from "zod";
import { Refusal } from "#base/refusal.ts";
import type { SessionWriter } from "#engine/index.ts";
import { treeTop } from "#engine/sessions/index.ts";
import { defineTool, type Tool, type ToolResult } from "#engine/tools/index.ts";
import { agentActor, openBoard, requireTask } from "./board/board.ts";
import { readDetail, readPage, readReady, viewTask, viewTasks } from "./board/views.ts";
import { createTask } from "./changes/create-task.ts";
import { updateTask } from "./changes/update-task.ts";
import {
  newTaskSchema,
  TASK_STATUSES,
  type Task,
  type TaskDetail,
  taskChangeSchema,
} from "./contract.ts";

const LIST_LIMIT = 50;
const SHORT_CHARS = 400;
const CHANGES_SHOWN = 20;

/** Shows a model the fields that are set, and only the beginning of long texts. */
function brief(task: Task, isWhole = false): Record<string, unknown> {
  const { boardId: _board, position: _position, createdAt: _created, ...rest } = task;
  const entries = Object.entries(rest).filter(
    ([, value]) =>
      value !== null && value !== false && !(Array.isArray(value) && value.length === 0),
  );
  return Object.fromEntries(
    entries.map(([name, value]) => [
      name,
      !isWhole && typeof value === "string" ? cut(value) : value,
    ]),
  );
}

function cut(text: string): string {
  return text.length <= SHORT_CHARS
    ? text
    : `${text.slice(0, SHORT_CHARS).toWellFormed()}… (task_list with taskId shows all of it)`;
}

const done = (output: unknown): ToolResult => ({ output, error: null });

const taskCreate = defineTool({
  name: "task_create",
  aliases: ["create_task"],
  description:
    "Creates a task on the board that you share with your parent or your children. Use it to keep track of work with several parts: who does what, and what waits for what (blockedBy). A task with a check cannot be completed before the check has passed. Assigning a task to a session does not wake it: send it a message, or start a session for the task.",
  readOnly: false,
  target: () => null,
  schema: newTaskSchema,
  async handle(work, { session, run }, input) {
    const edit = await openBoard(work, session.row, agentActor(session, run.thread));
    const row = await createTask(edit, work.ids.mint("tsk"), input);
    const task = await viewTask(work.tx, row, work.now);
    const next =
      task.status === "blocked"
        ? "It is blocked until the tasks it waits for are completed; then its assignee is notified."
        : "It can start.";
    return done({ task: brief(task), next });
  },
});

/** One status, or a list of them. */
const statusInput = z
  .union([z.enum(TASK_STATUSES), z.array(z.enum(TASK_STATUSES)).min(1).max(TASK_STATUSES.length)])
  .transform((given) => (typeof given === "string" ? [given] : given))
  .describe("Only tasks in this state, or in one of these.");

const listInput = z.strictObject({
  taskId: z.string().max(100).optional().describe("One task in full, with its checks and changes."),
  ready: z
    .boolean()
    .optional()
    .describe("Only unassigned tasks that can start now, most urgent first."),
  status: statusInput.optional(),
  sessionId: z
    .string()
    .max(200)
    .optional()
    .describe("Only tasks of this session; none: unassigned ones."),
  parentTaskId: z.string().max(100).optional().describe("Only subtasks of this task."),
  label: z.string().max(50).optional(),
  cursor: z.string().max(500).optional().describe("`next` of the previous answer."),
});

const taskList = defineTool({
  name: "task_list",
  aliases: ["list_tasks"],
  description:
    "Lists the tasks of the board in its order, or shows one of them in full. Their content is information from their authors.",
  readOnly: true,
  target: () => null,
  schema: listInput,
  async handle(work, { session }, input) {
    const boardId = treeTop(session.row);
    const { taskId, ready, status, sessionId, parentTaskId, label, cursor } = input;
    if (taskId !== undefined) {
      const row = await requireTask(work.tx, boardId, taskId);
      return done(detailOf(await readDetail(work.tx, row, work.now)));
    }
    if (ready) {
      const items = await readReady(work.tx, boardId, LIST_LIMIT, work.now);
      return done({ items: items.map((task) => brief(task)) });
    }
    const page = await readPage(
      work.tx,
      {
        boardId,
        statuses: status,
        assigneeId: sessionId,
        parentId: parentTaskId,
        label,
        cursor,
        limit: LIST_LIMIT,
      },
      work.now,
    );
    return done({ items: page.items.map((task) => brief(task)), next: page.next });
  },
});

function detailOf({ task, checks, changes }: TaskDetail) {
  return {
    task: brief(task, true),
    lastCheck: checks[0],
    changes: changes.slice(0, CHANGES_SHOWN),
  };
}

const updateInput = taskChangeSchema.extend({
  taskId: z.string().min(1).max(100).describe("Which task."),
});

const taskUpdate = defineTool({
  name: "task_update",
  aliases: ["update_task"],
  description:
    "Changes a task: in_progress when you start it, completed with its result when it is done, blocked with a blockedReason when it cannot continue, failed when it cannot be done. Completing the last task that another one waits for unblocks that one. If a task has a check, run it first, exactly as it is given.",
  readOnly: false,
  target: ({ taskId }) => taskId,
  schema: updateInput,
  async handle(work, { session, run }, { taskId, ...change }) {
    if (Object.keys(change).length === 0) {
      throw new Refusal(
        "invalid",
        "nothing_to_change",
        "Say what to change, such as status or result. To read the task, use task_list with taskId.",
      );
    }
    const edit = await openBoard(work, session.row, agentActor(session, run.thread));
    const before = await requireTask(work.tx, edit.board.row.id, taskId);
    const result = await updateTask(edit, before, change);
    // Returned, not thrown, so that the result of the check is kept.
    if ("refused" in result) {
      const { code, message } = result.refused;
      return { output: null, error: `${code}: ${message}` };
    }
    const task = await viewTask(work.tx, result.task, work.now);
    const unblocked = await viewTasks(work.tx, result.unblocked, work.now);
    return done({
      task: brief(task),
      ...(unblocked.length === 0 ? {} : { unblocked: unblocked.map((one) => brief(one)) }),
    });
  },
});

const myTasks = defineTool({
  name: "my_tasks",
  description:
    "Lists your tasks in full: the open ones, those in the states you name, or with settled all of them.",
  readOnly: true,
  target: () => null,
  schema: z.strictObject({
    status: statusInput.optional(),
    settled: z.boolean().optional().describe("Include completed and failed ones."),
    cursor: z.string().max(500).optional().describe("`next` of the previous answer."),
  }),
  async handle(work, { session }, { status, settled = false, cursor }) {
    const statuses = status ?? (settled ? undefined : UNSETTLED);
    const page = await readPage(work.tx, { ...ownTasks(session), statuses, cursor }, work.now);
    const next = page.items.length === 0 ? (status ? NONE_SUCH : NOTHING) : undefined;
    return done({
      items: page.items.map((task) => brief(task, true)),
      next: page.next,
      ...(next === undefined ? {} : { note: next }),
    });
  },
});
const NOTHING = "You have no tasks. task_list with ready shows what you could take.";
const NONE_SUCH = "You have no tasks in this state.";
const UNSETTLED = ["pending", "in_progress", "blocked"] as const;

function ownTasks({ row }: SessionWriter) {
  return { boardId: treeTop(row), assigneeId: row.id, limit: LIST_LIMIT };
}

export const taskTools: readonly Tool[] = [taskCreate, taskList, taskUpdate, myTasks];
