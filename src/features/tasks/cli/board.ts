/** The option that names a board, and the session that owns it. */
import { ORCHESTRATOR } from "#protocol/names/session-ids.ts";
import type { Api } from "#surfaces/cli/client/api.ts";
import { ensureOrchestrator, findSessionId } from "#surfaces/cli/kit/find-session.ts";

/** Options of all commands of the group. */
export interface BoardOptions {
  session: string;
}

export const BOARD_OPTION = [
  "--session <session>",
  "any session of the tree that the board belongs to: its id, the end of its id, or its title",
  ORCHESTRATOR,
] as const;

/** Removes a value where a name is expected. */
export const NONE = "none";

/** Resolves the id of the session that leads to the board. */
export async function resolveBoard(api: Api, { session }: BoardOptions): Promise<string> {
  // The first task may come before the first conversation.
  if (session === ORCHESTRATOR) await ensureOrchestrator(api);
  return findSessionId(api, session);
}
