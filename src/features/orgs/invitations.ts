/**
 * Invitations: an admin makes a link, and whoever has it joins with it, once. A link that names an address is
 * for that address. Whoever joins is a new person, also under the address of a former member: addresses
 * change hands, and anybody can claim one. Only a link for which an admin has named the person returns them
 * to their old account.
 */
import { notFound, Refusal } from "#base/refusal.ts";
import type { Store, Tx } from "#base/store/index.ts";
import { principalKey, type Work } from "#engine/index.ts";
import {
  type AdmitMember,
  type AuthContext,
  browserOf,
  emailTaken,
  findUser,
  findUserByEmail,
  hashPassword,
  hashSecret,
  hasWayIn,
  insertUser,
  isActiveMember,
  lockOrg,
  lockUser,
  mintSecret,
  type OpenedBrowser,
  openBrowser,
  type PersonRow,
  refuseWeakPassword,
  savePassword,
  saveUser,
  type UserPrincipal,
  userView,
  type Visit,
} from "#features/auth/index.ts";
import { dropAllowRules } from "#features/policy/index.ts";
import type { Invitation } from "./contract.ts";
import { findPurge } from "./purge-queries.ts";
import {
  findInvitation,
  findInvitationByHash,
  insertInvitation,
  listOpenInvitations,
  revokeInvitation,
  takeInvitation,
} from "./queries.ts";
import type { InvitationRow } from "./schema.ts";

const TTL_MS = 7 * 24 * 60 * 60_000;
const MAX_OPEN = 200;

export interface NewInvitation {
  email?: string | undefined;
  role: "admin" | "member";
  /** Former member who is to return. */
  userId?: string | undefined;
}

/** Ids minted before the command, which may run again. */
export interface InvitationIds {
  id: string;
  token: string;
}

export async function invite(
  work: Work,
  by: UserPrincipal,
  { id, token }: InvitationIds,
  { email, role, userId }: NewInvitation,
): Promise<Invitation> {
  const { tx } = work;
  await lockOrg(tx, by.orgId);
  const open = await listOpenInvitations(tx, by.orgId, tx.now);
  if (open.length >= MAX_OPEN) throw tooMany();
  const address =
    userId === undefined ? (email ?? null) : await addressOfLeaver(tx, by.orgId, userId, email);
  const known = address === null ? undefined : await findUserByEmail(tx, address);
  if (known && isActiveMember(known) && known.id !== userId) throw claimedBy(known);
  const row: InvitationRow = {
    id,
    org_id: by.orgId,
    hash: hashSecret(token),
    email: address,
    user_id: userId ?? null,
    role,
    created_by: `user:${by.userId}`,
    created_at: tx.now,
    expires_at: tx.now + TTL_MS,
    accepted_at: null,
    accepted_by: null,
    revoked_at: null,
  };
  await insertInvitation(tx, row);
  await work.reportChange(changeOf(row, principalKey(by), "made"));
  return invitationView(row);
}

/** Returning restores all data of the account, so the link must name an address. */
async function addressOfLeaver(
  tx: Tx,
  orgId: string,
  userId: string,
  email: string | undefined,
): Promise<string> {
  const person = await findUser(tx, userId);
  if (!(await mayReturn(tx, orgId, person))) throw notFound("removed member");
  const address = email ?? person?.email;
  if (address) return address;
  throw new Refusal(
    "invalid",
    "email_missing",
    "Their e-mail address is not known. Name the address for the invitation.",
  );
}

/**
 * True for a former member whose data is not being purged, and for a member without any way in, as after a
 * restore that could not tell what was revoked since.
 */
async function mayReturn(tx: Tx, orgId: string, person: PersonRow | undefined): Promise<boolean> {
  if (!person || person.org_id !== orgId) return false;
  if (isActiveMember(person) && (await hasWayIn(tx, person.id, tx.now))) return false;
  return (await findPurge(tx, person.id)) === undefined;
}

function changeOf({ org_id: orgId, id }: InvitationRow, by: string, action: string) {
  return { orgId, by, area: "invitation", action, subjectId: id };
}

export async function listInvitations(
  store: Store,
  orgId: string,
  now: number,
): Promise<Invitation[]> {
  const rows = await store.read((reader) => listOpenInvitations(reader, orgId, now));
  return rows.map(invitationView);
}

export async function withdrawInvitation(
  work: Work,
  by: UserPrincipal,
  id: string,
): Promise<Invitation> {
  const row = await findInvitation(work.tx, id);
  if (row?.org_id !== by.orgId || !(await revokeInvitation(work.tx, id)))
    throw notFound("invitation");
  await work.reportChange(changeOf(row, principalKey(by), "withdrawn"));
  return invitationView(row);
}

export interface Joining {
  name: string;
  email: string;
  password: string;
  timezone?: string | undefined;
  locale?: string | undefined;
}

export async function acceptInvitation(
  context: AuthContext,
  token: string,
  { password, ...who }: Joining,
  visit: Visit,
  at: number,
): Promise<{ user: ReturnType<typeof userView>; opened: OpenedBrowser }> {
  const { store, ids, tell } = context;
  const { email } = who;
  const found = await store.read((reader) => findInvitationByHash(reader, hashSecret(token)));
  // Checked before the costly hashing, so that only invited people cause it.
  if (!found || !isOpen(found, at)) throw badInvitation();
  if (found.email !== null && found.email !== email) throw otherEmail();
  refuseWeakPassword(password, email);
  const hash = await hashPassword(password);
  const secret = mintSecret("web");
  const newId = ids.mint("usr");
  return store.transaction(async (tx) => {
    const now = await lockOpen(tx, found);
    const user = await redeemInvitation(tx, tell, now, newId, who);
    await savePassword(tx, { user_id: user.id, org_id: user.org_id, hash, updated_at: tx.now });
    const { pageHash } = browserOf(visit);
    const opened = await openBrowser(tx, context, { user, secret, pageHash });
    return { user: userView(user), opened };
  });
}

