/** A child's conversation as another agent reads it, and passed on word for word. */
import type { Reader } from "#base/store/index.ts";
import { quoteLines } from "#base/text.ts";
import type { SessionWriter, Work } from "#engine/index.ts";
import { entryView, listEntries } from "#engine/sessions/index.ts";
import type { Entry } from "#protocol/sessions.ts";
import { REQUEST_PLAN_APPROVAL } from "#protocol/tools.ts";
import { lineOf } from "./children.ts";
import { inQuotes } from "./words.ts";

/** Looked at to find enough messages between the tool calls. */
const SCANNED = 500;
const MAX_MESSAGE_CHARS = 16_000;

/** The newest messages, in order and quoted; what the tools did stands between them in a line each. */
export async function readMessages(
  reader: Reader,
  sessionId: string,
  limit: number,
): Promise<{ text: string; count: number }> {
  const entries = (await listEntries(reader, { sessionId, limit: SCANNED })).map(entryView);
  const newest = newestMessages(entries, limit);
  const count = newest.filter(isMessage).length;
  return { text: newest.map(render).join("\n\n"), count };
}

function newestMessages(entries: readonly Entry[], limit: number): Entry[] {
  let left = limit;
  let from = entries.length;
  while (from > 0 && left > 0) {
    from -= 1;
    if (isMessage(entries[from] as Entry)) left -= 1;
  }
  return entries.slice(from).filter(({ kind }) => kind !== "reasoning" && kind !== "tool_result");
}

function isMessage({ kind }: Entry): boolean {
  return kind === "text" || kind === "prompt";
}

function render(entry: Entry): string {
  const plan = planIn(entry);
  if (plan !== undefined) return `[${entry.seq}] (presents a plan)\n${quoteLines(plan)}`;
  if (!isMessage(entry)) return `[${entry.seq}] (${lineOf(entry)})`;
  const { author } = entry;
  const asked = author ? `${author.kind} ${inQuotes(author.name)}` : "prompt";
  const who = entry.kind === "prompt" ? asked : "assistant";
  const text = entry.text ?? "";
  const shown =
    text.length <= MAX_MESSAGE_CHARS ? text : `${text.slice(0, MAX_MESSAGE_CHARS)}\n[… cut …]`;
  return `[${entry.seq}] ${who}:\n${quoteLines(shown)}`;
}

/** Whoever is to decide about it must be able to read all of it. */
function planIn({ kind, tool }: Entry): string | undefined {
  if (kind !== "tool_call" || tool?.name !== REQUEST_PLAN_APPROVAL) return undefined;
  const { plan } = (tool.input ?? {}) as { plan?: unknown };
  return typeof plan === "string" ? plan.slice(0, MAX_MESSAGE_CHARS) : undefined;
}

/** The newest messages that the child itself wrote, put into the parent's transcript as they are. */
export async function forwardMessages(
  work: Work,
  parent: SessionWriter,
  place: { thread: string; promptId: string; runId: string },
  child: SessionWriter,
  limit: number,
): Promise<number> {
  const { id: sessionId, title } = child.row;
  const entries = (await listEntries(work.tx, { sessionId, limit: SCANNED })).map(entryView);
  const said = entries.filter(({ kind, text }) => kind === "text" && text).slice(-limit);
  for (const { text, seq, at } of said) {
    parent.record({
      type: "notice",
      ...place,
      entryId: work.ids.mint("ent"),
      kind: "notice",
      role: "system",
      content: [{ type: "text", text: text ?? "" }],
      reason: "forwarded",
      data: {
        author: { kind: "session", id: sessionId, name: title ?? sessionId },
        forwarded: { sessionId, seq, at },
      },
    });
  }
  return said.length;
}
