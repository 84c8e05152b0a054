/** Making credentials: a secret's hash goes into the store, the secret to whoever asked. */
import type { Ids } from "#base/ids.ts";
import type { Store, Tx } from "#base/store/index.ts";
import type { CredentialKind, CredentialRow, Tell, UserRow } from "#engine/index.ts";
import { insertCredential, listMadeBy, revokeCredential } from "./queries.ts";
import { hashSecret } from "./secrets.ts";

/** What giving and taking away needs. */
export interface Desk {
  store: Store;
  ids: Ids;
  /** Every change of who can get in is told of in its own transaction. */
  tell: Tell;
}

type Holder = Pick<
  CredentialRow,
  "org_id" | "name" | "principal_kind" | "principal_id" | "scopes" | "created_by"
>;

export interface Issue {
  kind: CredentialKind;
  secret: string;
  holder: Holder;
  expiresAt?: number;
}

export async function issueCredential(
  tx: Tx,
  ids: Ids,
  { kind, secret, holder, expiresAt }: Issue,
): Promise<string> {
  const id = ids.mint("crd");
  await insertCredential(tx, {
    id,
    kind,
    hash: hashSecret(secret),
    ...holder,
    created_at: tx.now,
    expires_at: expiresAt ?? null,
    last_used_at: null,
    revoked_at: null,
  });
  return id;
}

/** The credential that somebody asked with. */
export interface Maker {
  credentialId: string;
  kind: string;
  expiresAt?: number | null;
}

export function heldBy(user: UserRow, name: string, scopes = "*", maker?: Maker): Holder {
  return {
    org_id: user.org_id,
    name,
    principal_kind: "user",
    principal_id: user.id,
    scopes,
    created_by: maker?.kind === "api_key" ? madeBy(maker.credentialId) : `user:${user.id}`,
  };
}

const madeBy = (credentialId: string) => `credential:${credentialId}`;

/** What a key has made ends no later than the key. */
export function endNoLater(expiresAt: number | undefined, maker: Maker | undefined) {
  const limit = maker?.kind === "api_key" ? (maker.expiresAt ?? null) : null;
  if (limit === null) return expiresAt;
  return Math.min(expiresAt ?? limit, limit);
}

/** Takes a credential away, and what was made with it if it is a key: else a thief would leave spares. */
export async function revokeTree(tx: Tx, id: string): Promise<void> {
  await revokeCredential(tx, id);
  for (const made of await listMadeBy(tx, madeBy(id))) await revokeTree(tx, made.id);
}

export function isGood({ revoked_at, expires_at }: CredentialRow, now: number): boolean {
  return revoked_at === null && (expires_at === null || expires_at > now);
}