/** Admits a person whom a sign-in service has identified, instead of by a password. */
export function admitIdentified({ tell }: Pick<AuthContext, "tell">): AdmitMember {
  return async (tx, { invitationHash, newId, name, emails }) => {
    const found = await findInvitationByHash(tx, invitationHash);
    const { email: invited } = await lockOpen(tx, found);
    // Only a verified address counts: otherwise whoever heard of an invitation could take it.
    if (invited !== null && !emails.includes(invited)) throw otherEmail();
    const email = invited ?? emails[0] ?? null;
    return redeemInvitation(tx, tell, found as InvitationRow, newId, { name, email });
  };
}

/** Locks the organisation and reads the invitation again, because it may have been used meanwhile. */
async function lockOpen(tx: Tx, found: InvitationRow | undefined): Promise<InvitationRow> {
  if (found) await lockOrg(tx, found.org_id);
  const now = found && (await findInvitation(tx, found.id));
  if (!now || !isOpen(now, tx.now)) throw badInvitation();
  return now;
}

interface NewMember {
  name: string;
  email: string | null;
  timezone?: string | undefined;
  locale?: string | undefined;
}

/** Uses the invitation up and makes its bearer a member. */
async function redeemInvitation(
  tx: Tx,
  tell: AuthContext["tell"],
  invitation: InvitationRow,
  newId: string,
  who: NewMember,
): Promise<PersonRow> {
  const user = await personFor(tx, invitation, newId, who);
  if (!(await takeInvitation(tx, invitation.id, user.id))) throw badInvitation();
  const by = `user:${user.id}`;
  await tell(tx, changeOf(invitation, by, "accepted"));
  const change = { orgId: user.org_id, by, area: "member", subjectId: user.id };
  await tell(tx, { ...change, action: user.id === newId ? "added" : "returned" });
  return user;
}

async function personFor(
  tx: Tx,
  invitation: InvitationRow,
  newId: string,
  { name, email, timezone = "UTC", locale = "en" }: NewMember,
): Promise<PersonRow> {
  const { role, org_id, user_id } = invitation;
  await freeAddress(tx, email, user_id);
  if (user_id !== null) return reactivateMember(tx, invitation, user_id, { name, email });
  const user = { id: newId, org_id, name, email, role, created_at: tx.now };
  const row = { ...user, timezone, locale };
  await insertUser(tx, row);
  return { ...row, removed_at: null };
}

/** Frees the address of a former member; refuses that of a present one. */
async function freeAddress(tx: Tx, email: string | null, userId: string | null): Promise<void> {
  const known = email === null ? undefined : await findUserByEmail(tx, email);
  if (!known || known.id === userId) return;
  if (isActiveMember(known)) throw emailTaken();
  await saveUser(tx, { ...known, email: null });
}

/** Reactivates a former member. Standing approvals of their earlier membership are not restored. */
async function reactivateMember(
  tx: Tx,
  { org_id: orgId, role }: InvitationRow,
  userId: string,
  { name, email }: { name: string; email: string | null },
): Promise<PersonRow> {
  const person = await lockUser(tx, userId);
  if (!person || !(await mayReturn(tx, orgId, person))) throw badInvitation();
  const back = { ...person, name, email: email ?? person.email, role, removed_at: null };
  await saveUser(tx, back);
  await dropAllowRules(tx, { orgId, userId });
  return back;
}

function isOpen({ accepted_at, revoked_at, expires_at }: InvitationRow, now: number): boolean {
  return accepted_at === null && revoked_at === null && expires_at > now;
}

function invitationView(row: InvitationRow): Invitation {
  return {
    id: row.id,
    email: row.email,
    role: row.role,
    userId: row.user_id,
    createdAt: new Date(row.created_at).toISOString(),
    expiresAt: new Date(row.expires_at).toISOString(),
  };
}

/** Gives the same refusal for unknown, used, withdrawn and expired invitations. */
function badInvitation(): Refusal {
  return new Refusal(
    "not_found",
    "invitation_not_valid",
    "This invitation is not valid or has expired. Ask an admin for a new one.",
  );
}

/** Names the person to admins only: anybody may claim an address, and then only an admin can settle it. */
function claimedBy({ id, name }: PersonRow): Refusal {
  return new Refusal(
    "conflict",
    "email_taken",
    `${name} (${id}) has this e-mail address in their account. If it is theirs, they are already a member. If it is not, have them set their own or remove them, then invite again.`,
  );
}

/** Refuses without naming the invited address. */
function otherEmail(): Refusal {
  return new Refusal(
    "invalid",
    "email_not_invited",
    "This invitation is for another e-mail address. Use the address you were invited with.",
  );
}

function tooMany(): Refusal {
  return new Refusal(
    "conflict",
    "invitation_limit_reached",
    `There can be at most ${MAX_OPEN} pending invitations. Withdraw some that nobody will use.`,
  );
}
