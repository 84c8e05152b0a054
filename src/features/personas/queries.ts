/** The only SQL on personas and their settings per org. */
import { sql } from "kysely";
import { builder, inserter, type Reader, statements, type Tx } from "#base/store/index.ts";
import type { KernelTables } from "#engine/index.ts";
import type { Visibility } from "./contract.ts";
import type { PersonaOrgRow, PersonaRow, PersonaTables } from "./schema.ts";

const prepare = statements<PersonaTables>();

const insertOrgRow = prepare<{ orgId: string }, unknown>((db, p) =>
  db
    .insertInto("persona_orgs")
    .values({ org_id: p("orgId"), default_persona_id: null, shipped: "[]" })
    .onConflict((conflict) => conflict.column("org_id").doNothing()),
);
const selectOrg = prepare<{ orgId: string }, PersonaOrgRow>((db, p) =>
  db.selectFrom("persona_orgs").selectAll().where("org_id", "=", p("orgId")),
);
const selectOrgToChange = prepare<{ orgId: string }, PersonaOrgRow>((db, p, dialect) => {
  const query = db.selectFrom("persona_orgs").selectAll().where("org_id", "=", p("orgId"));
  return dialect === "postgres" ? query.forUpdate() : query;
});

/**
 * Locks an org's personas, so that changes run one after the other and slugs,
 * limits and the default hold.
 */
export async function lockOrg(tx: Tx, orgId: string): Promise<PersonaOrgRow> {
  await tx.run(insertOrgRow, { orgId });
  return (await tx.first(selectOrgToChange, { orgId })) as PersonaOrgRow;
}

export async function findDefaultId(reader: Reader, orgId: string): Promise<string | null> {
  return (await reader.first(selectOrg, { orgId }))?.default_persona_id ?? null;
}

const updateDefault = prepare<{ orgId: string; id: string | null }, unknown>((db, p) =>
  db
    .updateTable("persona_orgs")
    .set({ default_persona_id: p("id") })
    .where("org_id", "=", p("orgId")),
);
export function saveDefaultId(tx: Tx, orgId: string, id: string | null): Promise<number> {
  return tx.run(updateDefault, { orgId, id });
}

const updateShipped = prepare<{ orgId: string; shipped: string }, unknown>((db, p) =>
  db
    .updateTable("persona_orgs")
    .set({ shipped: p("shipped") })
    .where("org_id", "=", p("orgId")),
);
export function saveShipped(tx: Tx, orgId: string, shipped: string): Promise<number> {
  return tx.run(updateShipped, { orgId, shipped });
}

/** Lists orgs that lack built-in personas. */
export async function listOrgsWithout(reader: Reader, shipped: string): Promise<string[]> {
  const rows = await reader.query<{ id: string }>(
    builder<PersonaTables & KernelTables>(reader.dialect)
      .selectFrom("orgs")
      .leftJoin("persona_orgs", "persona_orgs.org_id", "orgs.id")
      .select("orgs.id")
      .where((eb) =>
        eb.or([eb("persona_orgs.shipped", "is", null), eb("persona_orgs.shipped", "!=", shipped)]),
      )
      .compile(),
  );
  return rows.map(({ id }) => id);
}

const insertRow = inserter<PersonaRow>("personas", [
  "id",
  "org_id",
  "slug",
  "name",
  "description",
  "icon",
  "visibility",
  "model",
  "runtime",
  "enable_memory",
  "version",
  "version_id",
  "search_text",
  "created_by",
  "created_at",
  "updated_at",
  "archived_at",
]);
export function insertPersona(tx: Tx, row: PersonaRow): Promise<number> {
  return tx.execute(insertRow(tx.dialect, [row]));
}

export function savePersona(tx: Tx, { id, ...columns }: PersonaRow): Promise<number> {
  return tx.execute(
    builder<PersonaTables>(tx.dialect)
      .updateTable("personas")
      .set(columns)
      .where("id", "=", id)
      .compile() as never,
  );
}

const selectById = prepare<{ orgId: string; id: string }, PersonaRow>((db, p) =>
  db.selectFrom("personas").selectAll().where("org_id", "=", p("orgId")).where("id", "=", p("id")),
);
const selectBySlug = prepare<{ orgId: string; slug: string }, PersonaRow>((db, p) =>
  db
    .selectFrom("personas")
    .selectAll()
    .where("org_id", "=", p("orgId"))
    .where("slug", "=", p("slug"))
    .where("archived_at", "is", null),
);
/** Finds a persona by id, also an archived one, or by slug, only an active one. */
export async function findPersona(
  reader: Reader,
  orgId: string,
  idOrSlug: string,
): Promise<PersonaRow | undefined> {
  return (
    (await reader.first(selectById, { orgId, id: idOrSlug })) ??
    (await reader.first(selectBySlug, { orgId, slug: idOrSlug }))
  );
}

const selectPresent = prepare<{ id: string }, PersonaRow>((db, p) =>
  db.selectFrom("personas").selectAll().where("id", "=", p("id")).where("archived_at", "is", null),
);
/** Lists personas of any org, without archived ones. */
export async function listPersonasById(
  reader: Reader,
  ids: readonly string[],
): Promise<PersonaRow[]> {
  const rows: PersonaRow[] = [];
  for (const id of ids) {
    const row = await reader.first(selectPresent, { id });
    if (row) rows.push(row);
  }
  return rows;
}

