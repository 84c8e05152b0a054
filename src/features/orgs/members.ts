/** Members: who there is, what role they have, and how they leave. There is always an admin. */
import { notFound, Refusal } from "#base/refusal.ts";
import type { Store, Tx } from "#base/store/index.ts";
import { principalKey, type SettingChange, type Work } from "#engine/index.ts";
import {
  deleteAccountsOf,
  deletePassword,
  findUser,
  isHere,
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

/** With those who have left, when admins ask for them. */
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

/** Those who see this may not see everyone's address. */
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
  if (isHere(row)) return "here";
  if (!purge) return "removed";
  return purge.done_at === null ? "purging" : "purged";
}

/** What was done to a member, by whom. */
export function memberChange(by: UserPrincipal, userId: string, action: string): SettingChange {
  const { orgId } = by;
  return { orgId, by: principalKey(by), area: "member", action, subjectId: userId };
}

/**
 * Their browsers have to sign in again, so that what is open was opened in the new role; keys stay
 * and can do what the new role can. Machines for everybody are an admin's to let in: those of who is
 * no admin any more are let go, and the sessions whose workspace lies there wait for it as for any
 * machine that is away, until it is removed. Returns the tokens whose connections are to be ended.
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
  await work.tell(memberChange(by, userId, role === "admin" ? "made_admin" : "made_member"));
  const tokens = role === "member" ? await letMachinesGo(work, by, userId) : [];
  return { member: memberView(changed, by), tokens };
}

function letMachinesGo(work: Work, by: UserPrincipal, userId: string): Promise<string[]> {
  const { orgId } = by;
  const tell = (change: SettingChange) => work.tell(change);
  return revokeTokensForEverybody(work.tx, tell, { orgId, userId }, principalKey(by));
}

/**
 * What they have made stays; nothing of theirs opens a door any more, nor does a machine that they
 * let in, for themselves or for everybody. Returns the tokens whose connections are to be ended.
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
  await work.tell(memberChange(by, userId, "removed"));
  return { removed, tokens: [...own, ...(await letMachinesGo(work, by, userId))] };
}

/** One change after another, and none by somebody who has lost the right while they waited. */
async function lockMember(tx: Tx, by: UserPrincipal, userId: string): Promise<PersonRow> {
  await lockOrg(tx, by.orgId);
  const member = await lockUser(tx, userId);
  if (member?.org_id !== by.orgId || !isHere(member)) throw notFound("member");
  if (by.userId !== userId) await requireStillAdmin(tx, by);
  return member;
}

export async function requireStillAdmin(tx: Tx, by: UserPrincipal): Promise<void> {
  const self = await findUser(tx, by.userId);
  if (self && isHere(self) && self.role === "admin") return;
  throw new Refusal("forbidden", "forbidden", "You are no admin any more.");
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
