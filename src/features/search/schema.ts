/**
 * Tables of search. A document is a thing as the index has it: its words, and marks that say who may
 * find it. SQLite keeps its index in `search_index`, which the triggers here fill; PostgreSQL in a
 * column of the document. The same statements thus write both.
 *
 * Triggers on the tables of features notice changes. They write one row into `search_changes`, in the
 * transaction of the change, and need nothing from its author.
 */
import type { Dialect, Migration } from "#base/store/index.ts";
import { ddl, type Searchable } from "#engine/index.ts";
import { ENTRY } from "./matching/places.ts";

export interface DocumentRow {
  /** Increases in the order of writing. */
  id: number;
  kind: string;
  /** Id of the thing, or reference to an entry. */
  ref: string;
  at: number;
  /** Words with one space before and after each. */
  title: string;
  body: string;
  /** Marks of the readers, and pairs of letters of scripts without spaces. */
  marks: string;
}

/** A thing that may have to be indexed again. */
export interface ChangeRow {
  n: number;
  kind: string;
  ref: string;
}

/** Position up to which a session's log was read. */
export interface CursorRow {
  session_id: string;
  seq: number;
}

export interface SearchTables {
  search_documents: DocumentRow;
  search_changes: ChangeRow;
  search_cursors: CursorRow;
  /** Holding its one row is the right to index. */
  search_turns: { id: number };
}

const NUMBER = {
  sqlite: "integer primary key",
  postgres: "bigint generated always as identity primary key",
} as const;

const tables = (dialect: Dialect) => `
create table search_documents (
  id ${NUMBER[dialect]}, kind ID not null, ref ID not null, at bigint not null, title text not null,
  body text not null, marks text not null
);
create unique index search_documents_ref on search_documents (kind, ref);
create table search_changes (n ${NUMBER[dialect]}, kind ID not null, ref ID not null);
create table search_cursors (session_id ID primary key, seq bigint not null);
create table search_turns (id integer primary key);
insert into search_turns (id) values (1)
`;

/**
 * Our code separates the words, so the simplest tokenizer is enough. The indexer merges in small steps,
 * because a merge may take long and all share the writer. Deleted documents leave no words.
 */
const SQLITE_INDEX = [
  `create virtual table search_index using fts5(title, body, marks, content = 'search_documents',
    content_rowid = 'id', detail = none, columnsize = 0, tokenize = 'ascii')`,
  "insert into search_index (search_index, rank) values ('automerge', 0)",
  "insert into search_index (search_index, rank) values ('crisismerge', 1000)",
  "insert into search_index (search_index, rank) values ('secure-delete', 1)",
  `create trigger search_documents_new after insert on search_documents begin
    insert into search_index (rowid, title, body, marks)
      values (new.id, new.title, new.body, new.marks);
  end`,
  `create trigger search_documents_gone after delete on search_documents begin
    insert into search_index (search_index, rowid, title, body, marks)
      values ('delete', old.id, old.title, old.body, old.marks);
  end`,
];

const POSTGRES_INDEX = [
  `alter table search_documents add column words tsvector not null generated always as
    (array_to_tsvector(array_remove(string_to_array(title || body || marks, ' '), ''))) stored`,
  "create index search_documents_words on search_documents using gin (words)",
  `create function search_note() returns trigger language plpgsql as $$ begin
    if tg_op = 'DELETE' then insert into search_changes (kind, ref) values (tg_argv[0], old.id);
    else insert into search_changes (kind, ref) values (tg_argv[0], new.id); end if;
    return null;
  end $$`,
  `create function search_note_entry() returns trigger language plpgsql as $$ begin
    insert into search_changes (kind, ref)
      values ('${ENTRY}', new.session_id || ':' || new.seq);
    return null;
  end $$`,
];

/** Entries are only added, and a cursor reads them; but an entry may be redacted later. */
const ENTRY_REDACTED = {
  sqlite: `create trigger search_entry_taken_out after update of redacted_at on events
    when new.redacted_at is not null begin
    insert into search_changes (kind, ref)
      values ('${ENTRY}', new.session_id || ':' || new.seq);
  end`,
  postgres: `create trigger search_entry_taken_out after update of redacted_at on events
    for each row when (new.redacted_at is not null) execute function search_note_entry()`,
} as const;

export function searchMigrations(searchables: readonly Searchable[]): readonly Migration[] {
  return [
    {
      id: "search-0001-documents",
      statements: (dialect) => [
        ...ddl(dialect, tables(dialect)),
        ...(dialect === "sqlite" ? SQLITE_INDEX : POSTGRES_INDEX),
        ENTRY_REDACTED[dialect],
      ],
    },
    ...searchables.flatMap((searchable) => [
      // Databases of earlier versions have applied these steps; a new one skips them.
      ...(searchable.formerly ? stepsOf(searchable.formerly, () => []) : []),
      ...stepsOf(searchable, (dialect) => [
        ...dropFormer(dialect, searchable),
        ...changeTriggers(dialect, searchable),
      ]),
    ]),
  ];
}

function stepsOf(
  { kind, version }: { kind: string; version: number },
  statements: Migration["statements"],
): Migration[] {
  return Array.from({ length: version }, (_, at) => ({
    id: `search-${kind}-${String(at + 1).padStart(4, "0")}`,
    statements,
  }));
}

const triggersOf = (kind: string) =>
  ["new", "changed", "gone"].map((what) => `search_${kind}_${what}`);

const dropTriggers = (dialect: Dialect, kind: string, table: string) =>
  triggersOf(kind).map(
    (name) => `drop trigger if exists ${name}${dialect === "sqlite" ? "" : ` on ${table}`}`,
  );

/**
 * Drops the triggers of the former kind, and marks its documents as changed: no source has that kind
 * any more, so the indexer deletes them at its own pace.
 */
function dropFormer(dialect: Dialect, { table, formerly }: Searchable): string[] {
  if (!formerly) return [];
  return [
    ...dropTriggers(dialect, formerly.kind, table),
    `insert into search_changes (kind, ref)
      select kind, ref from search_documents where kind = '${formerly.kind}'`,
  ];
}

/** Creates the triggers that note changes, and marks all existing things as changed. */
function changeTriggers(dialect: Dialect, { kind, table, columns }: Searchable): string[] {
  const name = (what: string) => `search_${kind}_${what}`;
  const isOther = dialect === "sqlite" ? "is not" : "is distinct from";
  const changed = columns.map((column) => `old.${column} ${isOther} new.${column}`).join(" or ");
  const trigger = (what: string, event: string, row: "old" | "new", when = "") =>
    dialect === "sqlite"
      ? `create trigger ${name(what)} after ${event} on ${table} ${when} begin
          insert into search_changes (kind, ref) values ('${kind}', ${row}.id); end`
      : `create trigger ${name(what)} after ${event} on ${table} for each row ${when}
          execute function search_note('${kind}')`;
  return [
    ...dropTriggers(dialect, kind, table),
    trigger("new", "insert", "new"),
    trigger("changed", `update of ${columns.join(", ")}`, "new", `when (${changed})`),
    trigger("gone", "delete", "old"),
    `insert into search_changes (kind, ref) select '${kind}', id from ${table}`,
  ];
}
