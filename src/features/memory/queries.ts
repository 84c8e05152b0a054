/** The only SQL on scopes and memories. */
import { builder, inserter, type Reader, statements, type Tx } from "#base/store/index.ts";
import type { MemoryKind } from "./contract.ts";
import { padded } from "./ranking/padded.ts";
import type { MemoryRow, MemoryScopeRow, MemoryTables } from "./schema.ts";

const prepare = statements<MemoryTables>();

/** Owner of memories. */
export interface Owner {
  orgId: string;
  /** Empty: the organisation's own. */
  userId: string;
}
export interface MemoryScopeKey extends Owner {
  kind: MemoryKind;
  /** Empty: no repository. */
  repo: string;
}

// Scopes

const selectScope = prepare<MemoryScopeKey, MemoryScopeRow>((db, p) =>
  db
    .selectFrom("memory_shelves")
    .selectAll()
    .where("org_id", "=", p("orgId"))
    .where("user_id", "=", p("userId"))
    .where("kind", "=", p("kind"))
    .where("repo", "=", p("repo")),
);
export function findScope(
  reader: Reader,
  key: MemoryScopeKey,
): Promise<MemoryScopeRow | undefined> {
  return reader.first(selectScope, key);
}

const selectScopesOf = prepare<Owner & { kind: MemoryKind }, MemoryScopeRow>((db, p) =>
  db
    .selectFrom("memory_shelves")
    .selectAll()
    .where("org_id", "=", p("orgId"))
    .where("user_id", "=", p("userId"))
    .where("kind", "=", p("kind"))
    .orderBy("id"),
);
export function listScopes(
  reader: Reader,
  owner: Owner,
  kind: MemoryKind,
): Promise<MemoryScopeRow[]> {
  return reader.all(selectScopesOf, { ...owner, kind });
}

const insertScope = prepare<MemoryScopeKey & { id: string }, unknown>((db, p) =>
  db
    .insertInto("memory_shelves")
    .values({
      id: p("id"),
      org_id: p("orgId"),
      user_id: p("userId"),
      kind: p("kind"),
      repo: p("repo"),
      memories: 0,
      pinned: 0,
      length: 0,
    })
    .onConflict((conflict) => conflict.columns(["org_id", "user_id", "kind", "repo"]).doNothing()),
);
const selectScopeToChange = prepare<{ id: string }, MemoryScopeRow>((db, p, dialect) => {
  const query = db.selectFrom("memory_shelves").selectAll().where("id", "=", p("id"));
  return dialect === "postgres" ? query.forUpdate() : query;
});
export function lockScope(tx: Tx, id: string): Promise<MemoryScopeRow | undefined> {
  return tx.first(selectScopeToChange, { id });
}

/** Locks a scope; `newId` is its id if it must be created. */
export async function lockOrCreateScope(
  tx: Tx,
  key: MemoryScopeKey,
  newId: string,
): Promise<MemoryScopeRow> {
  const found = (await findScope(tx, key))?.id;
  if (found === undefined) await tx.run(insertScope, { ...key, id: newId });
  const scope = await lockScope(tx, found ?? ((await findScope(tx, key))?.id as string));
  return scope as MemoryScopeRow;
}

export interface ScopeGrowth {
  memories: number;
  pinned: number;
  length: number;
}
const updateScope = prepare<ScopeGrowth & { id: string }, unknown>((db, p) =>
  db
    .updateTable("memory_shelves")
    .set({ memories: p("memories"), pinned: p("pinned"), length: p("length") })
    .where("id", "=", p("id")),
);
/** Changes the counts of a locked scope, in the row as well as in the table. */
export function growScope(tx: Tx, scope: MemoryScopeRow, by: ScopeGrowth): Promise<number> {
  scope.memories += by.memories;
  scope.pinned += by.pinned;
  scope.length += by.length;
  const { id, memories, pinned, length } = scope;
  return tx.run(updateScope, { id, memories, pinned, length });
}

// One memory

