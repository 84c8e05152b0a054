/** Making credentials: a secret's hash goes into the store, the secret to whoever asked. */
import type { Ids } from "#base/ids.ts";
import type { Tx } from "#base/store/index.ts";
import type { CredentialKind, CredentialRow, UserRow } from "#engine/index.ts";
import { insertCredential } from "./queries.ts";
import { hashSecret } from "./secrets.ts";

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

export function heldBy(user: UserRow, name: string, scopes = "*"): Holder {
  return {
    org_id: user.org_id,
    name,
    principal_kind: "user",
    principal_id: user.id,
    scopes,
    created_by: `user:${user.id}`,
  };
}

export function isGood({ revoked_at, expires_at }: CredentialRow, now: number): boolean {
  return revoked_at === null && (expires_at === null || expires_at > now);
}
