/**
 * The messages of a child's transcript: what it was asked, what it wrote, and the result that it gave
 * with complete_session. Entries without words are passed over.
 */
import type { Reader } from "#base/store/index.ts";
import { entryView, listCallEvents, listEntries } from "#engine/sessions/index.ts";
import type { Entry } from "#protocol/sessions.ts";
import { COMPLETE_SESSION } from "#protocol/tools.ts";

/** One look at the log takes so many entries, and there are so many looks at most. */
const PAGE = 100;
const MAX_PAGES = 50;

type SaidKind = "text" | "prompt";

/** The newest messages, in order. */
export async function listSaid(
  reader: Reader,
  sessionId: string,
  kinds: readonly SaidKind[],
  limit: number,
): Promise<Entry[]> {
  const said = await listWritten(reader, sessionId, kinds, limit);
  const after = said.length < limit ? 0 : (said[0]?.seq ?? 0);
  const tools = [COMPLETE_SESSION];
  const calls = await listCallEvents(reader, { sessionId, after, tools, limit: 2 * limit });
  const results = asMessages(calls.map(entryView));
  return [...said, ...results].sort((a, b) => a.seq - b.seq).slice(-limit);
}

async function listWritten(
  reader: Reader,
  sessionId: string,
  kinds: readonly SaidKind[],
  limit: number,
): Promise<Entry[]> {
  const found: Entry[] = [];
  let before: number | undefined;
  for (let page = 0; page < MAX_PAGES && found.length < limit; page++) {
    // The first look is enough unless entries are empty.
    const size = page === 0 ? limit : PAGE;
    const rows = await listEntries(reader, { sessionId, kinds, before, limit: size });
    found.unshift(...rows.map(entryView).filter(({ text }) => text?.trim()));
    if (rows.length < size) break;
    before = rows[0]?.seq;
  }
  return found.slice(-limit);
}

const callKey = ({ promptId, tool }: Entry) => `${promptId} ${tool?.callId}`;

/** Results that were given, each as the message that it is; a call that was not performed is none. */
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
