/**
 * Tasks: a board for every tree of sessions, shared by the agent at its top, its children and their
 * owner. A board holds dependencies, assignments, and checks that must pass before a task is completed.
 */
import type { Feature } from "#engine/index.ts";
import { taskRegister } from "./board/register.ts";
import { tasksToFind } from "./board/searchable.ts";
import { boardText } from "./board-text.ts";
import { taskIsDue } from "./changes/overdue.ts";
import { DUE_TIMER } from "./changes/record-changes.ts";
import { listen } from "./listen.ts";
import { taskRoutes } from "./routes.ts";
import { taskMigrations } from "./schema.ts";
import { taskTools } from "./tools.ts";

export const tasks: Feature = {
  name: "tasks",
  migrations: taskMigrations,
  listeners: [listen],
  timers: { [DUE_TIMER]: taskIsDue },
  routes: taskRoutes,
  tools: taskTools,
  searchable: [tasksToFind],
  register: taskRegister,
  renderNotices: { board: boardText },
  sessionTables: [
    "tasks",
    // Settled tasks stay with their board; open ones were given back when the session ended.
    "tasks.assignee_id=null",
    "task_dependencies",
    "task_checks",
    "task_changes",
    "task_notices",
  ],
};

export { readBoard } from "./board/read-board.ts";
export { giveToChild, requireSpawnable, taskBrief } from "./changes/spawn-for-task.ts";
export type { TaskRow } from "./schema.ts";
