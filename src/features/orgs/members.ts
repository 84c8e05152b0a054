/** Members: who there is, what role they have, and how they leave. There is always an admin. */
import { notFound, Refusal } from "#base/refusal.ts";
import type { Store, Tx } from "#base/store/index.ts";
import {
  deletePassword,
  findUser,
  isHere,
  listMembers,
  lockOrg,
  lockUser,
  type PersonRow,
  revokeKinds,
  saveUser,
  type UserPrincipal,
} from "#features/auth/index.ts";
import type { Member } from "./contract.ts";
import { revokeInvitationsOf } from "./queries.ts";

export async function listMemberViews(store: Store, by: UserPrincipal): Promise<Member[]> {
  const rows = await store.read((reader) => listMembers(reader, by.orgId));
  return rows.map((row) => memberView(row, by));
}

/** Those who see this may not see everyone's address. */
function memberView(row: PersonRow, by: UserPrincipal): Member {
  const seesEmail = by.role === "admin" || row.id === by.userId;
  return {
    userId: row.id,
    name: row.name,
    role: row.role,
    ...(seesEmail ? { email: row.email } : {}),
    joinedAt: new Date(row.created_at).toISOString(),
  };
}

/**
 * Their browsers have to sign in again, so that what is open was opened in the new role; keys stay
 * and can do what the new role can.
 */
export function changeRole(
  store: Store,
  by: UserPrincipal,
  userId: string,
  role: "admin" | "member",
): Promise<Member> {
  return store.transaction(async (tx) => {
    const member = await lockMember(tx, by, userId);
    if (member.role === role) return memberView(member, by);
    if (role === "member") await refuseLastAdmin(tx, member);
    const changed = { ...member, role };
    await saveUser(tx, changed);
    await revokeKinds(tx, userId, ["cookie", "sign_in_link"]);
    if (role === "member") await revokeInvitationsOf(tx, `user:${userId}`);
    return memberView(changed, by);
  });
}

/** What they have made stays; nothing of theirs opens a door any more. */
export function removeMember(store: Store, by: UserPrincipal, userId: string): Promise<PersonRow> {
  return store.transaction(async (tx) => {
    const member = await lockMember(tx, by, userId);
    await refuseLastAdmin(tx, member);
    const removed = { ...member, removed_at: tx.now };
    await saveUser(tx, removed);
    await deletePassword(tx, userId);
    await revokeKinds(tx, userId, ["cookie", "sign_in_link", "api_key", "owner_key", "runner"]);
    await revokeInvitationsOf(tx, `user:${userId}`);
    return removed;
  });
}

/** One change after another, and none by somebody who has lost the right while they waited. */
async function lockMember(tx: Tx, by: UserPrincipal, userId: string): Promise<PersonRow> {
  await lockOrg(tx, by.orgId);
  const member = await lockUser(tx, userId);
  if (member?.org_id !== by.orgId || !isHere(member)) throw notFound("member");
  const self = await findUser(tx, by.userId);
  const mayStill = self && isHere(self) && (self.role === "admin" || self.id === userId);
  if (!mayStill) throw new Refusal("forbidden", "forbidden", "You are no admin any more.");
  return member;
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
