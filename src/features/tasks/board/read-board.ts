/** Reads the tasks of a board for everyone who may see a session of its tree. */
import { notFound } from "#base/refusal.ts";
import type { Reader } from "#base/store/index.ts";
import {
  type Engine,
  may,
  type Principal,
  type SessionRow,
  sessionResource,
} from "#engine/index.ts";
import { findSession, treeTop } from "#engine/sessions/index.ts";
import type { Page } from "#protocol/page.ts";
import type { TaskCard } from "../contract.ts";
import { listTasksById } from "../queries.ts";
import type { TaskRow } from "../schema.ts";
import { readCards } from "./views.ts";

export type BoardFilter = Omit<Parameters<typeof readCards>[1], "boardId">;

/** Resolves the board of a session. Any session of a tree leads to the tree's board. */
export async function requireBoardOf(
  reader: Reader,
  principal: Principal,
  sessionId: string,
): Promise<SessionRow> {
  const session = await findSession(reader, sessionId);
  if (!session || !may(principal, "task.read", sessionResource(session))) throw notFound("session");
  return session;
}

/** Lists the tasks with these ids whose boards the principal may see. */
export async function listReadableTasks(
  reader: Reader,
  principal: Principal,
  ids: readonly string[],
): Promise<TaskRow[]> {
  const rows = await listTasksById(reader, [...new Set(ids)]);
  const readable = new Map<string, boolean>();
  for (const { session_id: boardId } of rows) {
    if (readable.has(boardId)) continue;
    const board = await findSession(reader, boardId);
    readable.set(
      boardId,
      board !== undefined && may(principal, "task.read", sessionResource(board)),
    );
  }
  return rows.filter(({ session_id: boardId }) => readable.get(boardId));
}

export function readBoard(
  { store, clock }: Engine,
  principal: Principal,
  sessionId: string,
  filter: BoardFilter,
): Promise<Page<TaskCard>> {
  return store.read(async (reader) => {
    const boardId = treeTop(await requireBoardOf(reader, principal, sessionId));
    return readCards(reader, { boardId, ...filter }, clock.now());
  });
}
