/** Converts an entry of the transcript to its event, so that past and present look alike; pure. */
import type { EventType, SessionEvent } from "#protocol/events.ts";
import type { Entry, EntryKind } from "#protocol/sessions.ts";

const TYPES: Record<EntryKind, EventType> = {
  text: "message",
  reasoning: "message",
  prompt: "message",
  tool_call: "pre_tool",
  tool_result: "post_tool",
  notice: "notice",
};

export function eventOfEntry(sessionId: string, entry: Entry): SessionEvent {
  const { tool } = entry;
  return {
    seq: entry.seq,
    type: TYPES[entry.kind],
    v: 1,
    at: entry.at,
    sessionId,
    thread: entry.thread,
    promptId: entry.promptId,
    runId: null,
    entryId: entry.id,
    kind: entry.kind,
    role: entry.role,
    content: entry.text === null ? null : [{ type: "text", text: entry.text }],
    toolName: tool?.name ?? null,
    toolInput: tool?.input ?? null,
    toolOutput: tool?.output ?? null,
    error: tool?.error ?? null,
    exitCode: tool?.exitCode ?? null,
    reason: null,
    data: {
      author: entry.author,
      notice: entry.notice,
      callId: tool?.callId ?? null,
      partial: entry.partial,
    },
  };
}
