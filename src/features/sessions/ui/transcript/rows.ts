/** Transcript rows, made from entries and drafts. Pure. */
import { type ShownNotice, shownNotice } from "#protocol/notices/notice-words.ts";
import type { Author, Entry } from "#protocol/sessions.ts";
import type { Approval } from "#surfaces/web/kit/approval.ts";
import { startOfDay } from "#surfaces/web/kit/text/time-words.ts";
import type { Drafts } from "../composer/drafts.ts";
import { foldAsides, isAside } from "../workspace/asides.ts";
import type { ToolUse } from "./entry-from-event.ts";
import { type GatePlaces, gateKey, placeGates } from "./gate-places.ts";

export type Row =
  | { type: "welcome"; key: string }
  | { type: "day"; key: string; at: string }
  /** `isFollowed`: notices of children came to its thread since. */
  | { type: "prompt"; key: string; entry: Entry; isFollowed: boolean }
  /** Notice of the platform about children, messages or tasks. */
  | {
      type: "wake";
      key: string;
      notice: ShownNotice;
      text: string;
      /** Person who wrote the message; null if the notice names the sender. */
      writer: Author | null;
      promptId: string | null;
      at: string;
      isFollowed: boolean;
    }
  /** One whole turn in which the agent answered somebody other than its owner. */
  | {
      type: "aside";
      key: string;
      notice: ShownNotice | null;
      text: string;
      at: string;
      rows: Row[];
      needsYou: boolean;
    }
  /** Forwarded words of another session. */
  | { type: "forwarded"; key: string; text: string; author: Author; at: string }
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
  | {
      type: "tool";
      key: string;
      use: ToolUse;
      phase: ToolPhase;
      /** True if a person or a rule refused the call. */
      isRefused: boolean;
      at: string | null;
    }
  /** `isChilds`: asked by a child of the session that is shown. */
  | { type: "gate"; key: string; approval: Approval; isChilds: boolean }
  | { type: "notice"; key: string; text: string; at: string }
  /** The session works and has no output yet. */
  | { type: "pulse"; key: string; promptId: string | null };

/** `waiting`: the turn waits for a person, or the call is queued. `cut`: no result will come. */
export type ToolPhase = "writing" | "running" | "waiting" | "done" | "cut";

export interface RowInput {
  entries: readonly Entry[];
  drafts: Drafts;
  /** True if the session works: unanswered calls of the last turn are running, older ones were cut. */
  isWorking: boolean;
  /** True if the last turn is parked until a person answers: its unanswered calls wait. */
  isParked?: boolean;
  /** Gates of the session and of its children. */
  approvals?: readonly Approval[];
  sessionId?: string;
}

export function buildRows(input: RowInput): Row[] {
  const { entries, drafts, isWorking } = input;
  const gates = placeGates(entries, input.approvals ?? []);
  const unanswered = isWorking ? "running" : input.isParked ? "waiting" : "cut";
  const rows = entryRows(entries, unanswered, gates);
  const finished = new Set(entries.map((entry) => entry.id));
  const unfinished = drafts.filter((draft) => !finished.has(draft.entryId));
  const own = unfinished.filter((draft) => !isAside(draft));
  const writing = showProgress(rows, own);
  const first = writing[0];
  if (first && !isAgentSpeaking(rows)) {
    rows.push({ type: "agent", key: `agent:${first.entryId}`, at: "" });
  }
  for (const draft of writing) rows.push(draftRow(draft));
  for (const approval of gates.rest)
    rows.push(gateRow(approval, approval.sessionId !== (input.sessionId ?? approval.sessionId)));
  const last = rows.at(-1);
  const showsWork = writing.length > 0 || (last?.type === "tool" && last.phase === "running");
  if (isWorking && !showsWork)
    rows.push({ type: "pulse", key: "pulse", promptId: entries.at(-1)?.promptId ?? null });
  return rows;
}

