/**
 * Tokens for runners: shown once, listed and revoked by their maker and by admins. A token of scope `user`
 * works for its maker alone and ends with their membership; one for everybody ends when its maker is no
 * longer an admin.
 */
import { notFound, Refusal } from "#base/refusal.ts";
import type { Store, Tx } from "#base/store/index.ts";
import { type CredentialRow, may, requireMay, type SettingChange } from "#engine/index.ts";
import type { RunnerToken } from "../contract.ts";
import { findCredential, isActiveMember, listRunnerTokenRows, lockUser } from "../queries.ts";
import {
  type AuthContext,
  type CallerCredential,
  endNoLater,
  isGood,
  issueCredential,
  originFromCaller,
  revokeTree,
} from "./issue.ts";
import { mintSecret } from "./secrets.ts";
import type { UserPrincipal } from "./user-principal.ts";

/** Principal id of tokens that take everybody's runs. */
const ORG_PRINCIPAL = "org";
/** Limit for one person, and for the organisation as a whole. */
const MAX_TOKENS = 200;

export interface NewRunnerToken {
  name: string;
  tags: readonly string[];
  scope: "org" | "user";
}

export interface MadeRunnerToken {
  id: string;
  token: string;
  scope: string;
}

export async function createRunnerToken(
  { store, ids, tell }: AuthContext,
  by: UserPrincipal,
  maker: CallerCredential,
  { name, tags, scope }: NewRunnerToken,
): Promise<MadeRunnerToken> {
  // Such a machine gets everybody's work: being an admin is not enough for a key of narrow scope.
  if (scope === "org") requireMay(by, "runner.manage");
  const secret = mintSecret("rnr");
  const whose = scope === "org" ? ORG_PRINCIPAL : `user:${by.userId}`;
  const id = await store.transaction(async (tx) => {
    const user = await lockUser(tx, by.userId);
    if (!user || !isActiveMember(user)) throw notFound("user");
    // The role is read again under the lock: a demotion meanwhile has just revoked such tokens.
    if (scope === "org") requireMay({ ...by, role: user.role }, "runner.manage");
    // A person's own runners leave with the person.
    const principalId = scope === "org" ? ORG_PRINCIPAL : by.userId;
    await requireRoom(tx, by.orgId, principalId);
    const origin = await originFromCaller(tx, maker, by.userId);
    const holder = {
      org_id: by.orgId,
      name,
      principal_kind: "runner" as const,
      principal_id: principalId,
      scopes: JSON.stringify({ scope: whose, tags }),
      created_by: origin.createdBy,
    };
    const expiresAt = endNoLater(undefined, origin);
    const made = await issueCredential(tx, ids, { kind: "runner", secret, holder, expiresAt });
    await tell(tx, changeOf(by.orgId, `user:${by.userId}`, "made", made));
    return made;
  });
  return { id, token: secret, scope: whose };
}

async function requireRoom(tx: Tx, orgId: string, principalId: string): Promise<void> {
  const known = await listRunnerTokenRows(tx, orgId);
  const own = known.filter((row) => row.principal_id === principalId && isGood(row, tx.now));
  if (own.length < MAX_TOKENS) return;
  throw new Refusal(
    "conflict",
    "runner_token_limit_reached",
    `There can be at most ${MAX_TOKENS} runner tokens. Revoke some that are not used.`,
  );
}

export async function createServerToken(
  { store, ids, tell }: AuthContext,
  orgId: string,
  name: string,
): Promise<MadeRunnerToken> {
  const secret = mintSecret("rnr");
  const holder = {
    org_id: orgId,
    name,
    principal_kind: "runner" as const,
    principal_id: ORG_PRINCIPAL,
    scopes: JSON.stringify({ scope: ORG_PRINCIPAL, tags: [] }),
    created_by: "system",
  };
  const id = await store.transaction(async (tx) => {
    const made = await issueCredential(tx, ids, { kind: "runner", secret, holder });
    await tell(tx, changeOf(orgId, "system", "made", made));
    return made;
  });
  return { id, token: secret, scope: ORG_PRINCIPAL };
}

export function listRunnerTokens(
  store: Store,
  by: UserPrincipal,
  now: number,
): Promise<RunnerToken[]> {
  requireMay(by, "runner.own");
  return store.read(async (reader) =>
    (await listRunnerTokenRows(reader, by.orgId))
      .filter((row) => isGood(row, now) && mayManage(by, row))
      .map(viewOf),
  );
}

/** Revokes a token. The caller ends its connections. */
export function revokeRunnerToken(
  { store, tell }: AuthContext,
  by: UserPrincipal,
  id: string,
): Promise<RunnerToken> {
  requireMay(by, "runner.own");
  return store.transaction(async (tx) => {
    const row = await findCredential(tx, id);
    const isThere = row?.kind === "runner" && row.org_id === by.orgId && row.revoked_at === null;
    if (!isThere || !mayManage(by, row)) throw notFound("runner token");
    await revokeTree(tx, id);
    await tell(tx, changeOf(by.orgId, `user:${by.userId}`, "revoked", id));
    return viewOf(row);
  });
}

/**
 * Revokes the organisation's tokens that a former admin made, directly or with a key. Returns their ids, so
 * that the caller can end their connections at once.
 */
export async function revokeTokensForEverybody(
  tx: Tx,
  tell: (change: SettingChange) => Promise<void>,
  { orgId, userId }: { orgId: string; userId: string },
  by: string,
): Promise<string[]> {
  const revoked: string[] = [];
  for (const row of await listRunnerTokenRows(tx, orgId)) {
    if (row.principal_id !== ORG_PRINCIPAL || (await makerOf(tx, row)) !== userId) continue;
    await revokeTree(tx, row.id);
    await tell(changeOf(orgId, by, "revoked", row.id));
    revoked.push(row.id);
  }
  return revoked;
}

async function makerOf(tx: Tx, { created_by }: CredentialRow): Promise<string | undefined> {
  const [kind, id = ""] = created_by.split(":");
  if (kind === "user") return id;
  return kind === "credential" ? (await findCredential(tx, id))?.principal_id : undefined;
}

/** People manage their own machines, admins all of them. */
function mayManage(by: UserPrincipal, { org_id: orgId, principal_id }: CredentialRow): boolean {
  return principal_id === by.userId || may(by, "runner.manage", { orgId });
}

function changeOf(orgId: string, by: string, action: string, subjectId: string): SettingChange {
  return { orgId, by, area: "runner_token", action, subjectId };
}

/** Reads the scope of a token (the runs it takes) and its tags. */
export function readRights({ scopes }: CredentialRow): { scope: string; tags: string[] } {
  return JSON.parse(scopes) as { scope: string; tags: string[] };
}

const iso = (at: number | null) => (at === null ? null : new Date(at).toISOString());

function viewOf(row: CredentialRow): RunnerToken {
  return {
    id: row.id,
    name: row.name,
    ...readRights(row),
    createdAt: new Date(row.created_at).toISOString(),
    expiresAt: iso(row.expires_at),
    lastUsedAt: iso(row.last_used_at),
  };
}
