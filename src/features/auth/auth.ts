/**
 * Who is calling: credentials to principals. A principal is built from the server's rows only.
 * Credentials that were checked are remembered for a moment, so that a busy client does not cost a
 * query a request; what was revoked here is forgotten at once.
 */
import type { Clock } from "#base/clock.ts";
import type { Ids } from "#base/ids.ts";
import type { Reader, Store } from "#base/store/index.ts";
import type {
  CredentialKind,
  CredentialRow,
  Feature,
  Principal,
  Tell,
  UserRow,
} from "#engine/index.ts";
import {
  changePassword,
  changeProfile,
  confirmPerson,
  describeMe,
  type PasswordChange,
  type ProfileChange,
  signOutEverywhere,
} from "./account.ts";
import { deleteAccountsOf, deleteOverFlows } from "./account-queries.ts";
import { createApiKey, listApiKeys, type NewKey, revokeApiKey } from "./api-keys.ts";
import { type Desk, isGood, type Maker, revokeTree } from "./issue.ts";
import { createLockout } from "./lockout.ts";
import { ensureOwner, renewOwnerKey, setFirstPassword } from "./owner.ts";
import {
  deleteCredentialsOf,
  deleteDeadCredentials,
  deletePassword,
  findCredential,
  findCredentialByHash,
  findUser,
  hasPasswordAdmin,
  isHere,
  markUsed,
} from "./queries.ts";
import {
  createRunnerToken,
  createServerToken,
  listRunnerTokens,
  type NewRunnerToken,
  readRights,
  revokeRunnerToken,
} from "./runner-tokens.ts";
import { authMigrations } from "./schema.ts";
import { hashSecret } from "./secrets.ts";
import {
  createLink,
  type PasswordDesk,
  type Proof,
  signInByPassword,
  signInBySecret,
} from "./sign-in.ts";
import { type UserPrincipal, userPrincipal } from "./user-principal.ts";

/** With the pause between two looks at an open socket, less than the second that a revocation may take. */
const REMEMBER_MS = 500;
const MAX_REMEMBERED = 10_000;
const NOTE_USE_EVERY_MS = 15_000;
const SWEEP_EVERY_MS = 60 * 60_000;
const FLOW_SWEEP_EVERY_MS = 10 * 60_000;
const DEAD_KEPT_MS = 30 * 24 * 60 * 60_000;

export interface Caller {
  principal: Principal;
  credentialId: string;
  kind: CredentialKind;
  expiresAt: number | null;
}

export interface AuthOptions {
  store: Store;
  ids: Ids;
  clock: Clock;
  /** Says what was changed, in the transaction that changes it. */
  tell: Tell;
}

export type Auth = ReturnType<typeof createAuth>;

export function createAuth({ store, ids, clock, tell }: AuthOptions) {
  const remembered = new Map<string, { caller: Caller; until: number }>();
  /** When credentials were last used, until it is written down. */
  const used = new Map<string, number>();
  const desk = { store, ids, tell, lockout: createLockout(clock.now), now: clock.now };
  const forget = () => remembered.clear();

  async function authenticate(secret: string): Promise<Caller | undefined> {
    const hash = hashSecret(secret);
    const now = clock.now();
    const known = remembered.get(hash);
    if (known && known.until > now) return known.caller;
    const caller = await lookUp(store, hash, now);
    remembered.delete(hash);
    if (caller) {
      if (remembered.size >= MAX_REMEMBERED) remembered.clear();
      const until = Math.min(now + REMEMBER_MS, caller.expiresAt ?? Number.POSITIVE_INFINITY);
      remembered.set(hash, { caller, until });
      used.set(caller.credentialId, now);
    }
    return caller;
  }

  /** What changes what others may do is forgotten here when it is done. */
  async function forgetting<T>(work: Promise<T>): Promise<T> {
    const result = await work;
    forget();
    return result;
  }

  const revoke = (credentialId: string): Promise<void> =>
    forgetting(store.transaction((tx) => revokeTree(tx, credentialId)));
  const signOut = (credentialId: string) => forgetting(closeBrowser(desk, credentialId));

  return {
    /** Undefined: no such credential, or one that is spent, expired or revoked. */
    authenticate,
    /** After people's rights were changed elsewhere on this server. */
    forget,

    ensureOwner: (name: string) => ensureOwner(desk, name),
    renewOwnerKey: (owner: UserRow) => forgetting(renewOwnerKey(desk, owner)),
    /** Whether an admin could sign in from another machine. */
    hasPasswordSignIn: () => store.read(hasPasswordAdmin),
    /** True when it was set: only an owner without a password gets this one. */
    setFirstPassword: (userId: string, readPassword: () => string, email: string | undefined) =>
      setFirstPassword(desk, userId, readPassword, email),

    /** Whether somebody still belongs here: what works in their name may not outlast that. */
    isMember: (userId: string) => store.read((reader) => isMember(reader, userId)),

    /** Never for more than the one who asks may do. */
    createLink: (userId: string, scopes: readonly string[], maker?: Maker) =>
      createLink(desk, userId, scopes, maker),
    /** `replaces`: the secret that the browser came with, which is of no use afterwards. */
    signIn: (proof: Proof, from?: { address: string; replaces: string | undefined }) =>
      forgetting(
        "email" in proof
          ? signInByPassword(desk, proof, from?.address ?? "unknown", from?.replaces)
          : signInBySecret(desk, proof, from?.replaces),
      ),
    signOut,
    signOutEverywhere: (userId: string) => forgetting(signOutEverywhere(desk, userId)),
    revoke,

    createApiKey: (by: UserPrincipal, maker: Maker, key: NewKey) =>
      createApiKey(desk, by, maker, key),
    listApiKeys: (userId: string) => listApiKeys(store, userId, clock.now()),
    revokeApiKey: (userId: string, id: string) => forgetting(revokeApiKey(desk, userId, id)),

    createRunnerToken: (by: UserPrincipal, maker: Maker, token: NewRunnerToken) =>
      createRunnerToken(desk, by, maker, token),
    /** For the machine that the server itself runs on: it is nobody's, and stays when people go. */
    createServerToken: (orgId: string, name: string) => createServerToken(desk, orgId, name),
    listRunnerTokens: (by: UserPrincipal) => listRunnerTokens(store, by, clock.now()),
    revokeRunnerToken: (by: UserPrincipal, id: string) =>
      forgetting(revokeRunnerToken(desk, by, id)),

    ...ownAccount(desk, forgetting),

    feature: authFeature(used),
  };
}