/**
 * Shows the live output of a running tool in the tool's row, and returns the other drafts. A draft of a
 * call is such output while a tool runs, because the model writes no calls then.
 */
function showProgress(rows: Row[], drafts: Drafts): Drafts {
  const at = rows.findIndex((row) => row.type === "tool" && row.phase === "running");
  const row = rows[at];
  const progress = drafts.find((draft) => draft.kind === "tool_call");
  if (row?.type !== "tool" || progress === undefined) return drafts;
  rows[at] = { ...row, use: { ...row.use, output: progress.text.slice(-PROGRESS_CHARS) } };
  return drafts.filter((draft) => draft.kind !== "tool_call");
}

const PROGRESS_CHARS = 20_000;

function gateRow(approval: Approval, isChilds = false): Row {
  return { type: "gate", key: `gate:${approval.id}`, approval, isChilds };
}

function entryRows(
  entries: readonly Entry[],
  unanswered: "running" | "waiting" | "cut",
  gates: GatePlaces,
): Row[] {
  const results = resultsByCall(entries);
  const lastChildNoticeAt = lastChildNotices(entries);
  const calls = new Set(entries.filter((entry) => entry.kind === "tool_call").map(callKey));
  const lastPrompt = entries.at(-1)?.promptId ?? null;
  const toRow = (entry: Entry) => {
    const gate = gates.byCall.get(callKey(entry));
    const phase = entry.promptId === lastPrompt ? unanswered : "cut";
    return withGate(rowOf(entry, { results, phase, gate, lastChildNoticeAt }), gate);
  };
  const isShownByCall = (entry: Entry) => entry.kind === "tool_result" && calls.has(callKey(entry));
  const rows: Row[] = [];
  let day = Number.NaN;
  let speaker: Speaker = "person";
  for (const turn of foldAsides(entries)) {
    const { first: entry } = turn;
    if (turn.rest === null && isShownByCall(entry)) continue;
    const entryDay = startOfDay(Date.parse(entry.at));
    if (entryDay !== day) rows.push({ type: "day", key: `day:${entry.id}`, at: entry.at });
    day = entryDay;
    if (turn.rest !== null) {
      const shownEntries = turn.rest.filter((one) => !isShownByCall(one));
      rows.push(asideRow(entry, shownEntries.flatMap(toRow)));
      speaker = "person";
      continue;
    }
    const currentSpeaker: Speaker = speakerOf(entry) ?? speaker;
    if (currentSpeaker === "agent" && speaker !== "agent") {
      rows.push({ type: "agent", key: `agent:${entry.id}`, at: entry.at });
    }
    speaker = currentSpeaker;
    rows.push(...toRow(entry));
  }
  return rows;
}

function asideRow({ id, kind, text, at, notice }: Entry, rows: Row[]): Row {
  const needsYou = rows.some((row) => row.type === "gate" && row.approval.state === "pending");
  const promptText = kind === "prompt" ? (text ?? "") : "";
  return {
    type: "aside",
    key: id,
    notice: shownNotice(notice),
    text: promptText,
    at,
    rows,
    needsYou,
  };
}

/** Replaces the call by its gate for questions and pending plans, which the call would only repeat. */
function withGate(row: Row, gate: Approval | undefined): Row[] {
  if (gate === undefined) return [row];
  const isShown = gate.kind === "question" || (gate.kind === "plan" && gate.state === "pending");
  return isShown ? [gateRow(gate)] : [row, gateRow(gate)];
}

interface CallContext {
  results: Map<string, ToolUse>;
  /** Phase of a call without a result. */
  phase: ToolPhase;
  gate: Approval | undefined;
  /** Sequence number of the last notice of children, by thread. */
  lastChildNoticeAt: ReadonlyMap<string, number>;
}

type Speaker = "person" | "agent";

/** Returns undefined for entries without a speaker, which do not end a speaker's group. */
function speakerOf(entry: Entry): Speaker | undefined {
  if (entry.kind === "prompt" || entry.role === "user") return "person";
  return entry.kind === "notice" ? undefined : "agent";
}

