/**
 * Messages of a child's transcript: its prompts, its texts, and the summary given to
 * complete_session. Entries without text are skipped.
 */
import type { Reader } from "#base/store/index.ts";
import { entryView, listCallEvents, listEntries } from "#engine/sessions/index.ts";
import type { Entry } from "#protocol/sessions.ts";
import { COMPLETE_SESSION } from "#protocol/tools.ts";

/** Page size and maximum number of pages of the search. */
const PAGE = 100;
const MAX_PAGES = 50;

type MessageKind = "text" | "prompt";

/** Lists the newest messages, oldest first. */
export async function listMessages(
  reader: Reader,
  sessionId: string,
  kinds: readonly MessageKind[],
  limit: number,
): Promise<Entry[]> {
  const written = await listWritten(reader, sessionId, kinds, limit);
  const after = written.length < limit ? 0 : (written[0]?.seq ?? 0);
  const tools = [COMPLETE_SESSION];
  const calls = await listCallEvents(reader, { sessionId, after, tools, limit: 2 * limit });
  const results = asMessages(calls.map(entryView));
  return [...written, ...results].sort((a, b) => a.seq - b.seq).slice(-limit);
}

async function listWritten(
  reader: Reader,
  sessionId: string,
  kinds: readonly MessageKind[],
  limit: number,
): Promise<Entry[]> {
  const found: Entry[] = [];
  let before: number | undefined;
  for (let page = 0; page < MAX_PAGES && found.length < limit; page++) {
    // The first page is enough unless entries are empty.
    const size = page === 0 ? limit : PAGE;
    const rows = await listEntries(reader, { sessionId, kinds, before, limit: size });
    found.unshift(...rows.map(entryView).filter(({ text }) => text?.trim()));
    if (rows.length < size) break;
    before = rows[0]?.seq;
  }
  return found.slice(-limit);
}

const callKey = ({ promptId, tool }: Entry) => `${promptId} ${tool?.callId}`;

/** Turns performed complete_session calls into messages; a call that failed is left out. */
function asMessages(calls: readonly Entry[]): Entry[] {
  const isPerformed = ({ kind, tool }: Entry) => kind === "tool_result" && tool?.error === null;
  const performed = new Set(calls.filter(isPerformed).map(callKey));
  return calls.flatMap((call): Entry[] => {
    const { summary } = (call.tool?.input ?? {}) as { summary?: unknown };
    const isGiven = call.kind === "tool_call" && performed.has(callKey(call));
    if (!isGiven || typeof summary !== "string") return [];
    return [{ ...call, kind: "text", role: "assistant", text: summary, tool: null }];
  });
}
