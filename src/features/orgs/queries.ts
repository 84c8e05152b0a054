/** SQL on invitations. No other file has any. */
import { inserter, type Reader, statements, type Tx } from "#base/store/index.ts";
import type { InvitationRow, OrgTables } from "./schema.ts";

const prepare = statements<OrgTables>();

const insertRow = inserter<InvitationRow>("invitations", [
  "id",
  "org_id",
  "hash",
  "email",
  "user_id",
  "role",
  "created_by",
  "created_at",
  "expires_at",
  "accepted_at",
  "accepted_by",
  "revoked_at",
]);
export const insertInvitation = (tx: Tx, row: InvitationRow) =>
  tx.execute(insertRow(tx.dialect, [row]));

const selectOpen = prepare<{ orgId: string; now: number }, InvitationRow>((db, p) =>
  db
    .selectFrom("invitations")
    .selectAll()
    .where("org_id", "=", p("orgId"))
    .where("accepted_at", "is", null)
    .where("revoked_at", "is", null)
    .where("expires_at", ">", p("now"))
    .orderBy("created_at", "desc")
    .orderBy("id", "desc"),
);
/** Lists invitations that can still be accepted, newest first. */
export const listOpenInvitations = (reader: Reader, orgId: string, now: number) =>
  reader.all(selectOpen, { orgId, now });

const selectById = prepare<{ id: string }, InvitationRow>((db, p) =>
  db.selectFrom("invitations").selectAll().where("id", "=", p("id")),
);
export const findInvitation = (reader: Reader, id: string) => reader.first(selectById, { id });

const selectByHash = prepare<{ hash: string }, InvitationRow>((db, p) =>
  db.selectFrom("invitations").selectAll().where("hash", "=", p("hash")),
);
export const findInvitationByHash = (reader: Reader, hash: string) =>
  reader.first(selectByHash, { hash });

const acceptById = prepare<{ id: string; userId: string; now: number }, unknown>((db, p) =>
  db
    .updateTable("invitations")
    .set({ accepted_at: p("now"), accepted_by: p("userId") })
    .where("id", "=", p("id"))
    .where("accepted_at", "is", null)
    .where("revoked_at", "is", null)
    .where("expires_at", ">", p("now")),
);
/** Returns true for exactly one of two concurrent callers. */
export async function takeInvitation(tx: Tx, id: string, userId: string): Promise<boolean> {
  return (await tx.run(acceptById, { id, userId, now: tx.now })) > 0;
}

const revokeById = prepare<{ id: string; now: number }, unknown>((db, p) =>
  db
    .updateTable("invitations")
    .set({ revoked_at: p("now") })
    .where("id", "=", p("id"))
    .where("accepted_at", "is", null)
    .where("revoked_at", "is", null),
);
export async function revokeInvitation(tx: Tx, id: string): Promise<boolean> {
  return (await tx.run(revokeById, { id, now: tx.now })) > 0;
}

const revokeMadeBy = prepare<{ createdBy: string; now: number }, unknown>((db, p) =>
  db
    .updateTable("invitations")
    .set({ revoked_at: p("now") })
    .where("created_by", "=", p("createdBy"))
    .where("accepted_at", "is", null)
    .where("revoked_at", "is", null),
);
export const revokeInvitationsOf = (tx: Tx, createdBy: string) =>
  tx.run(revokeMadeBy, { createdBy, now: tx.now });

const deleteAccepted = prepare<{ userId: string }, unknown>((db, p) =>
  db.deleteFrom("invitations").where("accepted_by", "=", p("userId")),
);
const deleteToReturn = prepare<{ userId: string }, unknown>((db, p) =>
  db.deleteFrom("invitations").where("user_id", "=", p("userId")),
);
const deleteFor = prepare<{ email: string }, unknown>((db, p) =>
  db.deleteFrom("invitations").where("email", "=", p("email")),
);
/** Deletes the invitations of a person whose data is purged. */
export async function forgetInvited(tx: Tx, userId: string, email: string | null): Promise<void> {
  await tx.run(deleteAccepted, { userId });
  await tx.run(deleteToReturn, { userId });
  if (email !== null) await tx.run(deleteFor, { email });
}

const deleteOld = prepare<{ before: number }, unknown>((db, p) =>
  db.deleteFrom("invitations").where("expires_at", "<", p("before")),
);
export const deleteOldInvitations = (tx: Tx, before: number) => tx.run(deleteOld, { before });