/** What people do with their own account. */
function ownAccount(desk: PasswordDesk, forgetting: <T>(work: Promise<T>) => Promise<T>) {
  return {
    me: (principal: UserPrincipal) => describeMe(desk.store, principal),
    changeProfile: (userId: string, change: ProfileChange) =>
      forgetting(changeProfile(desk, userId, change)),
    changePassword: (
      principal: UserPrincipal,
      maker: Maker,
      address: string,
      change: PasswordChange,
    ) => forgetting(changePassword(desk, principal, maker, address, change)),
    /** Before somebody is given another way in. */
    async confirm(
      principal: UserPrincipal,
      maker: Maker,
      address: string,
      currentPassword: string | undefined,
    ): Promise<void> {
      await confirmPerson(desk, principal, maker, address, currentPassword);
    },
  };
}

function authFeature(used: Map<string, number>): Feature {
  return {
    name: "auth",
    migrations: authMigrations,
    async purgePerson({ tx }, { userId }) {
      await deletePassword(tx, userId);
      await deleteAccountsOf(tx, userId);
      await deleteCredentialsOf(tx, userId);
      return true;
    },
    sweeps: [
      {
        name: "last use of credentials",
        everyMs: NOTE_USE_EVERY_MS,
        async run({ store }) {
          if (used.size === 0) return;
          const noted = [...used];
          used.clear();
          await store.transaction(async (tx) => {
            for (const [id, at] of noted) await markUsed(tx, id, at);
          });
        },
      },
      {
        name: "sign-ins that never came back",
        everyMs: FLOW_SWEEP_EVERY_MS,
        async run({ store }, now) {
          await store.transaction((tx) => deleteOverFlows(tx, now));
        },
      },
      {
        name: "dead credentials",
        everyMs: SWEEP_EVERY_MS,
        async run({ store }, now) {
          await store.transaction((tx) => deleteDeadCredentials(tx, now - DEAD_KEPT_MS));
        },
      },
    ],
  };
}

async function closeBrowser({ store, tell }: Desk, credentialId: string): Promise<void> {
  await store.transaction(async (tx) => {
    const row = await findCredential(tx, credentialId);
    await revokeTree(tx, credentialId);
    if (!row) return;
    const closed = { orgId: row.org_id, by: `user:${row.principal_id}`, subjectId: row.id };
    await tell(tx, { ...closed, area: "browser", action: "closed" });
  });
}

function lookUp(store: Store, hash: string, now: number): Promise<Caller | undefined> {
  return store.read(async (reader) => {
    const credential = await findCredentialByHash(reader, hash);
    if (!credential || !isGood(credential, now) || credential.kind === "sign_in_link") {
      return undefined;
    }
    const { id: credentialId, kind, expires_at: expiresAt } = credential;
    if (credential.principal_kind === "runner") {
      return { principal: runnerPrincipal(credential), credentialId, kind, expiresAt };
    }
    const user = await findUser(reader, credential.principal_id);
    if (!user || !isHere(user)) return undefined;
    return { principal: userPrincipal(user, credential), credentialId, kind, expiresAt };
  });
}

async function isMember(reader: Reader, userId: string): Promise<boolean> {
  const user = await findUser(reader, userId);
  return user !== undefined && isHere(user);
}

function runnerPrincipal(credential: CredentialRow): Principal {
  const { scope, tags } = readRights(credential);
  const { org_id: orgId, id: credentialId, name } = credential;
  return { kind: "runner", orgId, credentialId, scope, tags, name };
}
