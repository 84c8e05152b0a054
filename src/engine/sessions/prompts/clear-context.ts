/** A fresh context: the thread's history stays readable, but the agent no longer sees it. */
import type { SessionWriter, Work } from "#engine/work.ts";
import { findThread, resetContext } from "../queries.ts";

export function isClear(content: string): boolean {
  return content.trim() === "/clear";
}

export async function clearContext(
  work: Work,
  session: SessionWriter,
  threadName: string,
): Promise<void> {
  const thread = await findThread(work.tx, session.row.id, threadName);
  const seq = session.record({
    type: "notice",
    thread: threadName,
    entryId: work.ids.mint("ent"),
    kind: "notice",
    role: "system",
    content: [
      {
        type: "text",
        text: "Fresh context: the history is kept, but the agent no longer sees it.",
      },
    ],
    reason: "context_cleared",
  });
  if (thread) await resetContext(work.tx, thread.id, seq);
}
