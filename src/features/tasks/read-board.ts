/** The tasks of a board, for whoever may see the session that leads to it. */
import { notFound } from "#base/refusal.ts";
import type { Reader } from "#base/store/index.ts";
import { type Engine, may, type Principal, type SessionRow, sessionThing } from "#engine/index.ts";
import { findSession, treeTop } from "#engine/sessions/index.ts";
import type { Page } from "#protocol/page.ts";
import type { TaskCard } from "./contract.ts";
import { readCards } from "./views.ts";

export type BoardFilter = Omit<Parameters<typeof readCards>[1], "boardId">;

/** Any session of a tree leads to its board. */
export async function requireBoardOf(
  reader: Reader,
  principal: Principal,
  sessionId: string,
): Promise<SessionRow> {
  const session = await findSession(reader, sessionId);
  if (!session || !may(principal, "task.read", sessionThing(session))) throw notFound("session");
  return session;
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
