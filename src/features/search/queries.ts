/** The only SQL on documents, changes and cursors; `match-queries.ts` finds documents. */
import { builder, inserter, type Reader, statements, type Tx } from "#base/store/index.ts";
import type { KernelTables } from "#engine/index.ts";
import { ENTRY, refsOf } from "./matching/places.ts";
import type { ChangeRow, CursorRow, DocumentRow, SearchTables } from "./schema.ts";

const prepare = statements<SearchTables>();

const takeTurn = prepare<Record<never, never>, { id: number }>((db, _p, dialect) => {
  const query = db.selectFrom("search_turns").select("id");
  return dialect === "postgres" ? query.forUpdate().skipLocked() : query;
});
/** Takes the right to index. One server indexes at a time, so that no older state overwrites a newer one. */
export async function isOurTurn(tx: Tx): Promise<boolean> {
  return (await tx.first(takeTurn, {})) !== undefined;
}

// Documents

export type NewDocument = Omit<DocumentRow, "id">;
const insertDocuments = inserter<NewDocument>("search_documents", [
  "kind",
  "ref",
  "at",
  "title",
  "body",
  "marks",
]);
export function addDocument(tx: Tx, row: NewDocument): Promise<number> {
  return tx.execute(insertDocuments(tx.dialect, [row]));
}

const selectDocument = prepare<{ kind: string; ref: string }, DocumentRow>((db, p) =>
  db
    .selectFrom("search_documents")
    .select(["id", "kind", "ref", "at", "title", "body", "marks"])
    .where("kind", "=", p("kind"))
    .where("ref", "=", p("ref")),
);
export function findDocument(
  reader: Reader,
  kind: string,
  ref: string,
): Promise<DocumentRow | undefined> {
  return reader.first(selectDocument, { kind, ref });
}

const deleteDocument = prepare<{ id: number }, unknown>((db, p) =>
  db.deleteFrom("search_documents").where("id", "=", p("id")),
);
export function dropDocument(tx: Tx, id: number): Promise<number> {
  return tx.run(deleteDocument, { id });
}

const selectOfSession = prepare<
  { from: string; upTo: string; limit: number },
  Pick<DocumentRow, "id" | "title" | "body">
>((db, p) =>
  db
    .selectFrom("search_documents")
    .select(["id", "title", "body"])
    .where("kind", "=", ENTRY)
    .where("ref", ">=", p("from"))
    .where("ref", "<", p("upTo"))
    .limit(p("limit")),
);
/** Lists some documents of a session's transcript. */
export function listEntryDocuments(
  reader: Reader,
  sessionId: string,
  limit: number,
): Promise<Pick<DocumentRow, "id" | "title" | "body">[]> {
  return reader.all(selectOfSession, { ...refsOf(sessionId), limit });
}

/** Performs one small merge step; SQLite only. */
export async function mergeIndex(tx: Tx, pages: number): Promise<void> {
  if (tx.dialect !== "sqlite") return;
  const sql = "insert into search_index (search_index, rank) values ('merge', ?)";
  await tx.execute({ sql, parameters: [pages] });
}

// Changes

const selectChanges = prepare<{ limit: number }, ChangeRow>((db, p) =>
  db.selectFrom("search_changes").selectAll().orderBy("n").limit(p("limit")),
);
export function listChanges(reader: Reader, limit: number): Promise<ChangeRow[]> {
  return reader.all(selectChanges, { limit });
}

const deleteChange = prepare<{ n: number }, unknown>((db, p) =>
  db.deleteFrom("search_changes").where("n", "=", p("n")),
);
export async function dropChanges(tx: Tx, changes: readonly ChangeRow[]): Promise<void> {
  for (const { n } of changes) await tx.run(deleteChange, { n });
}

const insertChange = prepare<{ kind: string; ref: string }, unknown>((db, p) =>
  db.insertInto("search_changes").values({ kind: p("kind"), ref: p("ref") } as never),
);
export function noteChange(tx: Tx, kind: string, ref: string): Promise<number> {
  return tx.run(insertChange, { kind, ref });
}

// Cursors

const selectCursor = prepare<{ sessionId: string }, CursorRow>((db, p) =>
  db.selectFrom("search_cursors").selectAll().where("session_id", "=", p("sessionId")),
);
export async function readCursor(reader: Reader, sessionId: string): Promise<number> {
  return (await reader.first(selectCursor, { sessionId }))?.seq ?? 0;
}

const upsertCursor = prepare<{ sessionId: string; seq: number }, unknown>((db, p) =>
  db
    .insertInto("search_cursors")
    .values({ session_id: p("sessionId"), seq: p("seq") })
    .onConflict((conflict) => conflict.column("session_id").doUpdateSet({ seq: p("seq") })),
);
export function saveCursor(tx: Tx, sessionId: string, seq: number): Promise<number> {
  return tx.run(upsertCursor, { sessionId, seq });
}

const deleteCursor = prepare<{ sessionId: string }, unknown>((db, p) =>
  db.deleteFrom("search_cursors").where("session_id", "=", p("sessionId")),
);
export function dropCursor(tx: Tx, sessionId: string): Promise<number> {
  return tx.run(deleteCursor, { sessionId });
}

export interface Progress {
  id: string;
  last_seq: number;
  /** Null: nothing of the log was read. */
  seq: number | null;
}
const selectProgress = (reader: Reader, after: string, limit: number) => {
  const db = builder<SearchTables & KernelTables>(reader.dialect);
  return db
    .selectFrom(
      db
        .selectFrom("sessions")
        .select(["id", "last_seq"])
        .where("id", ">", after)
        .where("owner_id", "is not", null)
        .orderBy("id")
        .limit(limit)
        .as("some"),
    )
    .leftJoin("search_cursors", "search_cursors.session_id", "some.id")
    .select(["some.id", "some.last_seq", "search_cursors.seq"])
    .orderBy("some.id")
    .compile();
};
/** Lists the end of each log and its cursor, for the next sessions of people after an id. */
export function listProgress(reader: Reader, after: string, limit: number): Promise<Progress[]> {
  return reader.query<Progress>(selectProgress(reader, after, limit));
}
