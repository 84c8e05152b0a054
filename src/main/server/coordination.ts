/** Boards and inbox of a person, which their own client may read besides their sessions. */
import type { Kernel } from "#engine/index.ts";
import { readRecentMessages } from "#features/mailbox/index.ts";
import { readBoard } from "#features/tasks/index.ts";
import type { Coordination } from "#surfaces/mcp/index.ts";

export function createCoordination({ engine }: Kernel): Coordination {
  return {
    listTasks: (person, sessionId, filter) => readBoard(engine, person, sessionId, filter),
    readInbox: (person, wish) => readRecentMessages(engine, person, wish),
  };
}
