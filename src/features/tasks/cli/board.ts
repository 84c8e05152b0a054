/** Where boards and tasks are. */
import { ORCHESTRATOR } from "#protocol/session-ids.ts";
import type { Api } from "#surfaces/cli/client/api.ts";
import { findSessionId } from "#surfaces/cli/kit/find-session.ts";
import { ensureOrchestrator } from "#surfaces/cli/kit/orchestrator-path.ts";
import { sessionPath } from "#surfaces/cli/kit/session-path.ts";

/** Whose board, for all commands of the group. */
export interface BoardOptions {
  session: string;
}

export const BOARD_OPTION = [
  "--session <session>",
  "any session of the tree whose board it is: its id, the end of it, or its title",
  ORCHESTRATOR,
] as const;

/** What takes something away where a name is asked for. */
export const NONE = "none";

export async function tasksPath(api: Api, { session }: BoardOptions): Promise<string> {
  // The first task may come before the first conversation.
  if (session === ORCHESTRATOR) await ensureOrchestrator(api);
  return `${sessionPath(await findSessionId(api, session))}/tasks`;
}

export async function taskPath(api: Api, options: BoardOptions, id: string): Promise<string> {
  return `${await tasksPath(api, options)}/${encodeURIComponent(id)}`;
}
