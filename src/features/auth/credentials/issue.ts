/** Issues credentials: the store keeps a secret's hash, the caller gets the secret. */
import type { Ids } from "#base/ids.ts";
import { Refusal } from "#base/refusal.ts";
import type { Store, Tx } from "#base/store/index.ts";
import type { CredentialKind, CredentialRow, ReportChange, UserRow } from "#engine/index.ts";
import {
  findCredential,
  insertCredential,
  listMadeBy,
  lockCredential,
  revokeCredential,
} from "../queries.ts";
import { hashSecret } from "./secrets.ts";

/** Dependencies of issuing and revoking. */
export interface AuthContext {
  store: Store;
  ids: Ids;
  /** Records every change of access in its own transaction. */
  tell: ReportChange;
}

type Holder = Pick<
  CredentialRow,
  "org_id" | "name" | "principal_kind" | "principal_id" | "scopes" | "created_by"
>;

export interface Issue {
  kind: CredentialKind;
  secret: string;
  holder: Holder;
  expiresAt?: number | undefined;
  /** Hash of the page that a browser's session is bound to. */
  pageHash?: string | null;
}

export async function issueCredential(
  tx: Tx,
  ids: Ids,
  { kind, secret, holder, expiresAt, pageHash }: Issue,
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
    page_hash: pageHash ?? null,
  });
  return id;
}

/** The credential of the caller. */
export interface CallerCredential {
  credentialId: string;
  kind: string;
}

/** Origin of a new credential: its maker, and its latest end. */
export interface CredentialOrigin {
  createdBy: string;
  /** Null: no limit. */
  endsAt: number | null;
}

const MADE_BY = "credential:";
const madeBy = (credentialId: string) => MADE_BY + credentialId;
/** Prefix for a session that another browser opened: as good as that one, and no newer proof of identity. */
const BROWSER = "browser:";

/** Returns the API key that a credential is, or derives from, through any number of browsers and links. */
function keyOf({ id, kind, created_by }: CredentialRow): string | undefined {
  if (kind === "api_key") return id;
  return created_by.startsWith(MADE_BY) ? created_by.slice(MADE_BY.length) : undefined;
}

/** True for an API key, and for a credential that derives from one. */
export const isOfKey = (credential: CredentialRow) => keyOf(credential) !== undefined;

/** Origin of a credential for a person who has proved their identity. */
export const ownOrigin = (userId: string): CredentialOrigin => ({
  createdBy: `user:${userId}`,
  endsAt: null,
});

/**
 * Returns the origin for a credential made with another one. It depends on the API key at its root and ends
 * no later, also when a browser opened with that key makes it: otherwise a key that was lent out would leave
 * a spare. The key is locked meanwhile, so that it cannot be revoked before the new credential can be revoked
 * with it.
 */
export async function originOf(
  tx: Tx,
  credential: CredentialRow,
  userId: string,
): Promise<CredentialOrigin> {
  const keyId = keyOf(credential);
  if (keyId === undefined) return ownOrigin(userId);
  const key = await lockCredential(tx, keyId);
  if (!key || !isGood(key, tx.now)) throw gone();
  return { createdBy: madeBy(key.id), endsAt: key.expires_at };
}

/** Returns the origin for the caller's own credential; refuses if that was revoked meanwhile. */
export async function originFromCaller(
  tx: Tx,
  maker: CallerCredential,
  userId: string,
): Promise<CredentialOrigin> {
  const credential = await findCredential(tx, maker.credentialId);
  if (!credential || !isGood(credential, tx.now)) throw gone();
  return originOf(tx, credential, userId);
}

/** Marks a link made at a browser, and the browser that it opens. */
export function throughBrowser(origin: CredentialOrigin, credentialId: string): CredentialOrigin {
  return origin.createdBy.startsWith(MADE_BY)
    ? origin
    : { ...origin, createdBy: BROWSER + credentialId };
}
export const isThroughBrowser = (createdBy: string) => createdBy.startsWith(BROWSER);

export function heldBy(user: UserRow, name: string, scopes = "*", createdBy?: string): Holder {
  return {
    org_id: user.org_id,
    name,
    principal_kind: "user",
    principal_id: user.id,
    scopes,
    created_by: createdBy ?? `user:${user.id}`,
  };
}

export function endNoLater(expiresAt: number, origin: CredentialOrigin): number;
export function endNoLater(
  expiresAt: number | undefined,
  origin: CredentialOrigin,
): number | undefined;
export function endNoLater(
  expiresAt: number | undefined,
  { endsAt }: CredentialOrigin,
): number | undefined {
  return endsAt === null ? expiresAt : Math.min(expiresAt ?? endsAt, endsAt);
}

/**
 * Revokes a credential and, for an API key, everything made with it: otherwise a thief would leave spares.
 */
export async function revokeTree(tx: Tx, id: string): Promise<void> {
  await revokeCredential(tx, id);
  for (const made of await listMadeBy(tx, madeBy(id))) await revokeTree(tx, made.id);
}

function gone(): Refusal {
  return new Refusal(
    "unauthenticated",
    "unauthenticated",
    "Your access was revoked in the meantime. Sign in again.",
  );
}

export function isGood({ revoked_at, expires_at }: CredentialRow, now: number): boolean {
  return revoked_at === null && (expires_at === null || expires_at > now);
}