const NOT_BY_AGENT: ReadonlySet<Row["type"]> = new Set(["prompt", "wake", "aside"]);

function isAgentSpeaking(rows: readonly Row[]): boolean {
  const last = rows.findLast((row) => row.type !== "notice" && row.type !== "day");
  return last !== undefined && !NOT_BY_AGENT.has(last.type);
}

function rowOf(entry: Entry, context: CallContext): Row {
  const text = entry.text ?? "";
  if (entry.kind === "prompt" || entry.role === "user")
    return promptRow(entry, context.lastChildNoticeAt);
  if (entry.kind === "notice") return noticeRow(entry);
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
  return toolRow(entry, entry.tool, context);
}

function promptRow(entry: Entry, lastChildNoticeAt: ReadonlyMap<string, number>): Row {
  const { id: key, text, promptId, at, author } = entry;
  const isFollowed = (lastChildNoticeAt.get(entry.thread) ?? 0) > entry.seq;
  const notice = shownNotice(entry.notice);
  if (notice === null) return { type: "prompt", key, entry, isFollowed };
  const writer = author?.kind === "user" ? author : null;
  return { type: "wake", key, notice, text: text ?? "", writer, promptId, at, isFollowed };
}

/** Finds the last notice of children per thread: earlier prompts of that thread wait no longer. */
function lastChildNotices(entries: readonly Entry[]): Map<string, number> {
  const notices = entries.filter(({ notice }) => notice?.kind === "children");
  return new Map(notices.map(({ thread, seq }) => [thread, seq]));
}

function noticeRow({ id: key, text, author, at }: Entry): Row {
  const isForwarded = author?.kind === "session";
  return isForwarded
    ? { type: "forwarded", key, text: text ?? "", author, at }
    : { type: "notice", key, text: text ?? "", at };
}

function toolRow(entry: Entry, tool: ToolUse, { results, phase, gate }: CallContext): Row {
  const result = entry.kind === "tool_result" ? tool : results.get(callKey(entry));
  const use = result ? { ...tool, ...result, input: tool.input ?? result.input } : tool;
  const isDone = result !== undefined || hasOutcome(tool);
  const unanswered = gate?.state === "pending" ? "waiting" : phase;
  return {
    type: "tool",
    key: entry.id,
    use,
    phase: isDone ? "done" : unanswered,
    isRefused: isRefused(use, gate),
    at: entry.at,
  };
}

function isRefused(use: ToolUse, gate: Approval | undefined): boolean {
  if (use.verdict?.verdict === "deny") return true;
  return gate?.state === "expired" || (gate?.state === "decided" && gate.decision === "deny");
}

function draftRow(draft: Drafts[number]): Row {
  const { entryId: key, text } = draft;
  if (draft.kind === "reasoning")
    return { type: "reasoning", key, text, isWriting: true, isPartial: false };
  if (draft.kind === "text") {
    return { type: "text", key, text, isWriting: true, isPartial: false, at: null };
  }
  const use: ToolUse = {
    name: draft.toolName ?? "tool call",
    callId: key,
    input: text,
    output: null,
    error: null,
    exitCode: null,
    durationMs: null,
    truncated: false,
    verdict: null,
  };
  return { type: "tool", key, use, phase: "writing", isRefused: false, at: null };
}

function resultsByCall(entries: readonly Entry[]): Map<string, ToolUse> {
  const results = new Map<string, ToolUse>();
  for (const entry of entries) {
    if (entry.kind === "tool_result" && entry.tool) results.set(callKey(entry), entry.tool);
  }
  return results;
}

function hasOutcome(use: ToolUse): boolean {
  return use.output !== null || use.error !== null || use.exitCode !== null;
}

function callKey(entry: Entry): string {
  return gateKey(entry.promptId, entry.tool?.callId ?? entry.id);
}
