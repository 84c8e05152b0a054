/** Members: listing, roles and leaving. The organisation always has an admin. */
import { notFound, Refusal } from "#base/refusal.ts";
import type { Store, Tx } from "#base/store/index.ts";
import { principalKey, type SettingChange, type Work } from "#engine/index.ts";
import {
  deleteAccountsOf,
  deletePassword,
  findUser,
  isActiveMember,
  listCredentials,
  listMembers,
  listRemoved,
  lockOrg,
  lockUser,
  type PersonRow,
  revokeKinds,
  revokeTokensForEverybody,
  saveUser,
  type UserPrincipal,
} from "#features/auth/index.ts";
import type { Member } from "./contract.ts";
import { listPurges } from "./purge-queries.ts";
import { revokeInvitationsOf } from "./queries.ts";
import type { PurgeRow } from "./schema.ts";

/** Lists members, with former ones when an admin asks for them. */
export function listMemberViews(
  store: Store,
  by: UserPrincipal,
  withRemoved: boolean,
): Promise<Member[]> {
  return store.read(async (reader) => {
    const here = await listMembers(reader, by.orgId);
    if (!withRemoved) return here.map((row) => memberView(row, by));
    const removed = (await listRemoved(reader)).filter(({ org_id }) => org_id === by.orgId);
    const purges = new Map((await listPurges(reader, by.orgId)).map((row) => [row.user_id, row]));
    return [...here, ...removed].map((row) => memberView(row, by, purges.get(row.id)));
  });
}

/** API view of a member, without the address for callers who may not see it. */
export function memberView(row: PersonRow, by: UserPrincipal, purge?: PurgeRow): Member {
  const seesEmail = by.role === "admin" || row.id === by.userId;
  return {
    userId: row.id,
    name: row.name,
    role: row.role,
    ...(seesEmail ? { email: row.email } : {}),
    joinedAt: new Date(row.created_at).toISOString(),
    state: stateOf(row, purge),
  };
}

function stateOf(row: PersonRow, purge: PurgeRow | undefined): Member["state"] {
  if (isActiveMember(row)) return "here";
  if (!purge) return "removed";
  return purge.done_at === null ? "purging" : "purged";
}

/** Describes a change of a member for the audit trail. */
export function memberChange(by: UserPrincipal, userId: string, action: string): SettingChange {
  const { orgId } = by;
  return { orgId, by: principalKey(by), area: "member", action, subjectId: userId };
}

/**
 * Changes a role. Browsers have to sign in again, so that every open session has the new role; keys stay,
 * with the rights of the new role. Only admins may run machines for everybody: those of a demoted admin are
 * revoked, and sessions whose workspace is on one wait as for any offline machine, until it is removed.
 * Returns the tokens whose connections the caller ends.
 */
export async function changeRole(
  work: Work,
  by: UserPrincipal,
  userId: string,
  role: "admin" | "member",
): Promise<{ member: Member; tokens: string[] }> {
  const { tx } = work;
  const member = await lockMember(tx, by, userId);
  if (member.role === role) return { member: memberView(member, by), tokens: [] };
  if (role === "member") await refuseLastAdmin(tx, member);
  const changed = { ...member, role };
  await saveUser(tx, changed);
  await revokeKinds(tx, userId, ["cookie", "sign_in_link"]);
  if (role === "member") await revokeInvitationsOf(tx, `user:${userId}`);
  await work.reportChange(
    memberChange(by, userId, role === "admin" ? "made_admin" : "made_member"),
  );
  const tokens = role === "member" ? await revokeSharedRunners(work, by, userId) : [];
  return { member: memberView(changed, by), tokens };
}

function revokeSharedRunners(work: Work, by: UserPrincipal, userId: string): Promise<string[]> {
  const { orgId } = by;
  const record = (change: SettingChange) => work.reportChange(change);
  return revokeTokensForEverybody(work.tx, record, { orgId, userId }, principalKey(by));
}

/**
 * Removes a member. Their data stays, but none of their credentials works any more, nor does a machine that
 * they let in, for themselves or for everybody. Returns the tokens whose connections the caller ends.
 */
export async function removeMember(
  work: Work,
  by: UserPrincipal,
  userId: string,
): Promise<{ removed: PersonRow; tokens: string[] }> {
  const { tx } = work;
  const member = await lockMember(tx, by, userId);
  await refuseLastAdmin(tx, member);
  const removed = { ...member, removed_at: tx.now };
  await saveUser(tx, removed);
  await deletePassword(tx, userId);
  await deleteAccountsOf(tx, userId);
  const own = (await listCredentials(tx, userId, "runner")).map(({ id }) => id);
  await revokeKinds(tx, userId, ["cookie", "sign_in_link", "api_key", "owner_key", "runner"]);
  await revokeInvitationsOf(tx, `user:${userId}`);
  await work.reportChange(memberChange(by, userId, "removed"));
  return { removed, tokens: [...own, ...(await revokeSharedRunners(work, by, userId))] };
}

/** Serialises changes, and refuses a caller who lost the right while waiting. */
async function lockMember(tx: Tx, by: UserPrincipal, userId: string): Promise<PersonRow> {
  await lockOrg(tx, by.orgId);
  const member = await lockUser(tx, userId);
  if (member?.org_id !== by.orgId || !isActiveMember(member)) throw notFound("member");
  if (by.userId !== userId) await requireStillAdmin(tx, by);
  return member;
}

export async function requireStillAdmin(tx: Tx, by: UserPrincipal): Promise<void> {
  const self = await findUser(tx, by.userId);
  if (self && isActiveMember(self) && self.role === "admin") return;
  throw new Refusal("forbidden", "forbidden", "You are no longer an admin.");
}

async function refuseLastAdmin(tx: Tx, member: PersonRow): Promise<void> {
  if (member.role !== "admin") return;
  const admins = (await listMembers(tx, member.org_id)).filter(({ role }) => role === "admin");
  if (admins.length > 1) return;
  throw new Refusal(
    "conflict",
    "last_admin",
    "An organisation needs an admin. Make somebody else one first.",
  );
}
