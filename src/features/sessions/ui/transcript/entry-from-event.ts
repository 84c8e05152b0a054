/** Transcript entry of a durable event; undefined when the event has none. */
import type { SessionEvent } from "#protocol/events.ts";
import type { Notice } from "#protocol/notices/notices.ts";
import type { Author, Entry, Verdict } from "#protocol/sessions.ts";
import { isRecord } from "#surfaces/web/kit/api/api-client.ts";

export function entryFromEvent(event: SessionEvent): Entry | undefined {
  if (event.entryId === null) return undefined;
  const base = {
    id: event.entryId,
    seq: event.seq,
    thread: event.thread ?? "main",
    promptId: event.promptId,
    author: authorOf(event),
    notice: isRecord(event.data?.notice) ? (event.data.notice as unknown as Notice) : null,
    partial: event.data?.partial === true,
    at: event.at,
    text: null,
    tool: null,
  };
  switch (event.type) {
    case "message": {
      const role = event.role ?? "assistant";
      const kind = event.kind ?? (role === "user" ? "prompt" : "text");
      return { ...base, kind, role, text: textOf(event) };
    }
    case "notice":
      return {
        ...base,
        kind: "notice",
        role: "system",
        text: textOf(event) || (event.reason ?? ""),
      };
    case "pre_tool":
      return { ...base, kind: "tool_call", role: "assistant", tool: toolOf(event, event.entryId) };
    case "post_tool":
      return {
        ...base,
        kind: "tool_result",
        role: "assistant",
        tool: toolOf(event, event.entryId),
      };
    default:
      return undefined;
  }
}

function textOf(event: SessionEvent): string {
  const blocks = event.content ?? [];
  const text = blocks.map((block) => (typeof block.text === "string" ? block.text : "")).join("");
  if (text !== "") return text;
  return typeof event.data?.text === "string" ? event.data.text : "";
}

function authorOf(event: SessionEvent): Author | null {
  const author = event.data?.author;
  if (!isRecord(author) || typeof author.name !== "string") return null;
  return author as unknown as Author;
}

export type ToolUse = NonNullable<Entry["tool"]>;

function toolOf(event: SessionEvent, entryId: string): ToolUse {
  const data = event.data ?? {};
  return {
    name: event.toolName ?? "tool",
    callId: typeof data.callId === "string" ? data.callId : entryId,
    input: event.toolInput ?? null,
    output: event.toolOutput ?? null,
    error: event.error,
    exitCode: event.exitCode,
    durationMs: typeof data.durationMs === "number" ? data.durationMs : null,
    truncated: data.truncated === true,
    verdict: isRecord(data.verdict) ? (data.verdict as unknown as Verdict) : null,
  };
}
