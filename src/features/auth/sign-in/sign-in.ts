/**
 * One-time links, and the cookie that a browser gets for a link, a key or a password. Every sign-in ends in
 * `openBrowser`, which always makes a new secret: one that a stranger could have planted in the browser
 * before is worthless afterwards.
 */
import { notFound, Refusal } from "#base/refusal.ts";
import type { Reader, Tx } from "#base/store/index.ts";
import type { CredentialKind, CredentialRow, UserRow } from "#engine/index.ts";
import {
  type AuthContext,
  type CallerCredential,
  type CredentialOrigin,
  endNoLater,
  heldBy,
  isGood,
  issueCredential,
  isThroughBrowser,
  originFromCaller,
  originOf,
  ownOrigin,
  throughBrowser,
} from "../credentials/issue.ts";
import { hashSecret, mintSecret } from "../credentials/secrets.ts";
import {
  findCredentialByHash,
  findOwner,
  findPassword,
  findUser,
  findUserByEmail,
  isActiveMember,
  lockUser,
  revokeCredential,
} from "../queries.ts";
import { knownBrowser, markBrowser } from "./known-browsers.ts";
import type { Attempt, Lockout } from "./lockout.ts";
import { pageHashOf } from "./page-binding.ts";
import { isPassword } from "./passwords.ts";

const LINK_TTL_MS = 15 * 60_000;
const COOKIE_TTL_MS = 30 * 24 * 60 * 60_000;

export type SecretProof = { token: string } | { key: string };
export interface PasswordProof {
  email: string;
  password: string;
}
export type Proof = SecretProof | PasswordProof;

/** The browser, or the program, that signs in. */
export interface Visit {
  address: string;
  /** Secret of the cookie that it came with, which the sign-in replaces. */
  replaces?: string | undefined;
  /** Secret in the storage of the page's origin; the new session is bound to it. */
  pageKey?: string | undefined;
  /** Mark of a browser that somebody has signed in with before. */
  browserMark?: string | undefined;
}

/** New secrets of a browser, for its cookies. */
export interface OpenedBrowser {
  cookie: string;
  expiresAt: number;
  /** Set for people who have a password. */
  browserMark: string | undefined;
}

export function createLink(
  { store, ids, tell }: AuthContext,
  userId: string,
  scopes: readonly string[],
  /** Undefined: the server itself makes the link, for the person who started it. */
  maker: CallerCredential | undefined,
): Promise<{ token: string; expiresAt: number }> {
  const secret = mintSecret("link");
  return store.transaction(async (tx) => {
    const user = await lockUser(tx, userId);
    if (!user || !isActiveMember(user)) throw notFound("user");
    const made = maker ? await originFromCaller(tx, maker, userId) : ownOrigin(userId);
    const origin = maker?.kind === "cookie" ? throughBrowser(made, maker.credentialId) : made;
    const expiresAt = endNoLater(tx.now + LINK_TTL_MS, origin);
    const holder = heldBy(user, "sign-in link", scopes.join(" "), origin.createdBy);
    const id = await issueCredential(tx, ids, { kind: "sign_in_link", secret, holder, expiresAt });
    const by = `user:${user.id}`;
    await tell(tx, { orgId: user.org_id, by, area: "sign_in_link", action: "made", subjectId: id });
    return { token: secret, expiresAt };
  });
}

/** Person of a sign-in link, shown for consent before its use. */
export interface InspectedLink {
  user: { id: string; name: string };
  /**
   * False for links that this server, or somebody with the owner's key, has made: nobody else can have sent
   * those, so a browser in which nobody is signed in may use them at once.
   */
  needsConsent: boolean;
}

export async function inspectLink(
  reader: Reader,
  token: string,
  now: number,
): Promise<InspectedLink> {
  const link = await findCredentialByHash(reader, hashSecret(token));
  const isLink = link?.kind === "sign_in_link" && isGood(link, now);
  const user = isLink ? await findUser(reader, link.principal_id) : undefined;
  if (!isLink || !user || !isActiveMember(user)) throw badSecret();
  const needsConsent = link.created_by !== ownOrigin(user.id).createdBy;
  return { user: { id: user.id, name: user.name }, needsConsent };
}

export function signInBySecret(
  context: AuthContext,
  proof: SecretProof,
  visit: Visit,
): Promise<OpenedBrowser> {
  const secret = mintSecret("web");
  return context.store.transaction(async (tx) => {
    const credential = await provenBy(tx, proof);
    const user = await lockUser(tx, credential.principal_id);
    if (!user || !isActiveMember(user)) throw badSecret();
    return openBrowser(tx, context, { user, secret, proof: credential, ...browserOf(visit) });
  });
}

export interface PasswordContext extends AuthContext {
  lockout: Lockout;
  now: () => number;
}

