/** Making credentials: a secret's hash goes into the store, the secret to whoever asked. */
import type { Ids } from "#base/ids.ts";
import { Refusal } from "#base/refusal.ts";
import type { Store, Tx } from "#base/store/index.ts";
import type { CredentialKind, CredentialRow, Tell, UserRow } from "#engine/index.ts";
import {
  findCredential,
  insertCredential,
  listMadeBy,
  lockCredential,
  revokeCredential,
} from "../queries.ts";
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
  expiresAt?: number | undefined;
  /** For a browser's session. */
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

/** The credential that somebody asked with. */
export interface Maker {
  credentialId: string;
  kind: string;
}

/** What is made with a credential: by whom, and until when at most. */
export interface Line {
  createdBy: string;
  /** Null: as long as one likes. */
  endsAt: number | null;
}

const MADE_BY = "credential:";
const madeBy = (credentialId: string) => MADE_BY + credentialId;
/** Opened for a browser by another one: as good as that, and no newer proof of who sits there. */
const BROWSER = "browser:";

/** The key that a credential is, or was made with, however many browsers and links lie between. */
function keyOf({ id, kind, created_by }: CredentialRow): string | undefined {
  if (kind === "api_key") return id;
  return created_by.startsWith(MADE_BY) ? created_by.slice(MADE_BY.length) : undefined;
}

/** Whether it is a key, or somebody got it by one. */
export const isOfKey = (credential: CredentialRow) => keyOf(credential) !== undefined;

/** Of who has shown who they are. */
export const ownLine = (userId: string): Line => ({ createdBy: `user:${userId}`, endsAt: null });

/**
 * What a key has made hangs on the key and ends no later, also when a browser that the key has opened
 * makes it: else a key that was lent out would leave a spare. The key is held meanwhile, so that it
 * cannot be revoked before what it makes is there to be revoked too.
 */
export async function lineOf(tx: Tx, credential: CredentialRow, userId: string): Promise<Line> {
  const keyId = keyOf(credential);
  if (keyId === undefined) return ownLine(userId);
  const key = await lockCredential(tx, keyId);
  if (!key || !isGood(key, tx.now)) throw gone();
  return { createdBy: madeBy(key.id), endsAt: key.expires_at };
}

/** The same for who asked; whose credential was taken away meanwhile makes nothing with it. */
export async function lineOfMaker(tx: Tx, maker: Maker, userId: string): Promise<Line> {
  const credential = await findCredential(tx, maker.credentialId);
  if (!credential || !isGood(credential, tx.now)) throw gone();
  return lineOf(tx, credential, userId);
}

/** For a link that is made at a browser, and for the browser that it opens. */
export function throughBrowser(line: Line, credentialId: string): Line {
  return line.createdBy.startsWith(MADE_BY) ? line : { ...line, createdBy: BROWSER + credentialId };
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

export function endNoLater(expiresAt: number, line: Line): number;
export function endNoLater(expiresAt: number | undefined, line: Line): number | undefined;
export function endNoLater(expiresAt: number | undefined, { endsAt }: Line): number | undefined {
  return endsAt === null ? expiresAt : Math.min(expiresAt ?? endsAt, endsAt);
}

/** Takes a credential away, and what was made with it if it is a key: else a thief would leave spares. */
export async function revokeTree(tx: Tx, id: string): Promise<void> {
  await revokeCredential(tx, id);
  for (const made of await listMadeBy(tx, madeBy(id))) await revokeTree(tx, made.id);
}

function gone(): Refusal {
  return new Refusal(
    "unauthenticated",
    "unauthenticated",
    "What you came with was taken away meanwhile. Sign in again.",
  );
}

export function isGood({ revoked_at, expires_at }: CredentialRow, now: number): boolean {
  return revoked_at === null && (expires_at === null || expires_at > now);
}
