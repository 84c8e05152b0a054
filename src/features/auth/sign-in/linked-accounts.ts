/** Accounts at other services by which a person signs in. */
import { notFound, Refusal } from "#base/refusal.ts";
import type { Store } from "#base/store/index.ts";
import type { SettingChange } from "#engine/index.ts";
import { deleteAccount, listAccountsOf } from "../account-queries.ts";
import type { LinkedAccount } from "../contract.ts";
import type { AuthContext, CallerCredential } from "../credentials/issue.ts";
import { mintSecret } from "../credentials/secrets.ts";
import { findPassword, isActiveMember, lockUser, revokeKinds } from "../queries.ts";
import type { LinkedAccountRow } from "../schema.ts";
import { browserOf, type OpenedBrowser, openBrowser, type Visit } from "./sign-in.ts";

export async function listLinkedAccounts(store: Store, userId: string): Promise<LinkedAccount[]> {
  return (await store.read((reader) => listAccountsOf(reader, userId))).map(viewOf);
}

/**
 * Unlinks an account and ends every browser of the person: whoever came in by that account may still use one.
 */
export function unlinkAccount(
  context: AuthContext,
  userId: string,
  maker: CallerCredential,
  visit: Visit,
  id: string,
): Promise<{ account: LinkedAccount; opened: OpenedBrowser | undefined }> {
  const secret = mintSecret("web");
  return context.store.transaction(async (tx) => {
    const user = await lockUser(tx, userId);
    if (!user || !isActiveMember(user)) throw notFound("user");
    const accounts = await listAccountsOf(tx, userId);
    const account = accounts.find((row) => row.id === id);
    if (!account) throw notFound("account");
    if (accounts.length === 1 && !(await findPassword(tx, userId))) throw lastWayIn();
    await deleteAccount(tx, id, userId);
    await context.tell(tx, accountChange(account, "unlinked"));
    await revokeKinds(tx, userId, ["cookie", "sign_in_link"]);
    const isBrowser = maker.kind === "cookie";
    const goesOn = maker.credentialId;
    const opened = isBrowser
      ? await openBrowser(tx, context, { user, secret, goesOn, ...browserOf(visit) })
      : undefined;
    return { account: viewOf(account), opened };
  });
}

/** Describes a change for the audit trail, without the label, which is somebody's own text. */
export function accountChange(
  { org_id: orgId, user_id, id }: Pick<LinkedAccountRow, "org_id" | "user_id" | "id">,
  action: string,
): SettingChange {
  return { orgId, by: `user:${user_id}`, area: "linked_account", action, subjectId: id };
}

function lastWayIn(): Refusal {
  return new Refusal(
    "conflict",
    "last_sign_in",
    "Without this account you could no longer sign in. Set a password or link another account first.",
  );
}

function viewOf(row: LinkedAccountRow): LinkedAccount {
  return {
    id: row.id,
    provider: row.provider,
    label: row.label,
    linkedAt: new Date(row.created_at).toISOString(),
    lastUsedAt: row.last_used_at === null ? null : new Date(row.last_used_at).toISOString(),
  };
}
