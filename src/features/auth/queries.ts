/** SQL on organisations, users, credentials and passwords. No other file has any. */
import { inserter, type Reader, statements, type Tx } from "#base/store/index.ts";
import type { CredentialKind, OrgRow, UserRow } from "#engine/index.ts";
import type { AuthTables, HeldCredentialRow, PasswordRow, PersonRow } from "./schema.ts";

const prepare = statements<AuthTables>();

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
const insertCredentialRow = inserter<HeldCredentialRow>("credentials", [
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
  "page_hash",
]);

export const insertOrg = (tx: Tx, row: OrgRow) => tx.execute(insertOrgRow(tx.dialect, [row]));
export const insertUser = (tx: Tx, row: UserRow) => tx.execute(insertUserRow(tx.dialect, [row]));
export const insertCredential = (tx: Tx, row: HeldCredentialRow) =>
  tx.execute(insertCredentialRow(tx.dialect, [row]));

const selectAdmins = prepare<Record<never, never>, PersonRow>((db) =>
  db
    .selectFrom("users")
    .selectAll()
    .where("role", "=", "admin")
    .orderBy("created_at")
    .orderBy("id"),
);
/** Finds the first admin who is still a member. */
export async function findOwner(reader: Reader): Promise<PersonRow | undefined> {
  return (await reader.all(selectAdmins, {})).find(isActiveMember);
}

export function isActiveMember(user: { removed_at?: number | null }): boolean {
  return (user.removed_at ?? null) === null;
}

const selectUser = prepare<{ id: string }, PersonRow>((db, p) =>
  db.selectFrom("users").selectAll().where("id", "=", p("id")),
);
export const findUser = (reader: Reader, id: string) => reader.first(selectUser, { id });

const selectUserLocked = prepare<{ id: string }, PersonRow>((db, p, dialect) => {
  const query = db.selectFrom("users").selectAll().where("id", "=", p("id"));
  return dialect === "postgres" ? query.forUpdate() : query;
});
/** Locks a person who gets a credential, so that nobody is removed and let in at once. */
export const lockUser = (tx: Tx, id: string) => tx.first(selectUserLocked, { id });

const selectUserByEmail = prepare<{ email: string }, PersonRow>((db, p) =>
  db.selectFrom("users").selectAll().where("email", "=", p("email")),
);
export const findUserByEmail = (reader: Reader, email: string) =>
  reader.first(selectUserByEmail, { email });

const selectMembers = prepare<{ orgId: string }, PersonRow>((db, p) =>
  db
    .selectFrom("users")
    .selectAll()
    .where("org_id", "=", p("orgId"))
    .where("removed_at", "is", null)
    .orderBy("created_at")
    .orderBy("id"),
);
export const listMembers = (reader: Reader, orgId: string) => reader.all(selectMembers, { orgId });

const selectRemoved = prepare<Record<never, never>, PersonRow>((db) =>
  db.selectFrom("users").selectAll().where("removed_at", "is not", null),
);
export const listRemoved = (reader: Reader) => reader.all(selectRemoved, {});

type UserChange = Pick<
  PersonRow,
  "id" | "name" | "email" | "role" | "timezone" | "locale" | "removed_at"
>;
const updateUser = prepare<UserChange, unknown>((db, p) =>
  db
    .updateTable("users")
    .set({
      name: p("name"),
      email: p("email"),
      role: p("role"),
      timezone: p("timezone"),
      locale: p("locale"),
      removed_at: p("removed_at"),
    })
    .where("id", "=", p("id")),
);
export const saveUser = (tx: Tx, row: UserChange) => tx.run(updateUser, row);

const countPasswordAdmins = prepare<Record<never, never>, { n: number }>((db) =>
  db
    .selectFrom("users")
    .innerJoin("passwords", "passwords.user_id", "users.id")
    .select((eb) => eb.fn.countAll<number>().as("n"))
    .where("users.role", "=", "admin")
    .where("users.removed_at", "is", null),
);
export async function hasPasswordAdmin(reader: Reader): Promise<boolean> {
  return Number((await reader.first(countPasswordAdmins, {}))?.n ?? 0) > 0;
}

const selectPassword = prepare<{ userId: string }, PasswordRow>((db, p) =>
  db.selectFrom("passwords").selectAll().where("user_id", "=", p("userId")),
);
export const findPassword = (reader: Reader, userId: string) =>
  reader.first(selectPassword, { userId });

const upsertPassword = prepare<PasswordRow, unknown>((db, p) =>
  db
    .insertInto("passwords")
    .values({
      user_id: p("user_id"),
      org_id: p("org_id"),
      hash: p("hash"),
      updated_at: p("updated_at"),
    })
    .onConflict((conflict) =>
      conflict.column("user_id").doUpdateSet({ hash: p("hash"), updated_at: p("updated_at") }),
    ),
);
export const savePassword = (tx: Tx, row: PasswordRow) => tx.run(upsertPassword, row);

const deletePasswordOf = prepare<{ userId: string }, unknown>((db, p) =>
  db.deleteFrom("passwords").where("user_id", "=", p("userId")),
);
export const deletePassword = (tx: Tx, userId: string) => tx.run(deletePasswordOf, { userId });

const selectOrg = prepare<{ id: string }, OrgRow>((db, p) =>
  db.selectFrom("orgs").selectAll().where("id", "=", p("id")),
);
export const findOrg = (reader: Reader, id: string) => reader.first(selectOrg, { id });