const COLUMNS = [
  "id",
  "org_id",
  "user_id",
  "shelf_id",
  "kind",
  "repo",
  "category",
  "title",
  "title_key",
  "content",
  "pinned",
  "fades_at",
  "access_count",
  "length",
  "topic_terms",
  "source_session_id",
  "source_prompt_id",
  "history",
  "created_at",
  "updated_at",
  "last_accessed_at",
] as const satisfies readonly (keyof MemoryRow)[];
const insertOne = inserter<MemoryRow>("memories", COLUMNS);
export function insertMemory(tx: Tx, row: MemoryRow): Promise<number> {
  return tx.execute(insertOne(tx.dialect, [row]));
}

const updateOne = prepare<MemoryRow, unknown>((db, p) =>
  db
    .updateTable("memories")
    .set({
      category: p("category"),
      title: p("title"),
      title_key: p("title_key"),
      content: p("content"),
      pinned: p("pinned"),
      fades_at: p("fades_at"),
      length: p("length"),
      topic_terms: p("topic_terms"),
      source_session_id: p("source_session_id"),
      source_prompt_id: p("source_prompt_id"),
      history: p("history"),
      updated_at: p("updated_at"),
    })
    .where("id", "=", p("id")),
);
export function saveMemory(tx: Tx, row: MemoryRow): Promise<number> {
  return tx.run(updateOne, row);
}

const selectOne = prepare<Owner & { id: string }, MemoryRow>((db, p) =>
  db
    .selectFrom("memories")
    .selectAll()
    .where("id", "=", p("id"))
    .where("org_id", "=", p("orgId"))
    .where("user_id", "=", p("userId")),
);
/** Finds a memory of this owner; another person's is not found. */
export function findMemory(
  reader: Reader,
  owner: Owner,
  id: string,
): Promise<MemoryRow | undefined> {
  return reader.first(selectOne, { ...owner, id });
}

const selectByTitle = prepare<{ shelfId: string; category: string; key: string }, MemoryRow>(
  (db, p) =>
    db
      .selectFrom("memories")
      .selectAll()
      .where("shelf_id", "=", p("shelfId"))
      .where("category", "=", p("category"))
      .where("title_key", "=", p("key"))
      .where("title_key", "<>", "")
      .orderBy("id")
      .limit(1),
);
export function findByTitle(
  reader: Reader,
  scopeId: string,
  category: string,
  key: string,
): Promise<MemoryRow | undefined> {
  return reader.first(selectByTitle, { shelfId: scopeId, category, key });
}

export function listByIds(reader: Reader, ids: readonly string[]): Promise<MemoryRow[]> {
  if (ids.length === 0) return Promise.resolve([]);
  return reader.query<MemoryRow>(
    builder<MemoryTables>(reader.dialect)
      .selectFrom("memories")
      .selectAll()
      .where("id", "in", padded(ids))
      .compile(),
  );
}

export interface ReadMemory {
  id: string;
  /** New time of fading. */
  fades_at: number;
}
/** Marks memories as read in one statement, because a search shows many. */
export function markRead(tx: Tx, read: readonly ReadMemory[], at: number): Promise<number> {
  const rows = padded(read);
  let next = 1;
  const mark = () => (tx.dialect === "postgres" ? `$${next++}` : "?");
  const cases = rows.map(() => `when ${mark()} then cast(${mark()} as bigint)`).join(" ");
  const sql = `update memories set fades_at = case id ${cases} end,
    access_count = access_count + 1, last_accessed_at = ${mark()}
    where id in (${rows.map(mark).join(", ")})`;
  const parameters = [
    ...rows.flatMap(({ id, fades_at }) => [id, fades_at]),
    at,
    ...rows.map(({ id }) => id),
  ];
  return tx.execute({ sql, parameters });
}

export async function deleteRows(tx: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const db = builder<MemoryTables>(tx.dialect);
  await tx.execute(db.deleteFrom("memories").where("id", "in", padded(ids)).compile());
}

// Several

