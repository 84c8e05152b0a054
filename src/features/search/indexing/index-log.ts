/** Indexes a session's transcript along its log, from its cursor. */
import type { Engine, SessionRow } from "#engine/index.ts";
import { findSession } from "#engine/sessions/index.ts";
import { ENTRY } from "../matching/places.ts";
import {
  addDocument,
  findDocument,
  isOurTurn,
  mergeIndex,
  type NewDocument,
  readCursor,
  saveCursor,
} from "../queries.ts";
import { documentOf } from "./document.ts";
import { DROP_ROOM } from "./drop-room.ts";
import { type EntryRow, listLog } from "./entry-queries.ts";
import { forgetEntries, MAX_CHARS, MERGED_PAGES } from "./index-changes.ts";
import { entryFound } from "./sources.ts";

/** Maximum of events in one transaction: all other writes wait for it. */
const MAX_EVENTS = 50;
const MAX_DOCUMENTS = 24;

/** Indexes a part of the log; true if its end was reached or there is no such session. */
export function indexLog({ store }: Engine, sessionId: string): Promise<boolean> {
  return store.transaction(async (tx) => {
    if (!(await isOurTurn(tx))) return false;
    const session = await findSession(tx, sessionId);
    if (!session || session.owner_id === null) return true;
    const from = await readCursor(tx, sessionId);
    if (from === session.last_seq) return true;
    // The log begins anew: documents of an earlier session with this id are removed first.
    if (from > session.last_seq) {
      await forgetEntries(tx, sessionId, DROP_ROOM);
      return false;
    }
    const { documents, through } = buildDocuments(
      session,
      await listLog(tx, sessionId, from, MAX_EVENTS),
    );
    for (const document of documents)
      if (!(await findDocument(tx, ENTRY, document.ref))) await addDocument(tx, document);
    await saveCursor(tx, sessionId, through);
    await mergeIndex(tx, MERGED_PAGES);
    return through === session.last_seq;
  });
}

/** Builds documents from the first events, as many as one transaction may hold. */
function buildDocuments(
  session: SessionRow,
  events: readonly EntryRow[],
): { documents: NewDocument[]; through: number } {
  const documents: NewDocument[] = [];
  let chars = 0;
  for (const event of events) {
    const row = entryFound(session, event);
    const document = row && documentOf(ENTRY, row);
    if (document) documents.push(document);
    // Read text counts even if no word of it is left.
    chars += row?.text.length ?? 0;
    if (documents.length >= MAX_DOCUMENTS || chars >= MAX_CHARS)
      return { documents, through: event.seq };
  }
  return { documents, through: events.at(-1)?.seq ?? session.last_seq };
}
