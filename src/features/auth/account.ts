/** A person's own account: profile, password, signing out everywhere. */
import { notFound, Refusal } from "#base/refusal.ts";
import type { Store, Tx } from "#base/store/index.ts";
import type { SettingChange } from "#engine/index.ts";
import type { Me, User } from "./contract.ts";
import {
  type AuthContext,
  type CallerCredential,
  isOfKey,
  isThroughBrowser,
} from "./credentials/issue.ts";
import { mintSecret } from "./credentials/secrets.ts";
import type { UserPrincipal } from "./credentials/user-principal.ts";
import {
  findCredential,
  findOrg,
  findPassword,
  findUser,
  findUserByEmail,
  isActiveMember,
  lockOrg,
  lockUser,
  revokeKinds,
  savePassword,
  saveUser,
} from "./queries.ts";
import type { PersonRow } from "./schema.ts";
import { hashPassword, isPassword, refuseWeakPassword } from "./sign-in/passwords.ts";
import {
  badPassword,
  browserOf,
  type OpenedBrowser,
  openBrowser,
  type PasswordContext,
  recordFailure,
  type Visit,
} from "./sign-in/sign-in.ts";

export function describeMe(store: Store, principal: UserPrincipal): Promise<Me> {
  return store.read(async (reader) => {
    const user = await findUser(reader, principal.userId);
    const org = await findOrg(reader, principal.orgId);
    if (!user || !org) throw notFound("user");
    return {
      user: userView(user),
      org: { id: org.id, name: org.name, slug: org.slug },
      scopes: [...principal.scopes],
    };
  });
}

export function userView(user: Omit<PersonRow, "removed_at">): User {
  const { id, name, email, role, timezone, locale } = user;
  return { id, name, email, role, timezone, locale };
}

export interface ProfileChange {
  name?: string | undefined;
  timezone?: string | undefined;
  locale?: string | undefined;
}

export function changeProfile(
  { store, tell }: AuthContext,
  userId: string,
  { name, timezone, locale }: ProfileChange,
): Promise<User> {
  return store.transaction(async (tx) => {
    const user = await requirePerson(tx, userId);
    const changed = {
      ...user,
      name: name ?? user.name,
      timezone: timezone ?? user.timezone,
      locale: locale ?? user.locale,
    };
    await saveUser(tx, changed);
    await tell(tx, changeOf(user, "member", "profile_changed"));
    return userView(changed);
  });
}

export interface PasswordChange {
  currentPassword?: string | undefined;
  newPassword: string;
  /** E-mail address for an account that has none yet. */
  email?: string | undefined;
}

/** Signed-in people have a counter of their own, so strangers cannot use up their attempts. */
const SIGNED_IN = "signed in";
/** Time after signing in during which a person without a password counts as present. */
const FRESH_MS = 10 * 60_000;

/**
 * Confirms the person before they get another way in. The request comes from a browser or the owner's key,
 * has all scopes, and gives the present password. A person without a password must have signed in just now,
 * because a stolen cookie must not become a permanent way in. The owner's key is enough: whoever can read
 * that file can read the database too. Returns the password's hash.
 */
export async function confirmPerson(
  context: PasswordContext,
  principal: UserPrincipal,
  maker: CallerCredential,
  { address }: Visit,
  currentPassword: string | undefined,
): Promise<string | undefined> {
  refuseKeys(principal, maker);
  const { userId } = principal;
  const known = await context.store.read((reader) => findPassword(reader, userId));
  if (maker.kind === "owner_key") return known?.hash;
  if (!known) await requireFresh(context, maker);
  else {
    const attempt = context.lockout.attempt({ account: userId, address, knownBrowser: SIGNED_IN });
    if (!(await isPassword(currentPassword ?? "", known.hash))) {
      await recordFailure(context, userId, attempt);
      throw badPassword();
    }
    attempt.succeeded();
  }
  return known?.hash;
}

/**
 * Requires a recent sign-in. A browser opened from another browser is as old as that one, which may be a
 * thief's.
 */
