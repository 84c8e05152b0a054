/** Public shapes of tasks: schemas, requests and limits. */

import * as z from "zod";
import { cleanText } from "#base/text/clean-text.ts";
import { isLocalTime } from "#base/zoned-time.ts";
import { apiRoute } from "#protocol/api-route.ts";
import { isoTime, pageOf } from "#protocol/page.ts";
import { PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX } from "#protocol/page-limits.ts";

export const TASK_STATUSES = ["pending", "in_progress", "blocked", "completed", "failed"] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

/** Priorities, most urgent first. The index in this list is stored. */
export const TASK_PRIORITIES = ["urgent", "high", "normal", "low"] as const;
export type TaskPriority = (typeof TASK_PRIORITIES)[number];

const MAX_TITLE_CHARS = 300;
export const MAX_TEXT_CHARS = 32_000;
export const MAX_REASON_CHARS = 2_000;
const MAX_COMMAND_CHARS = 4_000;
const MAX_LABELS = 20;
const MAX_LABEL_CHARS = 50;
const MAX_BLOCKERS = 50;
/** Maximum exit code. Higher codes come from the shell itself: killed, not found, not executable. */
const MAX_EXIT_CODE = 125;

export const taskCheckSchema = z
  .discriminatedUnion("kind", [
    z.strictObject({
      kind: z.literal("command"),
      command: z
        .string()
        .min(1)
        .max(MAX_COMMAND_CHARS)
        .describe("The bash command to run at the top of the workspace, such as npm test."),
      expectExitCode: z
        .number()
        .int()
        .min(0)
        .max(MAX_EXIT_CODE)
        .optional()
        .describe("The exit code that passes. Default: 0."),
    }),
    z.strictObject({
      kind: z.literal("pull_request"),
      state: z
        .enum(["open", "merged", "closed"])
        .describe("Only open can be checked: that the session opened one."),
    }),
  ])
  .meta({ id: "TaskCheck" });
export type TaskCheck = z.infer<typeof taskCheckSchema>;

export const taskSchema = z
  .object({
    id: z.string(),
    /** The session that owns the board. */
    boardId: z.string(),
    /** The assigned session. */
    sessionId: z.string().nullable(),
    parentTaskId: z.string().nullable(),
    title: z.string(),
    description: z.string().nullable(),
    status: z.enum(TASK_STATUSES),
    blockedBy: z.array(z.string()),
    /** Blockers that are not completed. */
    openBlockers: z.array(z.string()),
    /** Set if the task was blocked by hand; then only an explicit change unblocks it. */
    blockedReason: z.string().nullable(),
    /** Latest change around the task: a blocker failed or was deleted, or the assignee ended. */
    note: z.string().nullable(),
    result: z.string().nullable(),
    priority: z.enum(TASK_PRIORITIES),
    labels: z.array(z.string()),
    dueAt: isoTime.nullable(),
    isOverdue: z.boolean(),
    position: z.number(),
    check: taskCheckSchema.nullable(),
    createdBy: z.string(),
    createdAt: isoTime,
    updatedAt: isoTime,
    /** Time of completion or failure. */
    settledAt: isoTime.nullable(),
  })
  .meta({ id: "Task" });
export type Task = z.infer<typeof taskSchema>;

/** Another task, as a related task names it. */
export const taskLinkSchema = z
  .object({ id: z.string(), title: z.string(), status: z.enum(TASK_STATUSES) })
  .meta({ id: "TaskLink" });
export type TaskLink = z.infer<typeof taskLinkSchema>;

/** A task with the names of related tasks, so that a board needs no further requests. */
export const taskCardSchema = taskSchema
  .extend({
    /** Title of the assigned session. */
    sessionTitle: z.string().nullable(),
    parent: taskLinkSchema.nullable(),
    /** Names of the tasks in `blockedBy`. */
    blockers: z.array(taskLinkSchema),
    /** Direct parts of the task, without their own parts. */
    parts: z.object({ total: z.number().int(), completed: z.number().int() }),
    /** Last result of the check; null: never looked at. */
    lastCheck: z.object({ passed: z.boolean(), at: isoTime }).nullable(),
  })
  .meta({ id: "TaskCard" });
