/** The first start makes the org and its owner, whose key is written to a file. */
import type { Ids } from "#base/ids.ts";
import type { Store } from "#base/store/index.ts";
import type { UserRow } from "#engine/index.ts";
import { heldBy, issueCredential } from "./issue.ts";
import { findOwner, insertOrg, insertUser, listCredentials, revokeCredential } from "./queries.ts";
import { mintSecret } from "./secrets.ts";

/** Returns the key only when the owner was made now. */
export function ensureOwner(
  store: Store,
  ids: Ids,
  name: string,
): Promise<{ owner: UserRow; key: string | undefined }> {
  const secret = mintSecret("key");
  const orgId = ids.mint("org");
  const userId = ids.mint("usr");
  return store.transaction(async (tx) => {
    const known = await findOwner(tx);
    if (known) return { owner: known, key: undefined };
    await insertOrg(tx, { id: orgId, name: "Muster", slug: "muster", created_at: tx.now });
    const { timeZone, locale } = new Intl.DateTimeFormat().resolvedOptions();
    const owner: UserRow = {
      id: userId,
      org_id: orgId,
      name,
      email: null,
      role: "admin",
      timezone: timeZone,
      locale,
      created_at: tx.now,
    };
    await insertUser(tx, owner);
    await issueCredential(tx, ids, {
      kind: "owner_key",
      secret,
      holder: heldBy(owner, "owner key"),
    });
    return { owner, key: secret };
  });
}

/**
 * A new owner key, for when its file was lost. The lost one is revoked, except where several
 * servers share the database: there the file may lie in another server's folder.
 */
export async function renewOwnerKey(store: Store, ids: Ids, owner: UserRow): Promise<string> {
  const secret = mintSecret("key");
  await store.transaction(async (tx) => {
    const lost = tx.dialect === "sqlite" ? await listCredentials(tx, owner.id, "owner_key") : [];
    for (const old of lost) await revokeCredential(tx, old.id);
    await issueCredential(tx, ids, {
      kind: "owner_key",
      secret,
      holder: heldBy(owner, "owner key"),
    });
  });
  return secret;
}
