/** Kernel events that concern boards: sessions that end or leave their tree, and people who speak. */
import type { KernelEvent, Listener, Work } from "#engine/index.ts";
import { treeTop } from "#engine/sessions/index.ts";
import { type BoardEdit, openBoard, SYSTEM } from "./board/board.ts";
import { factsOf, openBlockersOf } from "./board/dependents.ts";
import { blockForPlan, unblockAfterPlan, withoutPlanBlock } from "./changes/plan-block.ts";
import { saveChanged } from "./changes/record-changes.ts";
import { isSettled, nextStatus } from "./changes/status.ts";
import { releaseHeldNotices } from "./notify.ts";
import { findTask, listOpenOf } from "./queries.ts";
import type { TaskRow } from "./schema.ts";

export const listen: Listener = async (work, event) => {
  if (event.type === "prompt_admitted") return promptAdmitted(work, event);
  if (event.type === "gate_opened") return blockForPlan(work, event.gate);
  if (event.type === "gate_closed") return unblockAfterPlan(work, event.gate);
  const why = reasonIn(event);
  if (why !== undefined) await unassignOpenTasks(work, why.sessionId, why.word);
};

async function promptAdmitted(
  work: Work,
  { session, prompt }: Extract<KernelEvent, { type: "prompt_admitted" }>,
): Promise<void> {
  if (prompt.author_kind === "user" || prompt.author_kind === "channel")
    await releaseHeldNotices(work, treeTop(session.row));
}

interface Reason {
  sessionId: string;
  word: string;
}

function reasonIn(event: KernelEvent): Reason | undefined {
  if (event.type === "session_lifecycle") {
    const { id: sessionId, lifecycle: word } = event.session.row;
    return word === "archived" || word === "terminated" ? { sessionId, word } : undefined;
  }
  const hasLeft = event.type === "session_changed" && event.fields.includes("parentSessionId");
  return hasLeft ? { sessionId: event.session.row.id, word: "detached" } : undefined;
}

/** Unassigns the open tasks of a session that ends or leaves its tree. */
async function unassignOpenTasks(work: Work, sessionId: string, why: string): Promise<void> {
  for (const { id, session_id: boardId } of await listOpenOf(work.tx, sessionId)) {
    // The session's own board ends with it and stays unchanged.
    const board = boardId === sessionId ? undefined : await work.session(boardId);
    if (!board) continue;
    const edit = await openBoard(work, board.row, SYSTEM);
    // Read again under the board's lock.
    const task = await findTask(work.tx, id);
    if (task?.assignee_id === sessionId && !isSettled(task.status)) await unassign(edit, task, why);
  }
}

async function unassign(edit: BoardEdit, task: TaskRow, why: string): Promise<void> {
  const row: TaskRow = { ...withoutPlanBlock(task), assignee_id: null };
  const openBlockers = (await openBlockersOf(edit, [task.id])).get(task.id) ?? [];
  const { status } = nextStatus({ ...factsOf(row), openBlockers }, {});
  row.status = status === "in_progress" ? "pending" : status;
  row.note = `Its session, ${task.assignee_id}, was ${why}.`;
  await saveChanged(edit, task, row);
}
