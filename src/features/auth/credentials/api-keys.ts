/** API keys for programs: shown once, never with more rights than their maker had. */
import { notFound, Refusal } from "#base/refusal.ts";
import type { Store } from "#base/store/index.ts";
import type { CredentialRow } from "#engine/index.ts";
import type { ApiKey } from "../contract.ts";
import { findCredential, isActiveMember, listCredentials, lockUser } from "../queries.ts";
import {
  type AuthContext,
  type CallerCredential,
  endNoLater,
  heldBy,
  isGood,
  issueCredential,
  originFromCaller,
  revokeTree,
} from "./issue.ts";
import { mintSecret } from "./secrets.ts";
import type { UserPrincipal } from "./user-principal.ts";

const MAX_KEYS = 100;

export interface NewKey {
  name: string;
  scopes: readonly string[];
  expiresAt?: number | undefined;
}

export async function createApiKey(
  { store, ids, tell }: AuthContext,
  by: UserPrincipal,
  maker: CallerCredential,
  { name, scopes, expiresAt }: NewKey,
): Promise<{ apiKey: ApiKey; key: string }> {
  refuseMore(by, scopes);
  const secret = mintSecret("key");
  const apiKey = await store.transaction(async (tx) => {
    const user = await lockUser(tx, by.userId);
    if (!user || !isActiveMember(user)) throw notFound("user");
    refusePast(expiresAt, tx.now);
    const known = await listCredentials(tx, by.userId, "api_key");
    if (known.filter((row) => isGood(row, tx.now)).length >= MAX_KEYS) throw tooMany();
    const origin = await originFromCaller(tx, maker, by.userId);
    const holder = heldBy(user, name, [...new Set(scopes)].join(" "), origin.createdBy);
    const id = await issueCredential(tx, ids, {
      kind: "api_key",
      secret,
      holder,
      expiresAt: endNoLater(expiresAt, origin),
    });
    const { orgId, userId } = by;
    const change = { orgId, by: `user:${userId}`, area: "api_key", action: "made", subjectId: id };
    await tell(tx, change);
    return viewOf((await findCredential(tx, id)) as CredentialRow);
  });
  return { apiKey, key: secret };
}

export function listApiKeys(store: Store, userId: string, now: number): Promise<ApiKey[]> {
  return store.read(async (reader) =>
    (await listCredentials(reader, userId, "api_key"))
      .filter((row) => isGood(row, now))
      .sort((a, b) => b.created_at - a.created_at || (a.id < b.id ? 1 : -1))
      .map(viewOf),
  );
}

export function revokeApiKey(
  { store, tell }: AuthContext,
  userId: string,
  id: string,
): Promise<ApiKey> {
  return store.transaction(async (tx) => {
    const row = await findCredential(tx, id);
    const isOwn = row?.kind === "api_key" && row.principal_id === userId;
    if (!isOwn || row.revoked_at !== null) throw notFound("key");
    await revokeTree(tx, id);
    const by = `user:${userId}`;
    await tell(tx, { orgId: row.org_id, by, area: "api_key", action: "revoked", subjectId: id });
    return viewOf(row);
  });
}

function refuseMore(by: UserPrincipal, scopes: readonly string[]): void {
  const has = (scope: string) => by.scopes.includes("*") || by.scopes.includes(scope);
  const more = scopes.filter((scope) => !has(scope) || (scope === "admin" && by.role !== "admin"));
  if (more.length === 0) return;
  throw new Refusal(
    "forbidden",
    "scope_not_yours",
    `You cannot give a key scopes that you do not have: ${more.join(", ")}. Leave them out.`,
  );
}

function refusePast(expiresAt: number | undefined, now: number): void {
  if (expiresAt === undefined || expiresAt > now) return;
  throw new Refusal("invalid", "expiry_in_the_past", "The expiry of a key must be in the future.");
}

function tooMany(): Refusal {
  return new Refusal(
    "conflict",
    "api_key_limit_reached",
    `You can have at most ${MAX_KEYS} keys. Revoke some that are not used.`,
  );
}

const iso = (at: number | null) => (at === null ? null : new Date(at).toISOString());

function viewOf(row: CredentialRow): ApiKey {
  return {
    id: row.id,
    name: row.name,
    scopes: row.scopes.split(" "),
    createdAt: new Date(row.created_at).toISOString(),
    expiresAt: iso(row.expires_at),
    lastUsedAt: iso(row.last_used_at),
  };
}
