/**
 * Result of a run, the text that answers its caller: messages forwarded verbatim from children,
 * followed by the turn's own last text or the summary given to complete_session. Every reader of
 * results (`/api/runs`, callbacks, MCP) gets the same text.
 */
import type { KernelEvent, RunRow, Work } from "#engine/index.ts";
import { entryView, listEntries } from "#engine/sessions/index.ts";
import { type Entry, isOrchestrator } from "#protocol/sessions.ts";
import { endOfPiece } from "./notify/words.ts";
import { findCompletion } from "./waits/wait-queries.ts";

/** Marks a notice that contains a child's message. */
export const FORWARDED = "forwarded";

/** Limit of forwarded text in a result; the transcript has the rest. */
const MAX_FORWARDED_CHARS = 200_000;
const MAX_NOTICES = 500;

type Settling = Extract<KernelEvent, { type: "run_settling" }>;

export async function composeResult(work: Work, { session, run, answer }: Settling): Promise<void> {
  const completion = await findCompletion(work.tx, session.row.id, run.id);
  const own = completion?.summary ?? answer.result;
  // Only orchestrators can forward messages.
  const forwarded = isOrchestrator(session.row) ? await listForwarded(work, run) : [];
  if (forwarded.length === 0) {
    answer.result = own;
    return;
  }
  const texts = forwarded.map(({ author, text }) => `${author?.name ?? ""}:\n\n${text}`);
  answer.result = [limitLength(texts.join("\n\n"), run), own ?? ""]
    .filter((text) => text.trim() !== "")
    .join("\n\n");
}

async function listForwarded(
  work: Work,
  { session_id: sessionId, prompt_id, thread, first_seq: after }: RunRow,
): Promise<Entry[]> {
  const kinds = ["notice"] as const;
  const rows = await listEntries(work.tx, { sessionId, thread, after, kinds, limit: MAX_NOTICES });
  return rows
    .filter((row) => row.prompt_id === prompt_id && row.reason === FORWARDED)
    .map(entryView);
}

function limitLength(text: string, { session_id }: RunRow): string {
  const end = endOfPiece(text, MAX_FORWARDED_CHARS);
  if (end >= text.length) return text;
  const missing = text.length - end;
  return `${text.slice(0, end)}\n[${missing} more characters were forwarded; read them in session ${session_id}]`;
}
