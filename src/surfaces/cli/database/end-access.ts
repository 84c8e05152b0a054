/**
 * Keeps a restore from reviving access that was revoked after the copy was made. If the replaced database
 * shows what was revoked, removed or changed, that stays so. If it does not, everything that could have been
 * revoked is ended, except the owner's access.
 */

import type { GatewayRow, PreviousAccess } from "./previous-access.ts";
import { hasTable, type RestoreDb } from "./restore-db.ts";

export interface EndedAccess {
  /**
   * `compared`: with the replaced database. `ended`: no comparison was possible, so all access but the
   * owner's was ended. `kept`: as in the copy, because the caller said so.
   */
  access: "compared" | "ended" | "kept";
  keysRevoked: number;
  invitationsRevoked: number;
  /** Members who were removed, or lost their admin role, after the copy was made. */
  membersRemoved: number;
  /** Members who can sign in only after a new invitation. */
  membersToInvite: { id: string; name: string; role: string }[];
  rulesDropped: number;
}

interface Person {
  id: string;
  org_id: string;
  name: string;
  role: string;
  removed_at: number | null;
}

export interface EndAccessOptions {
  previous: PreviousAccess | undefined;
  keepAccess: boolean;
  /** Hash of the owner's key in the data folder, if there is one. */
  ownerKeyHash: string | undefined;
  now: number;
}

const NOTHING = {
  keysRevoked: 0,
  invitationsRevoked: 0,
  membersRemoved: 0,
  membersToInvite: [],
  rulesDropped: 0,
};

export async function endAccess(db: RestoreDb, options: EndAccessOptions): Promise<EndedAccess> {
  // A copy without people belongs to a test, or to a server that was never started.
  const hasPeople = await hasTable(db, "passwords");
  if (hasPeople) await db.run("delete from sign_in_flows");
  const { previous, keepAccess } = options;
  if (keepAccess) return { access: "kept", ...NOTHING };
  await carryGateways(db, previous);
  if (!previous) return endAll(db, options, hasPeople);
  const keysRevoked = await revokeMissing(db, "credentials", previous.credentials, options.now);
  if (!hasPeople) return { access: "compared", ...NOTHING, keysRevoked };
  return {
    access: "compared",
    ...NOTHING,
    keysRevoked,
    invitationsRevoked: await revokeMissing(db, "invitations", previous.invitations, options.now),
    membersRemoved: await carryMembers(db, previous, options.now),
    rulesDropped: await carryRules(db, previous),
  };
}

async function endAll(
  db: RestoreDb,
  { ownerKeyHash, now }: EndAccessOptions,
  hasPeople: boolean,
): Promise<EndedAccess> {
  const keysRevoked = await db.run(
    "update credentials set revoked_at = ? where revoked_at is null and not (kind = 'owner_key' and hash = ?)",
    now,
    ownerKeyHash ?? "",
  );
  if (!hasPeople) return { access: "ended", ...NOTHING, keysRevoked };
  // The owner's password and accounts stay: a server that others can reach does not start without them.
  const [, ...others] = await membersOf(db);
  for (const { id } of others) await removeSignIn(db, id);
  return {
    access: "ended",
    ...NOTHING,
    keysRevoked,
    invitationsRevoked: await db.run(
      "update invitations set revoked_at = ? where revoked_at is null and accepted_at is null",
      now,
    ),
    membersToInvite: others.map(({ id, name, role }) => ({ id, name, role })),
    rulesDropped: (await hasTable(db, "policy_rules"))
      ? await db.run("delete from policy_rules where effect = 'allow'")
      : 0,
  };
}

/** Lists members; the owner, who is the first admin, comes first. */
async function membersOf(db: RestoreDb): Promise<Person[]> {
  const people = await db.all<Person>(
    "select * from users where removed_at is null order by created_at, id",
  );
  const owner = people.find(({ role }) => role === "admin");
  return owner ? [owner, ...people.filter((one) => one !== owner)] : people;
}

async function removeSignIn(db: RestoreDb, userId: string): Promise<void> {
  await db.run("delete from passwords where user_id = ?", userId);
  await db.run("delete from linked_accounts where user_id = ?", userId);
}

async function revokeMissing(
  db: RestoreDb,
  table: "credentials" | "invitations",
  alive: ReadonlySet<string>,
  now: number,
): Promise<number> {
  const open = table === "invitations" ? " and accepted_at is null" : "";
  const rows = await db.all<{ id: string }>(
    `select id from ${table} where revoked_at is null${open}`,
  );
  const gone = rows.filter(({ id }) => !alive.has(id));
  for (const { id } of gone)
    await db.run(`update ${table} set revoked_at = ? where id = ?`, now, id);
  return gone.length;
}

