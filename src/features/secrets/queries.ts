/** SQL on secrets. No other file has any. */
import { type Reader, statements, type Tx } from "#base/store/index.ts";
import type { SecretScope } from "./contract.ts";
import type { SecretRow, SecretTables } from "./schema.ts";

const prepare = statements<SecretTables>();

/** Owner of a set of secrets. */
export interface SecretOwner {
  orgId: string;
  scope: SecretScope;
  /** Empty: the organisation. */
  ownerId: string;
}
export interface SecretKey extends SecretOwner {
  name: string;
}

const selectOne = prepare<SecretKey, SecretRow>((db, p) =>
  db
    .selectFrom("secrets")
    .selectAll()
    .where("org_id", "=", p("orgId"))
    .where("scope", "=", p("scope"))
    .where("owner_id", "=", p("ownerId"))
    .where("name", "=", p("name")),
);
export function findSecret(reader: Reader, key: SecretKey): Promise<SecretRow | undefined> {
  return reader.first(selectOne, key);
}

const selectOneToChange = prepare<SecretKey, SecretRow>((db, p, dialect) => {
  const query = db
    .selectFrom("secrets")
    .selectAll()
    .where("org_id", "=", p("orgId"))
    .where("scope", "=", p("scope"))
    .where("owner_id", "=", p("ownerId"))
    .where("name", "=", p("name"));
  return dialect === "postgres" ? query.forUpdate() : query;
});
export function lockSecret(tx: Tx, key: SecretKey): Promise<SecretRow | undefined> {
  return tx.first(selectOneToChange, key);
}

const selectOfOwner = prepare<SecretOwner & { after: string; limit: number }, SecretRow>((db, p) =>
  db
    .selectFrom("secrets")
    .selectAll()
    .where("org_id", "=", p("orgId"))
    .where("scope", "=", p("scope"))
    .where("owner_id", "=", p("ownerId"))
    .where("name", ">", p("after"))
    .orderBy("name")
    .limit(p("limit")),
);
/** Lists secrets by name, starting behind `after`. */
export function listSecrets(
  reader: Reader,
  owner: SecretOwner,
  after: string,
  limit: number,
): Promise<SecretRow[]> {
  return reader.all(selectOfOwner, { ...owner, after, limit });
}

const countOfOwner = prepare<SecretOwner, { count: number }>((db, p) =>
  db
    .selectFrom("secrets")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("org_id", "=", p("orgId"))
    .where("scope", "=", p("scope"))
    .where("owner_id", "=", p("ownerId")),
);
export async function countSecrets(reader: Reader, owner: SecretOwner): Promise<number> {
  return Number((await reader.first(countOfOwner, owner))?.count ?? 0);
}

/** The statement increments the version itself, so that no two values ever share one. */
const upsert = prepare<SecretRow, SecretRow>((db, p) =>
  db
    .insertInto("secrets")
    .values({
      org_id: p("org_id"),
      scope: p("scope"),
      owner_id: p("owner_id"),
      name: p("name"),
      description: p("description"),
      sealed: p("sealed"),
      version: p("version"),
      created_by: p("created_by"),
      created_at: p("created_at"),
      updated_at: p("updated_at"),
      last_used_at: p("last_used_at"),
    })
    .onConflict((conflict) =>
      conflict.columns(["org_id", "scope", "owner_id", "name"]).doUpdateSet((eb) => ({
        description: eb.ref("excluded.description"),
        sealed: eb.ref("excluded.sealed"),
        version: eb("secrets.version", "+", 1),
        updated_at: eb.ref("excluded.updated_at"),
      })),
    )
    .returningAll(),
);
export async function saveSecret(tx: Tx, row: SecretRow): Promise<SecretRow> {
  return (await tx.first(upsert, row)) as SecretRow;
}

const deleteOne = prepare<SecretKey, unknown>((db, p) =>
  db
    .deleteFrom("secrets")
    .where("org_id", "=", p("orgId"))
    .where("scope", "=", p("scope"))
    .where("owner_id", "=", p("ownerId"))
    .where("name", "=", p("name")),
);
export function deleteSecret(tx: Tx, key: SecretKey): Promise<number> {
  return tx.run(deleteOne, key);
}

const deleteOfOwner = prepare<SecretOwner, unknown>((db, p) =>
  db
    .deleteFrom("secrets")
    .where("org_id", "=", p("orgId"))
    .where("scope", "=", p("scope"))
    .where("owner_id", "=", p("ownerId")),
);
export function deleteSecretsOf(tx: Tx, owner: SecretOwner): Promise<number> {
  return tx.run(deleteOfOwner, owner);
}

const updateUse = prepare<SecretKey & { at: number }, unknown>((db, p) =>
  db
    .updateTable("secrets")
    .set({ last_used_at: p("at") })
    .where("org_id", "=", p("orgId"))
    .where("scope", "=", p("scope"))
    .where("owner_id", "=", p("ownerId"))
    .where("name", "=", p("name")),
);
export function noteUse(tx: Tx, key: SecretKey, at: number): Promise<number> {
  return tx.run(updateUse, { ...key, at });
}
