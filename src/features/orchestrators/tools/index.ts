/** Tools of an orchestrator's agent for its child sessions; supervisors share two of them. */
import type { Tool } from "#engine/tools/index.ts";
import { forwardMessagesTool, sendMessage, terminateSession } from "./act-on-children.ts";
import { listPersonas, listRepos } from "./choices.ts";
import { getSessionStatus, listSessions, readMessagesTool } from "./look-at-children.ts";
import { createSpawnSession } from "./spawn-session.ts";
import { sleep, waitForEvent } from "./wait-for-event.ts";

/** `publicUrl`: address at which people reach the server. */
export function createOrchestratorTools({
  publicUrl,
}: {
  publicUrl?: string | undefined;
}): readonly Tool[] {
  return [
    createSpawnSession(publicUrl),
    sendMessage,
    readMessagesTool,
    forwardMessagesTool,
    getSessionStatus,
    listSessions,
    terminateSession,
    waitForEvent,
    sleep,
    listRepos,
    listPersonas,
  ];
}
