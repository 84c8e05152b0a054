/** What the transcript shows, line by line, made from entries and drafts. Pure. */
import type { Entry } from "#protocol/sessions.ts";
import { startOfDay } from "#surfaces/web/kit/time-words.ts";
import type { Drafts } from "./drafts.ts";

export type ToolUse = NonNullable<Entry["tool"]>;

export type Row =
  | { type: "day"; key: string; at: string }
  | { type: "prompt"; key: string; entry: Entry }
  | { type: "agent"; key: string; at: string }
  | {
      type: "text";
      key: string;
      text: string;
      isWriting: boolean;
      isPartial: boolean;
      at: string | null;
    }
  | { type: "reasoning"; key: string; text: string; isWriting: boolean; isPartial: boolean }
  | { type: "tool"; key: string; use: ToolUse; isDone: boolean; isLive: boolean; at: string | null }
  | { type: "notice"; key: string; text: string; at: string }
  /** At work, with nothing to show for it yet. */
  | { type: "pulse"; key: string };

export interface RowInput {
  entries: readonly Entry[];
  drafts: Drafts;
  /** The session is at work: unanswered calls of the last turn are running, older ones were cut. */
  isWorking: boolean;
}

export function buildRows({ entries, drafts, isWorking }: RowInput): Row[] {
  const rows = entryRows(entries, isWorking);
  const finished = new Set(entries.map((entry) => entry.id));
  const writing = drafts.filter((draft) => !finished.has(draft.entryId));
  const first = writing[0];
  if (first && !isAgentSpeaking(rows)) {
    rows.push({ type: "agent", key: `agent:${first.entryId}`, at: "" });
  }
  for (const draft of writing) rows.push(draftRow(draft));
  const last = rows.at(-1);
  const isBusyInSight = writing.length > 0 || (last?.type === "tool" && last.isLive);
  if (isWorking && !isBusyInSight) rows.push({ type: "pulse", key: "pulse" });
  return rows;
}

function entryRows(entries: readonly Entry[], isWorking: boolean): Row[] {
  const results = resultsByCall(entries);
  const calls = new Set(entries.filter((entry) => entry.kind === "tool_call").map(callId));
  const livePrompt = isWorking ? (entries.at(-1)?.promptId ?? null) : undefined;
  const rows: Row[] = [];
  let day = Number.NaN;
  let speaker: Speaker = "person";
  for (const entry of entries) {
    if (entry.kind === "tool_result" && calls.has(callId(entry))) continue;
    const entryDay = startOfDay(Date.parse(entry.at));
    if (entryDay !== day) rows.push({ type: "day", key: `day:${entry.id}`, at: entry.at });
    day = entryDay;
    const speaks: Speaker = speakerOf(entry) ?? speaker;
    if (speaks === "agent" && speaker !== "agent") {
      rows.push({ type: "agent", key: `agent:${entry.id}`, at: entry.at });
    }
    speaker = speaks;
    rows.push(rowOf(entry, results, entry.promptId === livePrompt));
  }
  return rows;
}

type Speaker = "person" | "agent";

/** Undefined for what nobody says: it does not end anybody's speech. */
function speakerOf(entry: Entry): Speaker | undefined {
  if (entry.kind === "prompt" || entry.role === "user") return "person";
  return entry.kind === "notice" ? undefined : "agent";
}

function isAgentSpeaking(rows: readonly Row[]): boolean {
  const last = rows.findLast((row) => row.type !== "notice" && row.type !== "day");
  return last !== undefined && last.type !== "prompt";
}

function rowOf(entry: Entry, results: Map<string, ToolUse>, isLive: boolean): Row {
  const text = entry.text ?? "";
  if (entry.kind === "prompt" || entry.role === "user")
    return { type: "prompt", key: entry.id, entry };
  if (entry.kind === "notice") return { type: "notice", key: entry.id, text, at: entry.at };
  if (entry.kind === "reasoning") {
    return { type: "reasoning", key: entry.id, text, isWriting: false, isPartial: entry.partial };
  }
  if (entry.tool === null) {
    return {
      type: "text",
      key: entry.id,
      text,
      isWriting: false,
      isPartial: entry.partial,
      at: entry.at,
    };
  }
  const result = entry.kind === "tool_result" ? entry.tool : results.get(entry.tool.callId);
  const use = result
    ? { ...entry.tool, ...result, input: entry.tool.input ?? result.input }
    : entry.tool;
  const isDone = result !== undefined || hasOutcome(entry.tool);
  return { type: "tool", key: entry.id, use, isDone, isLive: isLive && !isDone, at: entry.at };
}

function draftRow(draft: Drafts[number]): Row {
  const { entryId: key, text } = draft;
  if (draft.kind === "reasoning")
    return { type: "reasoning", key, text, isWriting: true, isPartial: false };
  if (draft.kind === "text") {
    return { type: "text", key, text, isWriting: true, isPartial: false, at: null };
  }
  const use: ToolUse = {
    name: "tool call",
    callId: key,
    input: text,
    output: null,
    error: null,
    exitCode: null,
    durationMs: null,
    truncated: false,
  };
  return { type: "tool", key, use, isDone: false, isLive: true, at: null };
}

function resultsByCall(entries: readonly Entry[]): Map<string, ToolUse> {
  const results = new Map<string, ToolUse>();
  for (const entry of entries) {
    if (entry.kind === "tool_result" && entry.tool) results.set(entry.tool.callId, entry.tool);
  }
  return results;
}

function hasOutcome(use: ToolUse): boolean {
  return use.output !== null || use.error !== null || use.exitCode !== null;
}

function callId(entry: Entry): string {
  return entry.tool?.callId ?? entry.id;
}
