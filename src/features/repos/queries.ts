/** SQL on repositories. No other file has any. */
import { sql } from "kysely";
import { builder, inserter, type Reader, statements, type Tx } from "#base/store/index.ts";
import type { RepoRow, RepoTables } from "./schema.ts";

const prepare = statements<RepoTables>();

interface RepoKey {
  orgId: string;
  id: string;
}

const selectOne = prepare<RepoKey, RepoRow>((db, p) =>
  db
    .selectFrom("repos")
    .selectAll()
    .where("id", "=", p("id"))
    .where("org_id", "=", p("orgId"))
    .where("archived_at", "is", null),
);
export function findRepo(reader: Reader, key: RepoKey): Promise<RepoRow | undefined> {
  return reader.first(selectOne, key);
}

const selectOneToChange = prepare<RepoKey, RepoRow>((db, p, dialect) => {
  const query = db
    .selectFrom("repos")
    .selectAll()
    .where("id", "=", p("id"))
    .where("org_id", "=", p("orgId"))
    .where("archived_at", "is", null);
  return dialect === "postgres" ? query.forUpdate() : query;
});
export function lockRepo(tx: Tx, key: RepoKey): Promise<RepoRow | undefined> {
  return tx.first(selectOneToChange, key);
}

const selectPresent = prepare<{ id: string }, RepoRow>((db, p) =>
  db.selectFrom("repos").selectAll().where("id", "=", p("id")).where("archived_at", "is", null),
);
/** Lists repositories of any organisation, without removed ones. */
export async function listReposById(reader: Reader, ids: readonly string[]): Promise<RepoRow[]> {
  const rows: RepoRow[] = [];
  for (const id of ids) {
    const row = await reader.first(selectPresent, { id });
    if (row) rows.push(row);
  }
  return rows;
}

const selectByName = prepare<{ orgId: string; nameKey: string }, RepoRow>((db, p) =>
  db
    .selectFrom("repos")
    .selectAll()
    .where("org_id", "=", p("orgId"))
    .where("name_key", "=", p("nameKey"))
    .where("archived_at", "is", null),
);
export function findRepoByName(
  reader: Reader,
  orgId: string,
  nameKey: string,
): Promise<RepoRow | undefined> {
  return reader.first(selectByName, { orgId, nameKey });
}

const selectByUrl = prepare<{ orgId: string; urlKey: string }, RepoRow>((db, p) =>
  db
    .selectFrom("repos")
    .selectAll()
    .where("org_id", "=", p("orgId"))
    .where("url_key", "=", p("urlKey"))
    .where("archived_at", "is", null)
    .orderBy("enabled", "desc")
    .orderBy("name_key")
    .limit(1),
);
/** Finds a repository by address; prefers an enabled one if several share the address. */
export function findRepoByUrl(
  reader: Reader,
  orgId: string,
  urlKey: string,
): Promise<RepoRow | undefined> {
  return reader.first(selectByUrl, { orgId, urlKey });
}

export interface RepoFilter {
  orgId: string;
  words: readonly string[];
  /** True if one matching word is enough. */
  anyWord?: boolean;
  enabled?: boolean | undefined;
  after?: string | undefined;
}

/** Lists repositories by name. */
export function listRepos(reader: Reader, filter: RepoFilter, limit: number): Promise<RepoRow[]> {
  const query = selectRepos(reader, filter).selectAll().orderBy("name_key").limit(limit);
  return reader.query<RepoRow>(query.compile());
}

export async function countRepos(reader: Reader, filter: RepoFilter): Promise<number> {
  const query = selectRepos(reader, filter).select((eb) => eb.fn.countAll<number>().as("count"));
  const [row] = await reader.query<{ count: number }>(query.compile());
  return Number(row?.count ?? 0);
}

