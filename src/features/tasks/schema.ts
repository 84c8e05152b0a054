/**
 * Tables of task boards. `session_id` is always the session that owns the board, so that a board is
 * removed with its session; `assignee_id` is the session that has the task.
 */
import type { Migration } from "#base/store/index.ts";
import { ddl } from "#engine/index.ts";
import type { TaskStatus } from "./contract.ts";

export interface TaskRow {
  id: string;
  org_id: string;
  session_id: string;
  /** Thread of the board's session that gets the notices. */
  thread: string;
  assignee_id: string | null;
  parent_id: string | null;
  title: string;
  description: string | null;
  status: TaskStatus;
  /** Set if the task was blocked by hand, by `blocked_by_hand`. */
  blocked_reason: string | null;
  blocked_by_hand: string | null;
  note: string | null;
  result: string | null;
  /** 0 is the most urgent. */
  priority: number;
  /** One label per line, with a line break before and after each. */
  labels: string;
  due_at: number | null;
  /** Sort key: the due time, or a maximum for tasks without one. */
  due_key: number;
  overdue_told_at: number | null;
  position: number;
  check_spec: string | null;
  /** Author of the check. */
  check_by: string | null;
  /** Number of recorded changes. */
  changes: number;
  created_by: string;
  created_at: number;
  updated_at: number;
  settled_at: number | null;
}

export interface DependencyRow {
  task_id: string;
  blocked_by: string;
  session_id: string;
}

/** Result of a look at a task's check. */
export interface TaskCheckRow {
  id: string;
  org_id: string;
  session_id: string;
  task_id: string;
  checked_session_id: string;
  /** Seq of the result in that session's log. */
  seq: number;
  kind: "command" | "pull_request";
  subject: string;
  passed: number;
  exit_code: number | null;
  output: string;
  at: number;
}

export interface TaskChangeRow {
  task_id: string;
  number: number;
  session_id: string;
  by: string;
  at: number;
  field: string;
  was: string | null;
  became: string | null;
}

/** The queued prompt that notifies a thread of its tasks, and the events that are held back. */
export interface TaskNoticeRow {
  /** The session that is notified. */
  session_id: string;
  thread: string;
  board_id: string;
  prompt_id: string | null;
  /** Events that are sent when a person speaks, as JSON; null: none. */
  held: string | null;
}

export interface TaskTables {
  tasks: TaskRow;
  task_dependencies: DependencyRow;
  task_checks: TaskCheckRow;
  task_changes: TaskChangeRow;
  task_notices: TaskNoticeRow;
}

const tables = `
create table tasks (
  id ID primary key, org_id ID not null, session_id ID not null, thread ID not null, assignee_id ID,
  parent_id ID, title text not null, description text, status text not null, blocked_reason text,
  blocked_by_hand ID, note text, result text, priority integer not null, labels text not null,
  due_at bigint, due_key bigint not null, overdue_told_at bigint, position double precision not null,
  check_spec text, check_by ID, changes integer not null, created_by ID not null,
  created_at bigint not null, updated_at bigint not null, settled_at bigint
);
create index tasks_board on tasks (session_id, position, id);
create index tasks_status on tasks (session_id, status, position, id);
create index tasks_ready on tasks (session_id, priority, due_key, position, id)
  where status = 'pending' and assignee_id is null;
create index tasks_assignee on tasks (assignee_id) where assignee_id is not null;
create index tasks_parent on tasks (parent_id) where parent_id is not null;
create table task_dependencies (
  task_id ID not null, blocked_by ID not null, session_id ID not null, primary key (task_id, blocked_by)
);
create index task_dependencies_blocker on task_dependencies (blocked_by);
create index task_dependencies_board on task_dependencies (session_id);
create table task_checks (
  id ID primary key, org_id ID not null, session_id ID not null, task_id ID not null,
  checked_session_id ID not null, seq bigint not null, kind text not null, subject text not null,
  passed integer not null, exit_code integer, output text not null, at bigint not null
);
create unique index task_checks_task on task_checks (task_id, checked_session_id, seq, subject);
create index task_checks_board on task_checks (session_id);
create table task_changes (
  task_id ID not null, number integer not null, session_id ID not null, by ID not null,
  at bigint not null, field text not null, was text, became text, primary key (task_id, number)
);
create index task_changes_board on task_changes (session_id);
create table task_notices (
  session_id ID not null, thread ID not null, board_id ID not null, prompt_id ID, held text,
  primary key (session_id, thread)
);
create index task_notices_held on task_notices (board_id) where held is not null;
`;

/** Index of the tasks that settled last, for boards with many settled tasks. */
const settled = `
create index tasks_settled on tasks (session_id, status, settled_at, id) where settled_at is not null;
`;

export const taskMigrations: readonly Migration[] = [
  { id: "tasks-0001-boards", statements: (dialect) => ddl(dialect, tables) },
  { id: "tasks-0002-settled", statements: (dialect) => ddl(dialect, settled) },
];
