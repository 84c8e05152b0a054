/** The only SQL on orgs, users and credentials. */
import { inserter, type Reader, statements, type Tx } from "#base/store/index.ts";
import type { CredentialRow, KernelTables, OrgRow, UserRow } from "#engine/index.ts";

const prepare = statements<KernelTables>();

const insertOrgRow = inserter<OrgRow>("orgs", ["id", "name", "slug", "created_at"]);
const insertUserRow = inserter<UserRow>("users", [
  "id",
  "org_id",
  "name",
  "email",
  "role",
  "timezone",
  "locale",
  "created_at",
]);
const insertCredentialRow = inserter<CredentialRow>("credentials", [
  "id",
  "org_id",
  "kind",
  "hash",
  "name",
  "principal_kind",
  "principal_id",
  "scopes",
  "created_by",
  "created_at",
  "expires_at",
  "last_used_at",
  "revoked_at",
]);

export const insertOrg = (tx: Tx, row: OrgRow) => tx.execute(insertOrgRow(tx.dialect, [row]));
export const insertUser = (tx: Tx, row: UserRow) => tx.execute(insertUserRow(tx.dialect, [row]));
export const insertCredential = (tx: Tx, row: CredentialRow) =>
  tx.execute(insertCredentialRow(tx.dialect, [row]));

const selectOwner = prepare<Record<never, never>, UserRow>((db) =>
  db
    .selectFrom("users")
    .selectAll()
    .where("role", "=", "admin")
    .orderBy("created_at")
    .orderBy("id")
    .limit(1),
);
export const findOwner = (reader: Reader) => reader.first(selectOwner, {});

const selectUser = prepare<{ id: string }, UserRow>((db, p) =>
  db.selectFrom("users").selectAll().where("id", "=", p("id")),
);
export const findUser = (reader: Reader, id: string) => reader.first(selectUser, { id });

const selectOrg = prepare<{ id: string }, OrgRow>((db, p) =>
  db.selectFrom("orgs").selectAll().where("id", "=", p("id")),
);
export const findOrg = (reader: Reader, id: string) => reader.first(selectOrg, { id });

const selectByHash = prepare<{ hash: string }, CredentialRow>((db, p) =>
  db.selectFrom("credentials").selectAll().where("hash", "=", p("hash")),
);
export const findCredentialByHash = (reader: Reader, hash: string) =>
  reader.first(selectByHash, { hash });

const selectOfKind = prepare<{ principalId: string; kind: CredentialRow["kind"] }, CredentialRow>(
  (db, p) =>
    db
      .selectFrom("credentials")
      .selectAll()
      .where("principal_id", "=", p("principalId"))
      .where("kind", "=", p("kind"))
      .where("revoked_at", "is", null),
);
export const listCredentials = (reader: Reader, principalId: string, kind: CredentialRow["kind"]) =>
  reader.all(selectOfKind, { principalId, kind });

const revokeById = prepare<{ id: string; now: number }, unknown>((db, p) =>
  db
    .updateTable("credentials")
    .set({ revoked_at: p("now") })
    .where("id", "=", p("id"))
    .where("revoked_at", "is", null),
);
/** True for exactly one caller: how a one-time link is used once. */
export async function revokeCredential(tx: Tx, id: string): Promise<boolean> {
  return (await tx.run(revokeById, { id, now: tx.now })) > 0;
}
