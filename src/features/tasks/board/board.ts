/**
 * The board of a session and the actor on it. A tree of sessions has one board, which belongs to the
 * session at the top: a child's tasks are on its parent's board.
 */
import { notFound, Refusal } from "#base/refusal.ts";
import type { Reader } from "#base/store/index.ts";
import type { SessionRow, SessionWriter, Work } from "#engine/index.ts";
import { findSession, treeTop } from "#engine/sessions/index.ts";
import { MAIN_THREAD } from "#protocol/sessions.ts";
import type { BoardNotice, Cause } from "../notify.ts";
import { findTask } from "../queries.ts";
import type { TaskRow } from "../schema.ts";

export interface Actor {
  /** `board`: the agent that owns the board; `child`: another session of its tree. */
  kind: "person" | "board" | "child";
  /** Key of the actor in records. */
  key: string;
  /** The acting session; null for a person. */
  sessionId: string | null;
  /** The thread that the session acts in. */
  thread: string;
}

/** A change in progress: the locked board, the actor, and the notices to send. */
export interface BoardEdit {
  work: Work;
  /** Locked, so that changes to one board run one after the other. */
  board: SessionWriter;
  actor: Actor;
  notices: BoardNotice[];
}

export function agentActor({ row }: SessionWriter, thread: string): Actor {
  const kind = treeTop(row) === row.id ? "board" : "child";
  return { kind, key: `session:${row.id}`, sessionId: row.id, thread };
}

export function personActor(key: string): Actor {
  return { kind: "person", key, sessionId: null, thread: MAIN_THREAD };
}

export const SYSTEM: Actor = {
  kind: "person",
  key: "system",
  sessionId: null,
  thread: MAIN_THREAD,
};

export function causeOf({ kind, key, sessionId }: Actor): Cause {
  return { sessionId, isPerson: kind === "person" && key !== SYSTEM.key };
}

/** Locks the board of a session. */
export async function openBoard(work: Work, row: SessionRow, actor: Actor): Promise<BoardEdit> {
  const board = await work.session(treeTop(row));
  if (!board) throw notFound("session");
  return { work, board, actor, notices: [] };
}

/** Returns a task of the board. A missing task and one of another board get the same refusal. */
export async function requireTask(reader: Reader, boardId: string, id: string): Promise<TaskRow> {
  const task = await findTask(reader, id);
  if (task?.session_id !== boardId) throw notFound("task");
  return task;
}

/** Requires a session that can be given a task of this board. */
export async function requireAssignee(
  { work, board }: Pick<BoardEdit, "work" | "board">,
  id: string,
): Promise<SessionRow> {
  const row = id === board.row.id ? board.row : await findSession(work.tx, id);
  const isThere = row && treeTop(row) === board.row.id && row.org_id === board.row.org_id;
  if (isThere && (row.lifecycle === "active" || row.lifecycle === "hibernated")) return row;
  throw new Refusal(
    "conflict",
    "session_not_on_board",
    `A task can be assigned to the session that owns the board or to one of its live children, and ${id} is neither.`,
  );
}

export function hint({ work, board }: Pick<BoardEdit, "work" | "board">, taskId: string): void {
  const topic = `board:${board.row.id}`;
  work.tx.afterCommit(() => work.announcer.hint(topic, "task", taskId));
}