function selectRepos(
  { dialect }: Reader,
  { orgId, words, anyWord = false, enabled, after }: RepoFilter,
) {
  let query = builder<RepoTables>(dialect)
    .selectFrom("repos")
    .where("org_id", "=", orgId)
    .where("archived_at", "is", null);
  if (enabled !== undefined) query = query.where("enabled", "=", enabled ? 1 : 0);
  if (after !== undefined) query = query.where("name_key", ">", after);
  if (words.length > 0) {
    query = query.where((eb) => {
      const hits = words.map((word) => sql<boolean>`search like ${containing(word)} escape '\\'`);
      return anyWord ? eb.or(hits) : eb.and(hits);
    });
  }
  return query;
}

/** Locks the repositories with these names, removed ones included, in one order. */
export function lockReposByName(
  tx: Tx,
  orgId: string,
  nameKeys: readonly string[],
): Promise<RepoRow[]> {
  if (nameKeys.length === 0) return Promise.resolve([]);
  const query = builder<RepoTables>(tx.dialect)
    .selectFrom("repos")
    .selectAll()
    .where("org_id", "=", orgId)
    .where("name_key", "in", nameKeys)
    .orderBy("id");
  return tx.query<RepoRow>((tx.dialect === "postgres" ? query.forUpdate() : query).compile());
}

const COLUMNS = [
  "id",
  "org_id",
  "full_name",
  "name_key",
  "provider",
  "url",
  "url_key",
  "description",
  "default_branch",
  "language",
  "topics",
  "enabled",
  "webhook_secret",
  "persona_id",
  "persona_slug",
  "setup_command",
  "credential",
  "set_here",
  "search",
  "sync_scope",
  "synced_at",
  "missing_at",
  "created_by",
  "created_at",
  "updated_at",
  "archived_at",
] as const satisfies readonly (keyof RepoRow)[];
const insertRow = inserter<RepoRow>("repos", COLUMNS);

/** Returns false when the name was taken meanwhile. */
export async function insertRepo(tx: Tx, row: RepoRow): Promise<boolean> {
  const { sql, parameters } = insertRow(tx.dialect, [row]);
  return (await tx.execute({ sql: `${sql} on conflict do nothing`, parameters })) === 1;
}

/** Saves a repository. The caller has locked the row; its name is free, or was its own. */
export async function saveRepo(tx: Tx, { id, ...fields }: RepoRow): Promise<void> {
  await tx.execute(
    builder<RepoTables>(tx.dialect).updateTable("repos").set(fields).where("id", "=", id).compile(),
  );
}

const updateMissing = prepare<
  { orgId: string; scope: string; before: number; now: number },
  unknown
>((db, p) =>
  db
    .updateTable("repos")
    .set({ missing_at: p("now"), updated_at: p("now") })
    .where("org_id", "=", p("orgId"))
    .where("sync_scope", "=", p("scope"))
    .where("synced_at", "<", p("before"))
    .where("missing_at", "is", null)
    .where("archived_at", "is", null),
);
/** Marks repositories that an earlier sync of the same scope found, and none found since `before`. */
export function markMissing(
  tx: Tx,
  orgId: string,
  scope: string,
  before: number,
  now: number,
): Promise<number> {
  return tx.run(updateMissing, { orgId, scope, before, now });
}

const updatePersonaSlug = prepare<{ orgId: string; personaId: string; slug: string }, unknown>(
  (db, p) =>
    db
      .updateTable("repos")
      .set({ persona_slug: p("slug") })
      .where("org_id", "=", p("orgId"))
      .where("persona_id", "=", p("personaId"))
      .where("persona_slug", "!=", p("slug")),
);
/** Stores the new slug of a renamed persona. */
export function savePersonaSlug(
  tx: Tx,
  persona: { orgId: string; personaId: string; slug: string },
): Promise<number> {
  return tx.run(updatePersonaSlug, persona);
}

/** Escapes a word for LIKE. */
function containing(word: string): string {
  return `%${word.replaceAll(/[\\%_]/g, "\\$&")}%`;
}
