/** The only SQL on the terms of memories. */
import { builder, inserter, type Reader, statements, type Tx } from "#base/store/index.ts";
import type { Filter, Owner } from "../queries.ts";
import type { FrequencyRow, MemoryTables, TermRow } from "../schema.ts";
import type { Posting } from "./bm25.ts";
import { padded } from "./padded.ts";

const prepare = statements<MemoryTables>();

const insertTerms = inserter<TermRow>("memory_terms", [
  "shelf_id",
  "term",
  "memory_id",
  "count",
  "length",
]);
/** Few sizes, because the text of each statement is cached. */
const CHUNKS = [128, 16, 1];

/** Adds the terms of one memory. */
export async function addTerms(tx: Tx, rows: readonly TermRow[]): Promise<void> {
  let from = 0;
  for (const size of CHUNKS)
    for (; from + size <= rows.length; from += size) {
      const chunk = rows.slice(from, from + size);
      await tx.execute(insertTerms(tx.dialect, chunk));
      await tx.execute(countedMore(tx, chunk));
    }
}

const insertCounts = inserter<FrequencyRow>("memory_frequencies", ["shelf_id", "term", "memories"]);
const COUNT_ON =
  "on conflict (shelf_id, term) do update set memories = memory_frequencies.memories + 1";

function countedMore({ dialect }: Tx, rows: readonly TermRow[]) {
  const first = rows.map(({ shelf_id, term }) => ({ shelf_id, term, memories: 1 }));
  const { sql, parameters } = insertCounts(dialect, first);
  return { sql: `${sql} ${COUNT_ON}`, parameters };
}

interface InScope {
  shelfId: string;
  id: string;
}
const countLess = prepare<InScope, unknown>((db, p) =>
  db
    .updateTable("memory_frequencies")
    .set((eb) => ({ memories: eb("memories", "-", 1) }))
    .where("shelf_id", "=", p("shelfId"))
    .where("term", "in", (eb) =>
      eb.selectFrom("memory_terms").select("term").where("memory_id", "=", p("id")),
    ),
);
const deleteUnused = prepare<InScope, unknown>((db, p) =>
  db
    .deleteFrom("memory_frequencies")
    .where("shelf_id", "=", p("shelfId"))
    .where("memories", "<=", 0)
    .where("term", "in", (eb) =>
      eb.selectFrom("memory_terms").select("term").where("memory_id", "=", p("id")),
    ),
);
const deleteOfMemory = prepare<{ id: string }, unknown>((db, p) =>
  db.deleteFrom("memory_terms").where("memory_id", "=", p("id")),
);
export async function removeTerms(tx: Tx, scopeId: string, id: string): Promise<void> {
  await tx.run(countLess, { shelfId: scopeId, id });
  await tx.run(deleteUnused, { shelfId: scopeId, id });
  await tx.run(deleteOfMemory, { id });
}

/** Removes the terms of memories that are removed with their scope; the scope's counts are removed too. */
export async function dropTerms(tx: Tx, ids: readonly string[]): Promise<void> {
  for (const id of ids) await tx.run(deleteOfMemory, { id });
}

const deleteCountsOf = prepare<Owner, unknown>((db, p) =>
  db
    .deleteFrom("memory_frequencies")
    .where("shelf_id", "in", (eb) =>
      eb
        .selectFrom("memory_shelves")
        .select("id")
        .where("org_id", "=", p("orgId"))
        .where("user_id", "=", p("userId")),
    ),
);
export function dropCounts(tx: Tx, owner: Owner): Promise<number> {
  return tx.run(deleteCountsOf, owner);
}

/** Counts the memories that contain each term. */
export async function countTerms(
  reader: Reader,
  scopes: readonly string[],
  terms: readonly string[],
): Promise<Map<string, number>> {
  const rows = await reader.query<{ term: string; n: number }>(
    builder<MemoryTables>(reader.dialect)
      .selectFrom("memory_frequencies")
      .select((eb) => ["term", eb.fn.sum<number>("memories").as("n")])
      .where("shelf_id", "in", padded(scopes))
      .where("term", "in", padded(terms))
      .groupBy("term")
      .compile(),
  );
  return new Map(rows.map(({ term, n }) => [term, Number(n)]));
}

export interface PostingFilter extends Filter {
  terms: readonly string[];
  /** Postings on these scopes, or in these memories. */
  scopes?: readonly string[] | undefined;
  memories?: readonly string[] | undefined;
  /** Maximum of postings, newest first. */
  newest?: number | undefined;
}
export function listPostings(reader: Reader, filter: PostingFilter): Promise<Posting[]> {
  const { scopes, terms, memories, newest } = filter;
  let query = builder<MemoryTables>(reader.dialect)
    .selectFrom("memory_terms")
    .select([
      "memory_terms.term",
      "memory_terms.memory_id",
      "memory_terms.count",
      "memory_terms.length",
    ])
    .where("memory_terms.term", "in", padded(terms));
  if (scopes) query = query.where("memory_terms.shelf_id", "in", padded(scopes));
  if (memories) query = query.where("memory_terms.memory_id", "in", padded(memories));
  if (isFiltering(filter)) {
    const { category, since, until, pinned } = filter;
    let joined = query.innerJoin("memories", "memories.id", "memory_terms.memory_id");
    if (category !== undefined) joined = joined.where("memories.category", "=", category);
    if (since !== undefined) joined = joined.where("memories.updated_at", ">=", since);
    if (until !== undefined) joined = joined.where("memories.updated_at", "<", until);
    if (pinned !== undefined) joined = joined.where("memories.pinned", "=", pinned ? 1 : 0);
    query = joined as unknown as typeof query;
  }
  if (newest !== undefined) query = query.orderBy("memory_terms.memory_id", "desc").limit(newest);
  return reader.query<Posting>(query.compile());
}

function isFiltering({ category, since, until, pinned }: Filter): boolean {
  return [category, since, until, pinned].some((value) => value !== undefined);
}

/** Lists memories of the scope with at least `atLeast` of these terms, those with the most first. */
export async function listSharing(
  reader: Reader,
  scopeId: string,
  terms: readonly string[],
  atLeast: number,
  limit: number,
): Promise<Map<string, number>> {
  const rows = await reader.query<{ memory_id: string; n: number }>(
    builder<MemoryTables>(reader.dialect)
      .selectFrom("memory_terms")
      .select((eb) => ["memory_id", eb.fn.countAll<number>().as("n")])
      .where("shelf_id", "=", scopeId)
      .where("term", "in", padded(terms))
      .groupBy("memory_id")
      .having((eb) => eb.fn.countAll<number>(), ">=", atLeast)
      .orderBy("n", "desc")
      .orderBy("memory_id")
      .limit(limit)
      .compile(),
  );
  return new Map(rows.map(({ memory_id, n }) => [memory_id, Number(n)]));
}
