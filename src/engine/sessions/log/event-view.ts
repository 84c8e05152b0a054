/** Rows of the log as clients see them: whole events, and the entries of a transcript. */

import type { EventRow } from "#engine/schema.ts";
import type { SessionEvent } from "#protocol/events.ts";
import type { Notice } from "#protocol/notices/notices.ts";
import type { Author, Entry, Verdict } from "#protocol/sessions.ts";

export function isoTime(at: number): string {
  return new Date(at).toISOString();
}

/** Replaces the content of a redacted entry. */
export const REMOVED = "[removed]";

export function eventView(row: EventRow): SessionEvent {
  const gone = row.redacted_at !== null;
  return {
    seq: row.seq,
    type: row.type,
    v: row.v,
    at: isoTime(row.at),
    sessionId: row.session_id,
    thread: row.thread,
    promptId: row.prompt_id,
    runId: row.run_id,
    entryId: row.entry_id,
    kind: row.kind,
    role: row.role,
    content: gone
      ? [{ type: "text", text: REMOVED }]
      : (parse(row.content) as SessionEvent["content"]),
    toolName: row.tool_name,
    toolInput: gone ? null : parse(row.tool_input),
    toolOutput: gone ? null : parse(row.tool_output),
    error: gone ? null : row.error,
    exitCode: row.exit_code,
    reason: row.reason,
    data: parse(row.data) as SessionEvent["data"],
  };
}

/** Entry of a row; the row must have an entry id. */
export function entryView(row: EventRow): Entry {
  const event = eventView(row);
  const data = event.data ?? {};
  const isTool = event.type === "pre_tool" || event.type === "post_tool";
  return {
    id: row.entry_id as string,
    seq: event.seq,
    thread: event.thread ?? "main",
    promptId: event.promptId,
    kind: event.kind ?? "notice",
    role: event.role ?? "system",
    text: event.content ? textOf(event.content) : null,
    tool: isTool
      ? {
          name: event.toolName ?? "",
          callId: String(data.callId ?? ""),
          input: event.toolInput,
          output: event.toolOutput,
          error: event.error,
          exitCode: event.exitCode,
          durationMs: (data.durationMs as number | undefined) ?? null,
          truncated: data.truncated === true,
          verdict: (data.verdict as Verdict | undefined) ?? null,
        }
      : null,
    author: (data.author as Author | undefined) ?? null,
    notice: (data.notice as Notice | undefined) ?? null,
    partial: data.partial === true,
    at: event.at,
  };
}

function textOf(content: NonNullable<SessionEvent["content"]>): string {
  return content.map((block) => (typeof block.text === "string" ? block.text : "")).join("");
}

function parse(text: string | null): unknown {
  return text === null ? null : JSON.parse(text);
}