export async function signInByPassword(
  context: PasswordContext,
  { email, password }: PasswordProof,
  visit: Visit,
): Promise<OpenedBrowser> {
  const { store } = context;
  const { user, stored } = await store.read(async (reader) => {
    const found = await findUserByEmail(reader, email);
    return { user: found, stored: found && (await findPassword(reader, found.id)) };
  });
  const known = user && stored && knownBrowser(visit.browserMark, user.id, stored.hash);
  const { address } = visit;
  const attempt = context.lockout.attempt({ account: email, address, knownBrowser: known });
  const isRight = await isPassword(password, stored?.hash, known ? undefined : { address }).catch(
    (error: unknown) => {
      // The attempt was rejected before its password was checked.
      attempt.giveBack();
      throw error;
    },
  );
  if (!user || !isRight || !isActiveMember(user)) {
    await recordFailure(context, user?.id, attempt);
    throw badPassword();
  }
  const secret = mintSecret("web");
  const opened = await store.transaction(async (tx) => {
    const person = await lockUser(tx, user.id);
    // The password was changed or removed during the check, so the given one counts as wrong.
    const now = await findPassword(tx, user.id);
    if (!person || !isActiveMember(person) || now?.hash !== stored?.hash) throw badPassword();
    return openBrowser(tx, context, { user: person, secret, ...browserOf(visit) });
  });
  attempt.succeeded();
  return opened;
}

/**
 * Records a failed guess, for existing and unknown people alike, so that timing tells nobody who has an
 * account. The lockout bounds the number of records.
 */
export async function recordFailure(
  { store, tell }: AuthContext,
  userId: string | undefined,
  attempt: Attempt,
): Promise<void> {
  await store.transaction(async (tx) => {
    const orgId = (await findOwner(tx))?.org_id;
    if (orgId === undefined) return;
    const failed = { orgId, by: null, area: "sign_in", subjectId: userId ?? null };
    await tell(tx, { ...failed, action: "failed" });
    if (attempt.isLast) await tell(tx, { ...failed, action: "locked" });
  });
}

export interface BrowserOpening {
  user: UserRow;
  /** Minted before the transaction. */
  secret: string;
  /** Credential that was shown; without one, the session gets all rights of the person. */
  proof?: CredentialRow;
  /** Browser session that this one continues, when nobody has proved their identity anew. */
  goesOn?: string;
  /** Hash of the page that it is opened for. */
  pageHash: string | null;
  /** Hash of the cookie that the browser came with. */
  replacesHash?: string | undefined;
}

/** Reads the browser's fields from a visit, for `openBrowser`. */
export function browserOf({
  pageKey,
  replaces,
}: Visit): Pick<BrowserOpening, "pageHash" | "replacesHash"> {
  return {
    pageHash: pageHashOf(pageKey),
    replacesHash: replaces === undefined ? undefined : hashSecret(replaces),
  };
}

export async function openBrowser(
  tx: Tx,
  { ids, tell }: Pick<AuthContext, "ids" | "tell">,
  opening: BrowserOpening,
): Promise<OpenedBrowser> {
  const { user, secret, proof, pageHash, replacesHash } = opening;
  const origin = await originOfOpening(tx, opening);
  const holder = heldBy(user, "browser", proof?.scopes, origin.createdBy);
  const expiresAt = endNoLater(tx.now + COOKIE_TTL_MS, origin);
  const id = await issueCredential(tx, ids, {
    kind: "cookie",
    secret,
    holder,
    expiresAt,
    pageHash,
  });
  const by = `user:${user.id}`;
  await tell(tx, { orgId: user.org_id, by, area: "sign_in", action: "opened", subjectId: id });
  const old = replacesHash && (await findCredentialByHash(tx, replacesHash));
  // Only the page that has the session may end it: other programs on the machine also see the cookie.
  const isOwn = old && old.kind === "cookie" && old.page_hash === pageHash;
  if (isOwn) await revokeCredential(tx, old.id);
  const isFull = proof === undefined || proof.scopes === "*";
  const password = isFull ? await findPassword(tx, user.id) : undefined;
  const browserMark = password && markBrowser(user.id, password.hash, secret);
  return { cookie: secret, expiresAt, browserMark };
}

/** Origin of the new session. A link passes on the origin of the credential that made it. */
async function originOfOpening(
  tx: Tx,
  { user, proof, goesOn }: BrowserOpening,
): Promise<CredentialOrigin> {
  const own = ownOrigin(user.id);
  if (goesOn !== undefined) return throughBrowser(own, goesOn);
  if (!proof) return own;
  const origin = await originOf(tx, proof, user.id);
  return isThroughBrowser(proof.created_by) ? { ...origin, createdBy: proof.created_by } : origin;
}

async function provenBy(tx: Tx, proof: SecretProof): Promise<CredentialRow> {
  const isLink = "token" in proof;
  const credential = await findCredentialByHash(tx, hashSecret(isLink ? proof.token : proof.key));
  const wanted: readonly CredentialKind[] = isLink ? ["sign_in_link"] : ["owner_key", "api_key"];
  if (!credential || !isGood(credential, tx.now) || !wanted.includes(credential.kind)) {
    throw badSecret();
  }
  // Only one of two concurrent requests uses the link up.
  if (isLink && !(await revokeCredential(tx, credential.id))) throw badSecret();
  return credential;
}

function badSecret(): Refusal {
  return new Refusal(
    "unauthenticated",
    "sign_in_failed",
    "This link or key is not valid or has expired. Get a new link with: npx muster login-link",
  );
}

/** Refusal for every reason alike, so that nobody learns who has an account. */
export function badPassword(): Refusal {
  return new Refusal(
    "unauthenticated",
    "sign_in_failed",
    "E-mail and password do not match. Check both, or ask an admin for a new invitation.",
  );
}