const selectOrgLocked = prepare<{ id: string }, OrgRow>((db, p, dialect) => {
  const query = db.selectFrom("orgs").selectAll().where("id", "=", p("id"));
  return dialect === "postgres" ? query.forUpdate() : query;
});
/** Serialises joining, leaving and changes of role: otherwise two last admins could leave at once. */
export const lockOrg = (tx: Tx, id: string) => tx.first(selectOrgLocked, { id });

const updateOrg = prepare<{ id: string; name: string }, unknown>((db, p) =>
  db
    .updateTable("orgs")
    .set({ name: p("name") })
    .where("id", "=", p("id")),
);
export const saveOrg = (tx: Tx, change: { id: string; name: string }) => tx.run(updateOrg, change);

const selectByHash = prepare<{ hash: string }, HeldCredentialRow>((db, p) =>
  db.selectFrom("credentials").selectAll().where("hash", "=", p("hash")),
);
export const findCredentialByHash = (reader: Reader, hash: string) =>
  reader.first(selectByHash, { hash });

const selectCredential = prepare<{ id: string }, HeldCredentialRow>((db, p) =>
  db.selectFrom("credentials").selectAll().where("id", "=", p("id")),
);
export const findCredential = (reader: Reader, id: string) =>
  reader.first(selectCredential, { id });

const selectCredentialLocked = prepare<{ id: string }, HeldCredentialRow>((db, p, dialect) => {
  const query = db.selectFrom("credentials").selectAll().where("id", "=", p("id"));
  return dialect === "postgres" ? query.forUpdate() : query;
});
/** Locks a credential: anything made with it exists before it can be revoked, or is refused. */
export const lockCredential = (tx: Tx, id: string) => tx.first(selectCredentialLocked, { id });

const selectRunnerTokens = prepare<{ orgId: string }, HeldCredentialRow>((db, p) =>
  db
    .selectFrom("credentials")
    .selectAll()
    .where("org_id", "=", p("orgId"))
    .where("kind", "=", "runner")
    .where("revoked_at", "is", null)
    .orderBy("created_at", "desc")
    .orderBy("id", "desc"),
);
/** Newest first. */
export const listRunnerTokenRows = (reader: Reader, orgId: string) =>
  reader.all(selectRunnerTokens, { orgId });

const selectOfKind = prepare<{ principalId: string; kind: CredentialKind }, HeldCredentialRow>(
  (db, p) =>
    db
      .selectFrom("credentials")
      .selectAll()
      .where("principal_id", "=", p("principalId"))
      .where("kind", "=", p("kind"))
      .where("revoked_at", "is", null),
);
export const listCredentials = (reader: Reader, principalId: string, kind: CredentialKind) =>
  reader.all(selectOfKind, { principalId, kind });

const revokeById = prepare<{ id: string; now: number }, unknown>((db, p) =>
  db
    .updateTable("credentials")
    .set({ revoked_at: p("now") })
    .where("id", "=", p("id"))
    .where("revoked_at", "is", null),
);
const selectMadeBy = prepare<{ createdBy: string }, { id: string }>((db, p) =>
  db
    .selectFrom("credentials")
    .select("id")
    .where("created_by", "=", p("createdBy"))
    .where("revoked_at", "is", null),
);
export const listMadeBy = (reader: Reader, createdBy: string) =>
  reader.all(selectMadeBy, { createdBy });

const revokeOfKind = prepare<{ principalId: string; kind: CredentialKind; now: number }, unknown>(
  (db, p) =>
    db
      .updateTable("credentials")
      .set({ revoked_at: p("now") })
      .where("principal_id", "=", p("principalId"))
      .where("kind", "=", p("kind"))
      .where("revoked_at", "is", null),
);
/** Revokes all credentials of these kinds of a person; tokens of their own runners have kind `runner`. */
export async function revokeKinds(
  tx: Tx,
  principalId: string,
  kinds: readonly CredentialKind[],
): Promise<void> {
  for (const kind of kinds) await tx.run(revokeOfKind, { principalId, kind, now: tx.now });
}

const touch = prepare<{ id: string; at: number }, unknown>((db, p) =>
  db
    .updateTable("credentials")
    .set({ last_used_at: p("at") })
    .where("id", "=", p("id")),
);
export const markUsed = (tx: Tx, id: string, at: number) => tx.run(touch, { id, at });

const deleteDead = prepare<{ before: number }, unknown>((db, p) =>
  db
    .deleteFrom("credentials")
    .where((eb) => eb.or([eb("revoked_at", "<", p("before")), eb("expires_at", "<", p("before"))])),
);
export const deleteDeadCredentials = (tx: Tx, before: number) => tx.run(deleteDead, { before });

const deleteHeld = prepare<{ principalId: string }, unknown>((db, p) =>
  db.deleteFrom("credentials").where("principal_id", "=", p("principalId")),
);
/** Deletes every credential that a person ever held, for a complete removal. */
export const deleteCredentialsOf = (tx: Tx, principalId: string) =>
  tx.run(deleteHeld, { principalId });

/** Returns true for exactly one caller, so that a one-time link works once. */
export async function revokeCredential(tx: Tx, id: string): Promise<boolean> {
  return (await tx.run(revokeById, { id, now: tx.now })) > 0;
}
