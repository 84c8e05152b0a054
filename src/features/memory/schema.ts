/** Tables of memories: scopes, memories, and their search terms. */
import type { Dialect, Migration } from "#base/store/index.ts";
import { ddl } from "#engine/index.ts";
import type { MemoryKind } from "./contract.ts";

/**
 * Memories that are searched together: a person's, or those of a person's sessions in a repository.
 * Every writer locks the row first, so its counts are correct and its limits hold.
 */
export interface MemoryScopeRow {
  id: string;
  org_id: string;
  /** Empty: the organisation's own. */
  user_id: string;
  kind: MemoryKind;
  /** Empty: no repository. */
  repo: string;
  memories: number;
  pinned: number;
  /** Number of terms in all memories together. */
  length: number;
}

export interface MemoryRow {
  id: string;
  org_id: string;
  user_id: string;
  shelf_id: string;
  kind: MemoryKind;
  repo: string;
  category: string;
  title: string | null;
  /** Normalized title; empty: none. */
  title_key: string;
  content: string;
  pinned: number;
  /** Time when the relevance will have fallen to the minimum. */
  fades_at: number;
  access_count: number;
  /** Number of terms, and of distinct terms that make up the topic. */
  length: number;
  topic_terms: number;
  source_session_id: string | null;
  source_prompt_id: string | null;
  /** Earlier versions as JSON, newest first. */
  history: string;
  created_at: number;
  updated_at: number;
  last_accessed_at: number;
}

export interface TermRow {
  shelf_id: string;
  term: string;
  memory_id: string;
  count: number;
  length: number;
}

/** Number of memories of a scope per term: counting anew would read them all. */
export interface FrequencyRow {
  shelf_id: string;
  term: string;
  memories: number;
}

export interface MemoryTables {
  memory_shelves: MemoryScopeRow;
  memories: MemoryRow;
  memory_terms: TermRow;
  memory_frequencies: FrequencyRow;
}

/** Stored in key order: rows are read in ranges and are little more than their keys. */
const ordered = (dialect: Dialect) => (dialect === "sqlite" ? " without rowid" : "");

const tables = (dialect: Dialect) => `
create table memory_shelves (
  id ID primary key, org_id ID not null, user_id ID not null, kind ID not null, repo ID not null,
  memories integer not null, pinned integer not null, length bigint not null
);
create unique index memory_shelves_whose on memory_shelves (org_id, user_id, kind, repo);
create table memories (
  id ID primary key, org_id ID not null, user_id ID not null, shelf_id ID not null, kind ID not null,
  repo ID not null, category ID not null, title text, title_key ID not null, content text not null,
  pinned integer not null, fades_at bigint not null, access_count integer not null,
  length integer not null, topic_terms integer not null, source_session_id ID, source_prompt_id ID,
  history text not null, created_at bigint not null, updated_at bigint not null,
  last_accessed_at bigint not null
);
create index memories_newest on memories (org_id, user_id, kind, updated_at, id);
create index memories_least on memories (shelf_id, pinned, fades_at, last_accessed_at, id);
create index memories_title on memories (shelf_id, category, title_key) where title_key <> '';
create index memories_fading on memories (fades_at) where pinned = 0;
create table memory_terms (
  shelf_id ID not null, term ID not null, memory_id ID not null, count integer not null,
  length integer not null, primary key (shelf_id, term, memory_id)
)${ordered(dialect)};
create index memory_terms_memory on memory_terms (memory_id, term);
create table memory_frequencies (
  shelf_id ID not null, term ID not null, memories integer not null, primary key (shelf_id, term)
)${ordered(dialect)}
`;

export const memoryMigrations: readonly Migration[] = [
  { id: "memory-0001-memories", statements: (dialect) => ddl(dialect, tables(dialect)) },
];
