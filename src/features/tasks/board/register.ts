/** Register of open tasks, which an agent must still know after its history was summarised. */
import type { Reader } from "#base/store/index.ts";
import type { SessionRow } from "#engine/index.ts";
import { treeTop } from "#engine/sessions/index.ts";
import { inQuotes } from "#features/delegation/index.ts";
import { TASK_PRIORITIES } from "../contract.ts";
import { listTasks } from "../queries.ts";
import type { TaskRow } from "../schema.ts";

const MAX_LINES = 30;
const OPEN = ["pending", "in_progress", "blocked"] as const;

/** Lists all open tasks for the agent that owns the board, and for another agent its own. */
export async function taskRegister(reader: Reader, session: SessionRow): Promise<string | null> {
  const boardId = treeTop(session);
  const isBoard = boardId === session.id;
  const rows = await listTasks(reader, {
    boardId,
    statuses: OPEN,
    assigneeId: isBoard ? undefined : session.id,
    limit: MAX_LINES + 1,
  });
  if (rows.length === 0) return null;
  const head = isBoard ? "[Open tasks on your board now]" : "[Your open tasks now]";
  const lines = rows.slice(0, MAX_LINES).map((row) => lineOf(row, session.id));
  if (rows.length > MAX_LINES) lines.push("- There are more: task_list shows all of them.");
  return [head, ...lines].join("\n");
}

function lineOf(row: TaskRow, selfId: string): string {
  const { id, title, status, assignee_id, blocked_reason, priority } = row;
  const who = assignee_id === null ? "unassigned" : assignee_id === selfId ? "yours" : assignee_id;
  const words = [status, TASK_PRIORITIES[priority] ?? "normal", who];
  if (blocked_reason !== null) words.push(`blocked by hand: ${inQuotes(blocked_reason)}`);
  return `- ${inQuotes(title)} (${id}): ${words.join(", ")}`;
}