async function requireFresh(
  { store, now }: PasswordContext,
  maker: CallerCredential,
): Promise<void> {
  const row = await store.read((reader) => findCredential(reader, maker.credentialId));
  const isProven = row && !isOfKey(row) && !isThroughBrowser(row.created_by);
  if (isProven && now() - row.created_at < FRESH_MS) return;
  throw new Refusal(
    "forbidden",
    "sign_in_again",
    "You have no password yet. Sign in again, then do this within ten minutes.",
  );
}

/** Sets a password and ends every other browser. */
export async function changePassword(
  context: PasswordContext,
  principal: UserPrincipal,
  maker: CallerCredential,
  visit: Visit,
  change: PasswordChange,
): Promise<{ user: User; opened: OpenedBrowser | undefined }> {
  const { store, tell } = context;
  const { userId } = principal;
  const before = await confirmPerson(context, principal, maker, visit, change.currentPassword);
  refuseWeakPassword(change.newPassword, change.email ?? null);
  const hash = await hashPassword(change.newPassword);
  const secret = mintSecret("web");
  return store.transaction(async (tx) => {
    await lockOrg(tx, principal.orgId);
    const user = await requirePerson(tx, userId);
    const now = await findPassword(tx, userId);
    if (now?.hash !== before) throw badPassword();
    const email = await emailOf(tx, user, change.email);
    refuseWeakPassword(change.newPassword, email);
    await saveUser(tx, { ...user, email });
    await savePassword(tx, { user_id: userId, org_id: user.org_id, hash, updated_at: tx.now });
    await tell(tx, changeOf(user, "password", "set"));
    await revokeKinds(tx, userId, ["cookie", "sign_in_link"]);
    const isBrowser = maker.kind === "cookie";
    const opened = isBrowser
      ? await openBrowser(tx, context, { user, secret, ...browserOf(visit) })
      : undefined;
    return { user: userView({ ...user, email }), opened };
  });
}

/** Ends every browser of a person; their keys stay, and can be revoked one by one. */
export function signOutEverywhere({ store, tell }: AuthContext, userId: string): Promise<void> {
  return store.transaction(async (tx) => {
    const user = await requirePerson(tx, userId);
    await revokeKinds(tx, userId, ["cookie", "sign_in_link"]);
    await tell(tx, changeOf(user, "browser", "closed_everywhere"));
  });
}

/** Describes a change that a person made to their own account. */
function changeOf({ id, org_id: orgId }: PersonRow, area: string, action: string): SettingChange {
  return { orgId, by: `user:${id}`, area, action, subjectId: id };
}

/**
 * Refuses API keys, and browsers that were opened with one. A key that was lent out must not become a
 * permanent way in: such a browser has the scopes of its key, and signing in would give it all.
 */
export function refuseKeys({ scopes }: UserPrincipal, { kind }: CallerCredential): void {
  if ((kind === "cookie" || kind === "owner_key") && scopes.includes("*")) return;
  throw new Refusal(
    "forbidden",
    "sign_in_needed",
    "An API key cannot change how you sign in. Sign in first.",
  );
}

async function requirePerson(tx: Tx, userId: string): Promise<PersonRow> {
  const user = await lockUser(tx, userId);
  if (!user || !isActiveMember(user)) throw notFound("user");
  return user;
}

async function emailOf(tx: Tx, user: PersonRow, wanted: string | undefined): Promise<string> {
  const email = wanted ?? user.email;
  if (email === null)
    throw new Refusal(
      "invalid",
      "email_missing",
      "Name the e-mail address you sign in with: send it as `email`, or in the terminal with --email you@example.com.",
    );
  const other = await findUserByEmail(tx, email);
  if (other && other.id !== user.id) throw emailTaken();
  return email;
}

export function emailTaken(): Refusal {
  return new Refusal(
    "conflict",
    "email_taken",
    "Somebody already has this e-mail address. Use another one.",
  );
}
