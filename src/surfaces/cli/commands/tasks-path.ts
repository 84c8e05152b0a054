import { sessionPath } from "./session-path.ts";

/** Whose board, for all commands of the group. */
export interface BoardOptions {
  session: string;
}

export const BOARD_OPTION = [
  "--session <id>",
  "any session of the tree whose board it is",
  "orchestrator",
] as const;

export function tasksPath({ session }: BoardOptions): string {
  return `${sessionPath(session)}/tasks`;
}

export function taskPath(options: BoardOptions, id: string): string {
  return `${tasksPath(options)}/${encodeURIComponent(id)}`;
}