export type TaskCard = z.infer<typeof taskCardSchema>;

export const taskCheckRunSchema = z
  .object({
    id: z.string(),
    /** The session whose workspace was checked. */
    sessionId: z.string(),
    kind: z.enum(["command", "pull_request"]),
    /** The command, or the requested state. */
    subject: z.string(),
    passed: z.boolean(),
    exitCode: z.number().int().nullable(),
    output: z.string(),
    at: isoTime,
  })
  .meta({ id: "TaskCheckRun" });
export type TaskCheckRun = z.infer<typeof taskCheckRunSchema>;

export const taskChangeRecordSchema = z
  .object({
    at: isoTime,
    /** `user:…`, `session:…` or `system`. */
    by: z.string(),
    field: z.string(),
    /** Null for long texts, of which only the change is recorded. */
    from: z.string().nullable(),
    to: z.string().nullable(),
  })
  .meta({ id: "TaskChangeRecord" });

export const taskDetailSchema = z
  .object({
    task: taskSchema,
    checks: z.array(taskCheckRunSchema),
    changes: z.array(taskChangeRecordSchema),
  })
  .meta({ id: "TaskDetail" });
export type TaskDetail = z.infer<typeof taskDetailSchema>;

/** Maximum of parts and dependents that are named. */
export const MAX_NAMED = 200;
export const taskPageSchema = taskDetailSchema
  .extend({
    task: taskCardSchema,
    /** Parts, in the order of the board. */
    parts: z.array(taskLinkSchema),
    /** Tasks that wait for this one. */
    dependents: z.array(taskLinkSchema),
  })
  .meta({ id: "TaskPage" });
export type TaskPage = z.infer<typeof taskPageSchema>;

/** An id. Text that no database can hold is no id. */
const id = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .refine((text) => cleanText(text) === text, "is no id");
const taskId = id(100);
const sessionId = id(200);
const label = z
  .string()
  .trim()
  .min(1)
  .max(MAX_LABEL_CHARS)
  .regex(/^\P{Cc}+$/u, "A label is one line.");
const fields = {
  title: z.string().trim().min(1).max(MAX_TITLE_CHARS).describe("The task, in one line."),
  description: z.string().max(MAX_TEXT_CHARS).describe("What the assignee needs to know."),
  sessionId: sessionId.describe("The session to assign it to."),
  parentTaskId: taskId.describe("Its parent task."),
  blockedBy: z
    .array(taskId)
    .max(MAX_BLOCKERS)
    .describe("Tasks that must be completed first; this one is blocked until then."),
  priority: z.enum(TASK_PRIORITIES).describe("Default: normal."),
  labels: z.array(label).max(MAX_LABELS),
  dueAt: z.iso
    .datetime({ offset: true })
    .or(z.string().max(40).refine(isLocalTime, "must be a time such as 2030-01-31T12:00"))
    .describe(
      "When it is due: 2030-01-31T12:00:00Z; without a zone, as in 2030-01-31T12:00 or the day alone, it is in the person's time zone.",
    ),
  position: z
    .number()
    .min(-1e12)
    .max(1e12)
    .describe("Its position on the board; the middle of two positions puts it between them."),
  check: taskCheckSchema.describe(
    "A check that must pass in the assignee's workspace before the task can be completed.",
  ),
};

/** Fields that can be set when a task is created and changed afterwards. */
const editableFields = {
  description: fields.description.nullish(),
  sessionId: fields.sessionId.nullish(),
  parentTaskId: fields.parentTaskId.nullish(),
  blockedBy: fields.blockedBy.optional(),
  priority: fields.priority.optional(),
  labels: fields.labels.optional(),
  dueAt: fields.dueAt.nullish(),
  position: fields.position.optional(),
  check: fields.check.nullish(),
};

export const newTaskSchema = z
  .strictObject({ title: fields.title, ...editableFields })
  .meta({ id: "NewTask" });
export type NewTask = z.infer<typeof newTaskSchema>;

