/** One-time links, and the cookie that a browser gets for one, or for a key. */
import type { Ids } from "#base/ids.ts";
import { notFound, Refusal } from "#base/refusal.ts";
import type { Store, Tx } from "#base/store/index.ts";
import type { CredentialKind, CredentialRow } from "#engine/index.ts";
import { heldBy, isGood, issueCredential } from "./issue.ts";
import { findCredentialByHash, findUser, revokeCredential } from "./queries.ts";
import { hashSecret, mintSecret } from "./secrets.ts";

const LINK_TTL_MS = 15 * 60_000;
const COOKIE_TTL_MS = 30 * 24 * 60 * 60_000;

export type Proof = { token: string } | { key: string };

export function createLink(
  store: Store,
  ids: Ids,
  userId: string,
  scopes: readonly string[],
): Promise<{ token: string; expiresAt: number }> {
  const secret = mintSecret("link");
  return store.transaction(async (tx) => {
    const user = await findUser(tx, userId);
    if (!user) throw notFound("user");
    const expiresAt = tx.now + LINK_TTL_MS;
    const holder = heldBy(user, "sign-in link", scopes.join(" "));
    await issueCredential(tx, ids, { kind: "sign_in_link", secret, holder, expiresAt });
    return { token: secret, expiresAt };
  });
}

export function signIn(
  store: Store,
  ids: Ids,
  proof: Proof,
): Promise<{ cookie: string; expiresAt: number }> {
  const secret = mintSecret("web");
  return store.transaction(async (tx) => {
    const credential = await provenBy(tx, proof);
    const user = await findUser(tx, credential.principal_id);
    if (!user) throw badProof();
    const expiresAt = tx.now + COOKIE_TTL_MS;
    const holder = heldBy(user, "browser", credential.scopes);
    await issueCredential(tx, ids, { kind: "cookie", secret, holder, expiresAt });
    return { cookie: secret, expiresAt };
  });
}

async function provenBy(tx: Tx, proof: Proof): Promise<CredentialRow> {
  const isLink = "token" in proof;
  const credential = await findCredentialByHash(tx, hashSecret(isLink ? proof.token : proof.key));
  const wanted: readonly CredentialKind[] = isLink ? ["sign_in_link"] : ["owner_key", "api_key"];
  if (!credential || !isGood(credential, tx.now) || !wanted.includes(credential.kind)) {
    throw badProof();
  }
  // Used up by exactly one of two that come at once.
  if (isLink && !(await revokeCredential(tx, credential.id))) throw badProof();
  return credential;
}

function badProof(): Refusal {
  return new Refusal(
    "unauthenticated",
    "sign_in_failed",
    "This link or key is not valid (any more). Get a new link with: npx muster login-link",
  );
}
