/**
 * Sources of searchable things: those that features declare, and two kinds of the kernel. Sessions are
 * like any other thing; entries of transcripts are read along their logs.
 */
import type { Reader } from "#base/store/index.ts";
import type { Action, Searchable, SearchableRow, SessionRow } from "#engine/index.ts";
import { findSession } from "#engine/sessions/index.ts";
import { SEARCH_KINDS, type SearchKind } from "../contract.ts";
import { ENTRY, entryPlace, entryRef } from "../matching/places.ts";
import { type EntryRow, findEntry } from "./entry-queries.ts";
import { textOfEntry } from "./entry-text.ts";

export interface Source {
  kind: SearchKind;
  action: Action;
  read(reader: Reader, refs: readonly string[]): Promise<SearchableRow[]>;
}

export type Sources = ReadonlyMap<string, Source>;

const UNTITLED = "Untitled session";

/** Readers of a session: its owner. Nobody can find the org's own sessions. */
const readersOf = ({ owner_id }: SessionRow) => (owner_id === null ? [] : [owner_id]);

export const sessionsToFind: Searchable = {
  kind: "session",
  action: "session.read",
  table: "sessions",
  columns: ["title"],
  version: 1,
  async read(reader, ids) {
    const found: SearchableRow[] = [];
    for (const id of ids) {
      const row = await findSession(reader, id);
      if (row) found.push(sessionFound(row));
    }
    return found;
  },
};

function sessionFound(row: SessionRow): SearchableRow {
  return {
    id: row.id,
    orgId: row.org_id,
    readers: readersOf(row),
    title: row.title ?? UNTITLED,
    isTitleBorrowed: row.title === null,
    text: [row.repo, row.branch].filter((text) => text !== null).join(" "),
    at: row.updated_at,
    url: `/sessions/${encodeURIComponent(row.id)}`,
  };
}

const entriesToFind: Source = {
  kind: ENTRY,
  action: "session.read",
  async read(reader, refs) {
    const found: SearchableRow[] = [];
    const sessions = new Map<string, SessionRow | undefined>();
    for (const ref of refs) {
      const place = entryPlace(ref);
      if (!sessions.has(place.sessionId))
        sessions.set(place.sessionId, await findSession(reader, place.sessionId));
      const session = sessions.get(place.sessionId);
      const entry = session && (await findEntry(reader, place));
      const row = session && entry && entryFound(session, entry);
      if (row) found.push(row);
    }
    return found;
  },
};

/** Undefined: the entry has no searchable text. */
export function entryFound(session: SessionRow, entry: EntryRow): SearchableRow | undefined {
  const text = textOfEntry(entry);
  if (text === undefined) return undefined;
  return {
    id: entryRef({ sessionId: session.id, seq: entry.seq }),
    orgId: session.org_id,
    readers: readersOf(session),
    title: session.title ?? UNTITLED,
    isTitleBorrowed: true,
    text,
    at: entry.at,
    url: `/sessions/${encodeURIComponent(session.id)}#entry-${entry.seq}`,
  };
}

export function sourcesOf(searchables: readonly Searchable[]): Sources {
  const all = [...searchables, entriesToFind];
  return new Map(all.map((source) => [source.kind, { ...source, kind: knownKind(source.kind) }]));
}

function knownKind(kind: string): SearchKind {
  const known = SEARCH_KINDS.find((one) => one === kind);
  if (known === undefined) throw new Error(`${kind} is none of the kinds that can be found`);
  return known;
}
