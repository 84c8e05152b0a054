/** Journal items as events of the log, and back. */

import type { EventDraft } from "#engine/event-draft.ts";
import type { EventRow } from "#engine/schema.ts";
import type { JournalItem } from "#protocol/events.ts";
import type { Verdict } from "#protocol/sessions.ts";

export type PreTool = Extract<JournalItem, { type: "pre_tool" }>;

export function draftOf(item: JournalItem, verdict?: Verdict): EventDraft {
  const step = item.step === undefined ? {} : { step: item.step };
  switch (item.type) {
    case "message":
      return {
        type: "message",
        entryId: item.entryId,
        kind: item.kind,
        role: "assistant",
        content: [{ type: item.kind, text: item.text }],
        data: { ...step, ...metaOf(item), ...(item.partial ? { partial: true } : {}) },
      };
    case "pre_tool":
      return {
        type: "pre_tool",
        entryId: item.entryId,
        kind: "tool_call",
        role: "assistant",
        toolName: item.tool,
        toolInput: item.input,
        data: {
          ...step,
          ...metaOf(item),
          callId: item.callId,
          ...(item.cwd === undefined ? {} : { cwd: item.cwd }),
          ...(verdict ? { verdict } : {}),
        },
      };
    case "post_tool":
      return {
        type: "post_tool",
        entryId: item.entryId,
        kind: "tool_result",
        role: "assistant",
        toolName: item.tool,
        toolInput: item.input,
        toolOutput: item.output,
        error: item.error,
        exitCode: item.exitCode ?? null,
        data: {
          ...step,
          callId: item.callId,
          durationMs: item.durationMs ?? null,
          truncated: item.truncated ?? false,
          ...(item.images ? { images: item.images } : {}),
          ...(item.endsTurn ? { endsTurn: true } : {}),
        },
      };
    case "notice":
      return {
        type: "notice",
        entryId: item.entryId,
        kind: "notice",
        role: "assistant",
        content: [{ type: "text", text: item.text }],
        data: { ...step, ...forModelOf(item) },
      };
    default:
      return unseenDraft(item);
  }
}

type UnseenType = "model_call" | "context_summary" | "summary_failed" | "workspace_changed";

/** Drafts an event that watchers receive but that is no part of the transcript. */
function unseenDraft(item: Extract<JournalItem, { type: UnseenType }>): EventDraft {
  switch (item.type) {
    case "model_call": {
      const { type, entryId: _entryId, ...facts } = item;
      return { type, data: facts };
    }
    case "context_summary":
      return {
        type: "context_summary",
        data: { throughSeq: item.throughSeq, chars: item.text.length },
      };
    case "summary_failed":
      return { type: "summary_failed" };
    case "workspace_changed":
      return {
        type: "workspace_changed",
        data: {
          files: item.turn.files.length + item.turn.more,
          additions: item.turn.additions,
          deletions: item.turn.deletions,
        },
      };
  }
}

function forModelOf({ forModel }: { forModel?: boolean | undefined }) {
  return forModel ? { forModel } : {};
}

function metaOf({ meta }: { meta?: Record<string, unknown> | undefined }) {
  return meta === undefined ? {} : { meta };
}

interface EventData {
  step?: number;
  callId?: string;
  cwd?: string;
  partial?: boolean;
  meta?: Record<string, unknown>;
  verdict?: Verdict;
  images?: { sha256: string; mediaType: string }[];
  truncated?: boolean;
  endsTurn?: boolean;
  forModel?: boolean;
  durationMs?: number | null;
}

/** Reverse of `draftOf`, for entries of the transcript. */
export function journalItem(row: EventRow): JournalItem {
  const data = (row.data === null ? {} : JSON.parse(row.data)) as EventData;
  const base = {
    entryId: row.entry_id ?? "",
    ...(typeof data.step === "number" ? { step: data.step } : {}),
  };
  switch (row.type) {
    case "pre_tool":
      return {
        type: "pre_tool",
        ...base,
        ...metaOf(data),
        callId: String(data.callId),
        tool: row.tool_name ?? "",
        input: parse(row.tool_input),
        ...(data.cwd === undefined ? {} : { cwd: data.cwd }),
        ...(data.verdict ? { verdict: data.verdict } : {}),
      };
    case "post_tool":
      return { ...base, ...resultOf(row, data) };
    case "notice":
      return {
        type: "notice",
        ...base,
        text: textOf(row),
        ...forModelOf(data),
      };
    default:
      return {
        type: "message",
        ...base,
        ...metaOf(data),
        kind: row.kind === "reasoning" ? "reasoning" : "text",
        text: textOf(row),
        partial: data.partial === true,
      };
  }
}

function resultOf(row: EventRow, { callId, images, truncated, endsTurn, durationMs }: EventData) {
  return {
    type: "post_tool" as const,
    callId: String(callId),
    tool: row.tool_name ?? "",
    input: parse(row.tool_input),
    output: parse(row.tool_output),
    error: row.error,
    ...(row.exit_code === null ? {} : { exitCode: row.exit_code }),
    // A resumed turn counts the time it has worked before.
    ...(typeof durationMs === "number" ? { durationMs } : {}),
    ...(images ? { images } : {}),
    ...(truncated ? { truncated } : {}),
    ...(endsTurn ? { endsTurn } : {}),
  };
}

function parse(text: string | null): unknown {
  return text === null ? null : JSON.parse(text);
}

function textOf(row: EventRow): string {
  const blocks = parse(row.content) as { text: string }[] | null;
  return blocks?.map((block) => block.text).join("") ?? "";
}