async function carryMembers(db: RestoreDb, previous: PreviousAccess, now: number): Promise<number> {
  await carryPasswords(db, previous);
  for (const { id } of await db.all<{ id: string }>("select id from linked_accounts"))
    if (!previous.linkedAccounts.has(id))
      await db.run("delete from linked_accounts where id = ?", id);
  const members = await membersOf(db);
  const isGone = ({ id }: Person) => (previous.users.get(id)?.removed_at ?? null) !== null;
  const isDemoted = ({ id, role }: Person) =>
    role === "admin" && previous.users.get(id)?.role === "member";
  // An organisation needs an admin. If all admins in the copy have gone since, the first one stays, with all
  // access ended but the key in the data folder.
  const stays = members.some((one) => one.role === "admin" && !isGone(one) && !isDemoted(one))
    ? undefined
    : members[0];
  let changed = 0;
  for (const member of members) {
    if (!isGone(member) && !isDemoted(member)) continue;
    if (isGone(member)) await removeSignIn(db, member.id);
    if (member === stays) continue;
    changed++;
    if (isGone(member))
      await db.run("update users set removed_at = ? where id = ?", now, member.id);
    else await db.run("update users set role = 'member' where id = ?", member.id);
  }
  await carryPurges(db, previous);
  return changed;
}

/** Carries over changed and removed passwords, so that the old ones do not return. */
async function carryPasswords(db: RestoreDb, { passwords }: PreviousAccess): Promise<void> {
  const rows = await db.all<{ user_id: string; hash: string }>("select * from passwords");
  for (const { user_id, hash } of rows) {
    const now = passwords.get(user_id);
    if (!now) await db.run("delete from passwords where user_id = ?", user_id);
    else if (now.hash !== hash)
      await db.run(
        "update passwords set hash = ?, updated_at = ? where user_id = ?",
        now.hash,
        now.updated_at,
        user_id,
      );
  }
}

/** Purges data again that the copy brings back. */
async function carryPurges(db: RestoreDb, { purges }: PreviousAccess): Promise<void> {
  for (const { user_id, org_id, asked_by, asked_at } of purges) {
    await db.run("delete from member_purges where user_id = ?", user_id);
    await db.run(
      "insert into member_purges (user_id, org_id, asked_by, asked_at, done_at) values (?, ?, ?, ?, null)",
      user_id,
      org_id,
      asked_by,
      asked_at,
    );
  }
}

/** Drops rules that were withdrawn since, so that their calls ask again; denials stay. */
async function carryRules(db: RestoreDb, previous: PreviousAccess): Promise<number> {
  if (!(await hasTable(db, "policy_rules"))) return 0;
  const rules = await db.all<{ id: string; effect: string }>("select id, effect from policy_rules");
  const gone = rules.filter(({ id, effect }) => effect === "allow" && !previous.allowRules.has(id));
  for (const { id } of gone) await db.run("delete from policy_rules where id = ?", id);
  const known = new Set(rules.map(({ id }) => id));
  for (const rule of previous.strictRules) {
    if (known.has(String(rule.id))) continue;
    const names = Object.keys(rule);
    await db.run(
      `insert into policy_rules (${names.join(", ")}) values (${names.map(() => "?").join(", ")})`,
      ...names.map((name) => rule[name]),
    );
  }
  return gone.length;
}

/** Defaults of an organisation without settings. */
const GATEWAY_DEFAULTS = { personal_runners: 1, environment_keys: 0 } as const;

/**
 * Machines that were excluded from the organisation's models stay so. Without a comparison, the consent to
 * share the keys in the server's environment with other machines is withdrawn.
 */
async function carryGateways(db: RestoreDb, previous: PreviousAccess | undefined): Promise<void> {
  if (!(await hasTable(db, "gateway_settings"))) return;
  if (!previous) {
    await db.run("update gateway_settings set environment_keys = 0");
    return;
  }
  const known = await db.all<GatewayRow>("select * from gateway_settings");
  for (const is of previous.gateways) {
    const was = known.find(({ org_id }) => org_id === is.org_id) ?? GATEWAY_DEFAULTS;
    await db.run("delete from gateway_settings where org_id = ?", is.org_id);
    await db.run(
      "insert into gateway_settings (org_id, personal_runners, environment_keys, updated_at) values (?, ?, ?, ?)",
      is.org_id,
      Math.min(was.personal_runners, is.personal_runners),
      Math.min(was.environment_keys, is.environment_keys),
      is.updated_at,
    );
  }
}
