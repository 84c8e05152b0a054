/**
 * Who is calling: credentials to principals. A principal is built from the server's rows only.
 * Credentials that were checked are remembered for a moment, so that a busy client does not cost a
 * query a request; what was revoked here is forgotten at once.
 */
import type { Clock } from "#base/clock.ts";
import type { Ids } from "#base/ids.ts";
import { notFound } from "#base/refusal.ts";
import type { Store } from "#base/store/index.ts";
import type { CredentialKind, CredentialRow, Principal, UserRow } from "#engine/index.ts";
import { isGood, issueCredential } from "./issue.ts";
import { ensureOwner, renewOwnerKey } from "./owner.ts";
import { findCredentialByHash, findOrg, findUser, revokeCredential } from "./queries.ts";
import { hashSecret, mintSecret } from "./secrets.ts";
import { createLink, type Proof, signIn } from "./sign-in.ts";

const REMEMBER_MS = 1_000;
const MAX_REMEMBERED = 10_000;

export type UserPrincipal = Extract<Principal, { kind: "user" }>;

export interface Caller {
  principal: Principal;
  credentialId: string;
  kind: CredentialKind;
}

export interface AuthOptions {
  store: Store;
  ids: Ids;
  clock: Clock;
}

export type Auth = ReturnType<typeof createAuth>;

export function createAuth({ store, ids, clock }: AuthOptions) {
  const remembered = new Map<string, { caller: Caller; until: number }>();

  async function revoke(credentialId: string): Promise<void> {
    await store.transaction((tx) => revokeCredential(tx, credentialId));
    remembered.clear();
  }

  return {
    /** Undefined: no such credential, or one that is spent, expired or revoked. */
    async authenticate(secret: string): Promise<Caller | undefined> {
      const hash = hashSecret(secret);
      const now = clock.now();
      const known = remembered.get(hash);
      if (known && known.until > now) return known.caller;
      const caller = await lookUp(store, hash, now);
      remembered.delete(hash);
      if (caller) {
        if (remembered.size >= MAX_REMEMBERED) remembered.clear();
        remembered.set(hash, { caller, until: now + REMEMBER_MS });
      }
      return caller;
    },

    ensureOwner: (name: string) => ensureOwner(store, ids, name),
    async renewOwnerKey(owner: UserRow): Promise<string> {
      const key = await renewOwnerKey(store, ids, owner);
      remembered.clear();
      return key;
    },

    /** Never for more than the one who asks may do. */
    createLink: (userId: string, scopes: readonly string[]) =>
      createLink(store, ids, userId, scopes),
    signIn: (proof: Proof) => signIn(store, ids, proof),
    signOut: revoke,
    revoke,

    /** A runner's token, shown once. */
    async createRunnerToken(by: UserPrincipal, name: string, tags: readonly string[]) {
      const secret = mintSecret("rnr");
      const holder = {
        org_id: by.orgId,
        name,
        principal_kind: "runner" as const,
        principal_id: "org",
        scopes: JSON.stringify({ scope: "org", tags }),
        created_by: `user:${by.userId}`,
      };
      const id = await store.transaction((tx) =>
        issueCredential(tx, ids, { kind: "runner", secret, holder }),
      );
      return { id, token: secret };
    },

    me: (principal: UserPrincipal) =>
      store.read(async (reader) => {
        const user = await findUser(reader, principal.userId);
        const org = await findOrg(reader, principal.orgId);
        if (!user || !org) throw notFound("user");
        return {
          user: { id: user.id, name: user.name, email: user.email, role: user.role },
          org: { id: org.id, name: org.name, slug: org.slug },
          scopes: [...principal.scopes],
        };
      }),
  };
}

function lookUp(store: Store, hash: string, now: number): Promise<Caller | undefined> {
  return store.read(async (reader) => {
    const credential = await findCredentialByHash(reader, hash);
    if (!credential || !isGood(credential, now) || credential.kind === "sign_in_link") {
      return undefined;
    }
    const { id: credentialId, kind } = credential;
    if (credential.principal_kind === "runner") {
      return { principal: runnerPrincipal(credential), credentialId, kind };
    }
    const user = await findUser(reader, credential.principal_id);
    return user && { principal: userPrincipal(user, credential), credentialId, kind };
  });
}

function userPrincipal(user: UserRow, credential: CredentialRow): UserPrincipal {
  return {
    kind: "user",
    orgId: user.org_id,
    userId: user.id,
    name: user.name,
    role: user.role,
    scopes: credential.scopes.split(" "),
    channel: credential.kind === "cookie" ? "web" : "api",
  };
}

function runnerPrincipal(credential: CredentialRow): Principal {
  const { scope, tags } = JSON.parse(credential.scopes) as { scope: string; tags: string[] };
  const { org_id: orgId, id: credentialId, name } = credential;
  return { kind: "runner", orgId, credentialId, scope, tags, name };
}
