/** Events before they are appended to a session's log, and the rows that they become. */
import { cleanJson, cleanText } from "#base/text/clean-text.ts";
import type { EventType } from "#protocol/events.ts";
import type { EntryKind } from "#protocol/sessions.ts";
import type { EventRow, SessionRow } from "./schema.ts";

const EVENT_VERSION = 1;

export interface EventDraft {
  type: EventType;
  thread?: string | null;
  promptId?: string | null;
  runId?: string | null;
  entryId?: string;
  kind?: EntryKind;
  role?: "user" | "assistant" | "system";
  content?: readonly Record<string, unknown>[];
  toolName?: string;
  toolInput?: unknown;
  toolOutput?: unknown;
  error?: string | null;
  exitCode?: number | null;
  reason?: string | null;
  data?: Record<string, unknown>;
}

/** Row of a draft, at the session's last seq. */
export function eventRow(session: SessionRow, draft: EventDraft, now: number): EventRow {
  return {
    session_id: session.id,
    seq: session.last_seq,
    org_id: session.org_id,
    type: draft.type,
    v: EVENT_VERSION,
    at: now,
    thread: draft.thread ?? null,
    prompt_id: draft.promptId ?? null,
    run_id: draft.runId ?? null,
    entry_id: clean(draft.entryId),
    kind: draft.kind ?? null,
    role: draft.role ?? null,
    content: json(draft.content),
    tool_name: clean(draft.toolName),
    tool_input: json(draft.toolInput),
    tool_output: json(draft.toolOutput),
    error: clean(draft.error),
    exit_code: draft.exitCode ?? null,
    reason: draft.reason ?? null,
    data: json(draft.data),
    redacted_at: null,
  };
}

const json = (value: unknown) => (value === undefined || value === null ? null : cleanJson(value));
const clean = (text: string | null | undefined) => (text == null ? null : cleanText(text));
