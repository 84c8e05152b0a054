/**
 * Creates the organisation and its owner at the first start: a key in a file, and a password if one is
 * configured.
 */
import { Refusal } from "#base/refusal.ts";
import type { UserRow } from "#engine/index.ts";
import { emailSchema, passwordSchema } from "./contract.ts";
import { type AuthContext, heldBy, issueCredential } from "./credentials/issue.ts";
import { mintSecret } from "./credentials/secrets.ts";
import {
  findOwner,
  findPassword,
  findUser,
  findUserByEmail,
  insertOrg,
  insertUser,
  listCredentials,
  lockOrg,
  lockUser,
  revokeCredential,
  savePassword,
  saveUser,
} from "./queries.ts";
import { hashPassword, refuseWeakPassword } from "./sign-in/passwords.ts";

/** Returns the key only when this call created the owner. */
export function ensureOwner(
  { store, ids, tell }: AuthContext,
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
    await tell(tx, { orgId, by: "system", area: "member", action: "added", subjectId: userId });
    await issueCredential(tx, ids, {
      kind: "owner_key",
      secret,
      holder: heldBy(owner, "owner key"),
    });
    return { owner, key: secret };
  });
}

/**
 * Creates a new owner key after its file was lost. The lost key is revoked, except where several servers
 * share the database: there the file may be in another server's folder.
 */
export async function renewOwnerKey(
  { store, ids, tell }: AuthContext,
  owner: UserRow,
): Promise<string> {
  const secret = mintSecret("key");
  await store.transaction(async (tx) => {
    const lost = tx.dialect === "sqlite" ? await listCredentials(tx, owner.id, "owner_key") : [];
    for (const old of lost) await revokeCredential(tx, old.id);
    const subjectId = await issueCredential(tx, ids, {
      kind: "owner_key",
      secret,
      holder: heldBy(owner, "owner key"),
    });
    const { org_id: orgId } = owner;
    await tell(tx, { orgId, by: "system", area: "owner_key", action: "renewed", subjectId });
  });
  return secret;
}

/**
 * Sets the owner's first password from the settings, so that a server in a container can be reached at once.
 * Reads it only where no password exists: otherwise each start would bring back one that was changed since,
 * perhaps because somebody had read the file.
 */
export async function setFirstPassword(
  { store, tell }: AuthContext,
  userId: string,
  readPassword: () => string,
  email: string | undefined,
): Promise<boolean> {
  const owner = await store.read(async (reader) =>
    (await findPassword(reader, userId)) ? undefined : findUser(reader, userId),
  );
  if (!owner) return false;
  const password = readPassword();
  const address = emailSchema.safeParse(email ?? owner.email);
  if (!address.success) throw notAllowed("MUSTER_OWNER_EMAIL: must be the owner's e-mail address");
  if (!passwordSchema.safeParse(password).success)
    throw notAllowed("MUSTER_OWNER_PASSWORD_FILE: must hold 12 to 256 characters");
  refuseWeakPassword(password, address.data);
  const hash = await hashPassword(password);
  return store.transaction(async (tx) => {
    await lockOrg(tx, owner.org_id);
    const user = await lockUser(tx, userId);
    if (!user || (await findPassword(tx, userId))) return false;
    const other = await findUserByEmail(tx, address.data);
    if (other && other.id !== userId)
      throw notAllowed("MUSTER_OWNER_EMAIL: must not be another member's address");
    await saveUser(tx, { ...user, email: address.data });
    await savePassword(tx, { user_id: userId, org_id: user.org_id, hash, updated_at: tx.now });
    const { org_id: orgId } = user;
    await tell(tx, { orgId, by: "system", area: "password", action: "set", subjectId: userId });
    return true;
  });
}

function notAllowed(why: string): Refusal {
  return new Refusal("invalid", "config_invalid", `A setting has an invalid value.\n${why}`);
}