const selectToHold = prepare<{ id: string }, { id: string }>((db, p, dialect) => {
  const query = db.selectFrom("personas").select("id").where("id", "=", p("id"));
  return dialect === "postgres" ? query.forShare() : query;
});
const selectToRemove = prepare<{ id: string }, { id: string }>((db, p, dialect) => {
  const query = db.selectFrom("personas").select("id").where("id", "=", p("id"));
  return dialect === "postgres" ? query.forUpdate() : query;
});
/** Locks a persona, so that it cannot be removed before this transaction ends. */
export async function holdPersona(tx: Tx, id: string): Promise<boolean> {
  return (await tx.first(selectToHold, { id })) !== undefined;
}
/** Locks a persona exclusively, so that nobody can begin to use it before this transaction ends. */
export async function holdPersonaAlone(tx: Tx, id: string): Promise<boolean> {
  return (await tx.first(selectToRemove, { id })) !== undefined;
}

const selectSlugs = prepare<{ orgId: string; slug: string; like: string }, { slug: string }>(
  (db, p) =>
    db
      .selectFrom("personas")
      .select("slug")
      .where("org_id", "=", p("orgId"))
      .where("archived_at", "is", null)
      .where((eb) => eb.or([eb("slug", "=", p("slug")), eb("slug", "like", p("like"))])),
);
/** Lists the taken slugs: the slug itself and those that begin with `start`. */
export async function listTakenSlugs(
  reader: Reader,
  orgId: string,
  slug: string,
  start: string,
): Promise<Set<string>> {
  const rows = await reader.all(selectSlugs, { orgId, slug, like: `${start}%` });
  return new Set(rows.map((row) => row.slug));
}

const countOfOrg = prepare<{ orgId: string }, { count: number }>((db, p) =>
  db
    .selectFrom("personas")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("org_id", "=", p("orgId"))
    .where("archived_at", "is", null),
);
export async function countPersonas(reader: Reader, orgId: string): Promise<number> {
  return Number((await reader.first(countOfOrg, { orgId }))?.count ?? 0);
}

export interface PersonaFilter {
  orgId: string;
  /** Person whose private personas are listed besides the shared ones. */
  userId: string;
  visibility?: Visibility | undefined;
  q?: string | undefined;
  afterSlug?: string | undefined;
  limit: number;
}

export function listPersonas(reader: Reader, filter: PersonaFilter): Promise<PersonaRow[]> {
  const query = selectPersonas(reader, filter).selectAll().orderBy("slug").limit(filter.limit);
  return reader.query<PersonaRow>(query.compile());
}

/** Counts all personas that match the filter, whatever its limit. */
export async function countListed(reader: Reader, filter: PersonaFilter): Promise<number> {
  const query = selectPersonas(reader, filter).select((eb) => eb.fn.countAll<number>().as("count"));
  const [row] = await reader.query<{ count: number }>(query.compile());
  return Number(row?.count ?? 0);
}

function selectPersonas({ dialect }: Reader, filter: PersonaFilter) {
  const { orgId, userId, visibility, q, afterSlug } = filter;
  let query = builder<PersonaTables>(dialect)
    .selectFrom("personas")
    .where("org_id", "=", orgId)
    .where("archived_at", "is", null)
    .where((eb) => eb.or([eb("visibility", "=", "shared"), eb("created_by", "=", userId)]));
  if (visibility !== undefined) query = query.where("visibility", "=", visibility);
  if (q !== undefined) {
    const pattern = `%${q.toLowerCase().replaceAll(/[\\%_]/g, (c) => `\\${c}`)}%`;
    query = query.where(sql<boolean>`search_text like ${pattern} escape '\\'`);
  }
  if (afterSlug !== undefined) query = query.where("slug", ">", afterSlug);
  return query;
}

const selectForgotten = prepare<{ limit: number }, { id: string }>((db, p) =>
  db
    .selectFrom("personas")
    .select("id")
    .where("archived_at", "is not", null)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom("persona_pins")
            .select("persona_pins.session_id")
            .whereRef("persona_pins.persona_id", "=", "personas.id"),
        ),
      ),
    )
    .limit(p("limit")),
);
/** Lists archived personas that no session uses any more. */
export async function listForgotten(reader: Reader, limit: number): Promise<string[]> {
  return (await reader.all(selectForgotten, { limit })).map(({ id }) => id);
}

const deleteRow = prepare<{ id: string }, unknown>((db, p) =>
  db.deleteFrom("personas").where("id", "=", p("id")),
);
const deleteVersions = prepare<{ id: string }, unknown>((db, p) =>
  db.deleteFrom("persona_versions").where("persona_id", "=", p("id")),
);
const deleteBlobs = prepare<{ id: string }, unknown>((db, p) =>
  db.deleteFrom("persona_blobs").where("persona_id", "=", p("id")),
);
const selectPrivateOf = prepare<{ orgId: string; userId: string; limit: number }, { id: string }>(
  (db, p) =>
    db
      .selectFrom("personas")
      .select("id")
      .where("org_id", "=", p("orgId"))
      .where("created_by", "=", p("userId"))
      .where("visibility", "=", "private")
      .limit(p("limit")),
);
export async function listPrivateOf(
  reader: Reader,
  orgId: string,
  userId: string,
  limit: number,
): Promise<string[]> {
  return (await reader.all(selectPrivateOf, { orgId, userId, limit })).map(({ id }) => id);
}

/** Deletes a persona with all its versions. */
export async function deletePersona(tx: Tx, id: string): Promise<void> {
  await tx.run(deleteBlobs, { id });
  await tx.run(deleteVersions, { id });
  await tx.run(deleteRow, { id });
}