export interface Filter {
  category?: string | undefined;
  since?: number | undefined;
  until?: number | undefined;
  pinned?: boolean | undefined;
}
export interface ListFilter extends Filter, Owner {
  kind: MemoryKind;
  /** Only these scopes; undefined: all scopes of the owner. */
  scopes?: readonly string[] | undefined;
  after?: { at: number; id: string } | undefined;
  limit: number;
}
/** Lists memories, last written first. */
export function listMemories(reader: Reader, filter: ListFilter): Promise<MemoryRow[]> {
  const { orgId, userId, kind, scopes, after, limit, category, since, until, pinned } = filter;
  let query = builder<MemoryTables>(reader.dialect)
    .selectFrom("memories")
    .selectAll()
    .where("org_id", "=", orgId)
    .where("user_id", "=", userId)
    .where("kind", "=", kind);
  if (scopes) query = query.where("shelf_id", "in", padded(scopes));
  if (category !== undefined) query = query.where("category", "=", category);
  if (since !== undefined) query = query.where("updated_at", ">=", since);
  if (until !== undefined) query = query.where("updated_at", "<", until);
  if (pinned !== undefined) query = query.where("pinned", "=", pinned ? 1 : 0);
  if (after)
    query = query.where((eb) =>
      eb.or([
        eb("updated_at", "<", after.at),
        eb.and([eb("updated_at", "=", after.at), eb("id", "<", after.id)]),
      ]),
    );
  return reader.query<MemoryRow>(
    query.orderBy("updated_at", "desc").orderBy("id", "desc").limit(limit).compile(),
  );
}

export interface PruneFilter {
  shelfId: string;
  /** A memory to leave out. */
  keep?: string | undefined;
  fadesBefore?: number | undefined;
  accessedBefore?: number | undefined;
  category?: string | undefined;
  limit: number;
}
/**
 * Lists the memories to prune first: the least relevant, and of those the one not read for longest;
 * never a pinned one.
 */
export function listPruneCandidates(reader: Reader, filter: PruneFilter): Promise<MemoryRow[]> {
  const { shelfId: scopeId, keep, fadesBefore, accessedBefore, category, limit } = filter;
  let query = builder<MemoryTables>(reader.dialect)
    .selectFrom("memories")
    .selectAll()
    .where("shelf_id", "=", scopeId)
    .where("pinned", "=", 0);
  if (keep !== undefined) query = query.where("id", "<>", keep);
  if (fadesBefore !== undefined) query = query.where("fades_at", "<", fadesBefore);
  if (accessedBefore !== undefined) query = query.where("last_accessed_at", "<", accessedBefore);
  if (category !== undefined) query = query.where("category", "=", category);
  return reader.query<MemoryRow>(
    query.orderBy("fades_at").orderBy("last_accessed_at").orderBy("id").limit(limit).compile(),
  );
}

const selectFaded = prepare<{ now: number; limit: number }, { shelf_id: string }>((db, p) =>
  db
    .selectFrom("memories")
    .select("shelf_id")
    .where("pinned", "=", 0)
    .where("fades_at", "<", p("now"))
    .orderBy("fades_at")
    .limit(p("limit")),
);
/** Lists scopes with faded memories. */
export async function listFadedScopes(
  reader: Reader,
  now: number,
  limit: number,
): Promise<string[]> {
  const rows = await reader.all(selectFaded, { now, limit });
  return [...new Set(rows.map(({ shelf_id }) => shelf_id))].sort();
}

const selectIdsOf = prepare<Owner & { limit: number }, { id: string }>((db, p) =>
  db
    .selectFrom("memories")
    .select("id")
    .where("org_id", "=", p("orgId"))
    .where("user_id", "=", p("userId"))
    .limit(p("limit")),
);
export async function listIdsOf(reader: Reader, owner: Owner, limit: number): Promise<string[]> {
  return (await reader.all(selectIdsOf, { ...owner, limit })).map(({ id }) => id);
}

const deleteScopesOf = prepare<Owner, unknown>((db, p) =>
  db
    .deleteFrom("memory_shelves")
    .where("org_id", "=", p("orgId"))
    .where("user_id", "=", p("userId")),
);
export function deleteScopes(tx: Tx, owner: Owner): Promise<number> {
  return tx.run(deleteScopesOf, owner);
}
