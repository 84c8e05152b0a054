/** SQL on linked accounts and on sign-ins under way. No other file has any. */
import { inserter, type Reader, statements, type Tx } from "#base/store/index.ts";
import type { AuthTables, LinkedAccountRow, SignInFlowRow } from "./schema.ts";

const prepare = statements<AuthTables>();

const insertAccountRow = inserter<LinkedAccountRow>("linked_accounts", [
  "id",
  "org_id",
  "user_id",
  "provider",
  "issuer",
  "subject",
  "label",
  "created_at",
  "last_used_at",
]);
export const insertAccount = (tx: Tx, row: LinkedAccountRow) =>
  tx.execute(insertAccountRow(tx.dialect, [row]));

export type Subject = Pick<LinkedAccountRow, "provider" | "issuer" | "subject">;

const selectBySubject = prepare<Subject, LinkedAccountRow>((db, p) =>
  db
    .selectFrom("linked_accounts")
    .selectAll()
    .where("provider", "=", p("provider"))
    .where("issuer", "=", p("issuer"))
    .where("subject", "=", p("subject")),
);
export const findAccount = (reader: Reader, { provider, issuer, subject }: Subject) =>
  reader.first(selectBySubject, { provider, issuer, subject });

const selectOfUser = prepare<{ userId: string }, LinkedAccountRow>((db, p) =>
  db
    .selectFrom("linked_accounts")
    .selectAll()
    .where("user_id", "=", p("userId"))
    .orderBy("created_at")
    .orderBy("id"),
);
export const listAccountsOf = (reader: Reader, userId: string) =>
  reader.all(selectOfUser, { userId });

const touch = prepare<{ id: string; label: string; now: number }, unknown>((db, p) =>
  db
    .updateTable("linked_accounts")
    .set({ last_used_at: p("now"), label: p("label") })
    .where("id", "=", p("id")),
);
export const markAccountUsed = (tx: Tx, id: string, label: string) =>
  tx.run(touch, { id, label, now: tx.now });

const deleteById = prepare<{ id: string; userId: string }, unknown>((db, p) =>
  db.deleteFrom("linked_accounts").where("id", "=", p("id")).where("user_id", "=", p("userId")),
);
export async function deleteAccount(tx: Tx, id: string, userId: string): Promise<boolean> {
  return (await tx.run(deleteById, { id, userId })) > 0;
}

const deleteOfUser = prepare<{ userId: string }, unknown>((db, p) =>
  db.deleteFrom("linked_accounts").where("user_id", "=", p("userId")),
);
export const deleteAccountsOf = (tx: Tx, userId: string) => tx.run(deleteOfUser, { userId });

const countAdmins = prepare<{ provider: string; issuer: string }, { n: number }>((db, p) =>
  db
    .selectFrom("users")
    .innerJoin("linked_accounts", "linked_accounts.user_id", "users.id")
    .select((eb) => eb.fn.countAll<number>().as("n"))
    .where("users.role", "=", "admin")
    .where("users.removed_at", "is", null)
    .where("linked_accounts.provider", "=", p("provider"))
    .where("linked_accounts.issuer", "=", p("issuer")),
);
export async function hasLinkedAdmin(
  reader: Reader,
  provider: string,
  issuer: string,
): Promise<boolean> {
  return Number((await reader.first(countAdmins, { provider, issuer }))?.n ?? 0) > 0;
}

const insertFlowRow = inserter<SignInFlowRow>("sign_in_flows", [
  "state_hash",
  "browser_hash",
  "provider",
  "issuer",
  "purpose",
  "invitation_hash",
  "user_id",
  "credential_id",
  "replaces_hash",
  "page_hash",
  "next",
  "created_at",
  "expires_at",
]);
export const insertFlow = (tx: Tx, row: SignInFlowRow) =>
  tx.execute(insertFlowRow(tx.dialect, [row]));

const selectFlow = prepare<{ stateHash: string }, SignInFlowRow>((db, p) =>
  db.selectFrom("sign_in_flows").selectAll().where("state_hash", "=", p("stateHash")),
);
export const findFlow = (reader: Reader, stateHash: string) =>
  reader.first(selectFlow, { stateHash });

const deleteFlowRow = prepare<{ stateHash: string }, unknown>((db, p) =>
  db.deleteFrom("sign_in_flows").where("state_hash", "=", p("stateHash")),
);
/** Returns true for exactly one of two concurrent callers. */
export async function deleteFlow(tx: Tx, stateHash: string): Promise<boolean> {
  return (await tx.run(deleteFlowRow, { stateHash })) > 0;
}

const deleteOver = prepare<{ now: number }, unknown>((db, p) =>
  db.deleteFrom("sign_in_flows").where("expires_at", "<=", p("now")),
);
export const deleteOverFlows = (tx: Tx, now: number) => tx.run(deleteOver, { now });
