import { quotesAny, replaceQuotes } from "#base/text/quoted-text.ts";
import type { SessionRow, Work } from "#engine/index.ts";
import { listOfChild, savePayload } from "./inbox-queries.ts";

/** Removes redacted words of a child from the events of its parent, delivered or pending. */
export async function redactChildEvents(
  work: Work,
  { id, parent_session_id: parentId }: SessionRow,
  words: readonly string[],
): Promise<void> {
  if (parentId === null) return;
  for (const { id: eventId, payload } of await listOfChild(work.tx, parentId, id)) {
    if (!quotesAny(payload, words.map(inJson))) continue;
    const redacted = replaceQuotes(JSON.parse(payload), words, "[removed]");
    await savePayload(work.tx, eventId, JSON.stringify(redacted));
  }
}

/** Form of a word inside a JSON string. */
const inJson = (word: string) => JSON.stringify(word).slice(1, -1);
