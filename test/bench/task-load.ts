/**
 * Ready tasks on a board of 10,000, read through the route without HTTP, in a process of its own.
 * Prints one JSON object.
 *
 *   node task-load.ts FOLDER TIMES
 */
import { createIds } from "#base/ids.ts";
import { inserter, type Store } from "#base/store/index.ts";
import { type TaskRow, tasks } from "#features/tasks/index.ts";
import { percentile } from "./figure.ts";
import { openKernel, owner } from "./own-kernel.ts";

const TASKS = 10_000;
const ROWS_AT_ONCE = 500;
const DAY_MS = 86_400_000;
const [folder = ".", times = "200"] = process.argv.slice(2);
const ids = createIds();

/**
 * A board in progress: of eight tasks one is ready, two wait, two are assigned, the rest are done.
 */
function rowOf(boardId: string, at: number): TaskRow {
  const status = (
    [
      "pending",
      "blocked",
      "blocked",
      "in_progress",
      "pending",
      "completed",
      "completed",
      "failed",
    ] as const
  )[at % 8] as TaskRow["status"];
  const isTaken = at % 8 === 3 || at % 8 === 4;
  const dueAt = at % 3 === 0 ? at * DAY_MS : null;
  return {
    id: ids.mint("tsk"),
    org_id: "org_1",
    session_id: boardId,
    thread: "main",
    assignee_id: isTaken ? `ses_${at % 50}` : null,
    parent_id: null,
    title: `Task ${at}: something to be done about the otters`,
    description: "What whoever takes it has to know. ".repeat(10),
    status,
    blocked_reason: null,
    blocked_by_hand: null,
    note: null,
    result: null,
    priority: (at * 7) % 4,
    labels: "\nzoo\n",
    due_at: dueAt,
    due_key: dueAt ?? Number.MAX_SAFE_INTEGER,
    overdue_told_at: null,
    position: at,
    check_spec: null,
    check_by: null,
    changes: 1,
    created_by: "user:usr_1",
    created_at: at,
    updated_at: at,
    settled_at: null,
  };
}

async function fill(store: Store, boardId: string): Promise<void> {
  const columns = Object.keys(rowOf(boardId, 0)) as (keyof TaskRow)[];
  const insertTasks = inserter<TaskRow>("tasks", columns);
  const edge = inserter<{ task_id: string; blocked_by: string; session_id: string }>(
    "task_dependencies",
    ["task_id", "blocked_by", "session_id"],
  );
  for (let from = 0; from < TASKS; from += ROWS_AT_ONCE) {
    const rows = Array.from({ length: ROWS_AT_ONCE }, (_, at) => rowOf(boardId, from + at));
    const edges = rows.flatMap(({ id, status }, at) =>
      status === "blocked"
        ? [{ task_id: id, blocked_by: (rows[at - 1] as TaskRow).id, session_id: boardId }]
        : [],
    );
    await store.transaction(async (tx) => {
      await tx.execute(insertTasks(tx.dialect, rows));
      await tx.execute(edge(tx.dialect, edges));
    });
  }
}

const { store, kernel } = await openKernel(folder, [tasks]);
const { id } = await kernel.sessions.create(owner, {});
await fill(store, id);
const route = kernel.routes.find(({ path }) => path.endsWith("/tasks/ready"));
if (!route) throw new Error("there is no route for what is ready");
const request = {
  engine: kernel.engine,
  principal: owner,
  params: { id },
  query: { limit: 50 } as never,
  body: {} as never,
  idempotency: undefined,
};
const took: number[] = [];
for (let round = 0; round < Number(times); round++) {
  const startedAt = performance.now();
  const { items } = (await route.handle(request)) as { items: unknown[] };
  took.push(performance.now() - startedAt);
  if (items.length !== 50) throw new Error(`${items.length} tasks are ready`);
}
await kernel.stop();
await store.close();
process.stdout.write(JSON.stringify({ p50Ms: percentile(took, 50), p95Ms: percentile(took, 95) }));