export const taskChangeSchema = z
  .strictObject({
    title: fields.title.optional(),
    ...editableFields,
    status: z.enum(TASK_STATUSES).optional(),
    /** Goes with `status: blocked`. Default: the text of `result`. */
    blockedReason: z
      .string()
      .trim()
      .min(1)
      .max(MAX_REASON_CHARS)
      .optional()
      .describe("Why it cannot continue; with status blocked. Default: the result."),
    result: z.string().max(MAX_TEXT_CHARS).nullish().describe("The outcome."),
  })
  .meta({ id: "TaskChange" });
export type TaskChange = z.infer<typeof taskChangeSchema>;

/** One status, or several separated by commas. */
const statuses = z
  .string()
  .max(100)
  .transform((text) => text.split(","))
  .pipe(z.array(z.enum(TASK_STATUSES)).min(1));
const MAX_IDS = 50;
const ids = z
  .string()
  .max(MAX_IDS * 100)
  .transform((text) => text.split(","))
  .pipe(z.array(taskId).min(1).max(MAX_IDS));
/** Filter of a task list. `none` selects tasks without a value. */
export const taskListQuery = z.object({
  /** Only these ids, separated by commas; missing ones are left out. */
  ids: ids.optional(),
  status: statuses.optional(),
  sessionId: sessionId.optional(),
  parentTaskId: taskId.optional(),
  label: label.optional(),
  /** `settled`: only completed and failed tasks, the last one first. */
  order: z.enum(["board", "settled"]).default("board"),
  cursor: z.string().max(500).optional(),
  limit: z.coerce.number<number>().int().min(1).max(PAGE_LIMIT_MAX).default(PAGE_LIMIT_DEFAULT),
});

/** Tasks by id, on any board. */
export const tasksByIdQuery = z.strictObject({ ids });

export const readyQuery = z.object({
  limit: z.coerce.number<number>().int().min(1).max(PAGE_LIMIT_MAX).default(PAGE_LIMIT_DEFAULT),
});

const TAG = "Tasks";
const TASKS = "/api/sessions/{id}/tasks";
const TASK = `${TASKS}/{taskId}` as const;

export const tasksApi = {
  byId: apiRoute({
    method: "get",
    path: "/api/tasks",
    summary: "Tasks by id on any board that you may see; others are left out",
    tag: TAG,
    query: tasksByIdQuery,
    response: pageOf(taskCardSchema),
  }),
  list: apiRoute({
    method: "get",
    path: TASKS,
    summary:
      "The tasks of the board, in its order or the last settled first; `none` selects those without a session or parent",
    tag: TAG,
    query: taskListQuery,
    response: pageOf(taskCardSchema),
  }),
  create: apiRoute({
    method: "post",
    path: TASKS,
    summary:
      "Create a task on the board; one that waits for others is blocked until they are completed",
    tag: TAG,
    body: newTaskSchema,
    response: z.object({ task: taskSchema }),
    status: 201,
    takesIdempotencyKey: true,
  }),
  ready: apiRoute({
    method: "get",
    path: `${TASKS}/ready`,
    summary:
      "Unassigned tasks that can start now: by priority, then by due date, then in board order",
    tag: TAG,
    query: readyQuery,
    response: pageOf(taskSchema),
  }),
  mine: apiRoute({
    method: "get",
    path: "/api/sessions/{id}/my-tasks",
    summary: "The tasks assigned to this session",
    tag: TAG,
    query: taskListQuery.omit({ sessionId: true }),
    response: pageOf(taskSchema),
  }),
  get: apiRoute({
    method: "get",
    path: TASK,
    summary:
      "One task with its subtasks and dependents, the results of its checks and its changes, newest first",
    tag: TAG,
    response: taskPageSchema,
  }),
  update: apiRoute({
    method: "put",
    path: TASK,
    summary: "Change the given fields of a task; the answer lists the tasks that this unblocked",
    tag: TAG,
    body: taskChangeSchema,
    response: z.object({ task: taskSchema, unblocked: z.array(taskSchema) }),
  }),
  delete: apiRoute({
    method: "delete",
    path: TASK,
    summary: "Delete a task with all its subtasks; whoever waited for it is notified",
    tag: TAG,
    response: z.object({ deleted: z.array(z.string()) }),
  }),
};
