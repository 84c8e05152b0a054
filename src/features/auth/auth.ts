/**
 * Assembles sign-in, accounts, keys and tokens. Cached credentials are dropped as soon as one is revoked
 * here.
 */
import type { Clock } from "#base/clock.ts";
import type { Ids } from "#base/ids.ts";
import type { Reader, Store } from "#base/store/index.ts";
import type { Feature, ReportChange, UserRow } from "#engine/index.ts";
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
import { createApiKey, listApiKeys, type NewKey, revokeApiKey } from "./credentials/api-keys.ts";
import { createAuthenticator } from "./credentials/authenticate.ts";
import { type AuthContext, type CallerCredential, revokeTree } from "./credentials/issue.ts";
import {
  createRunnerToken,
  createServerToken,
  listRunnerTokens,
  type NewRunnerToken,
  revokeRunnerToken,
} from "./credentials/runner-tokens.ts";
import type { UserPrincipal } from "./credentials/user-principal.ts";
import { ensureOwner, renewOwnerKey, setFirstPassword } from "./owner.ts";
import {
  deleteCredentialsOf,
  deleteDeadCredentials,
  deletePassword,
  findCredential,
  findUser,
  hasPasswordAdmin,
  isActiveMember,
  markUsed,
} from "./queries.ts";
import { authMigrations } from "./schema.ts";
import { createLockout } from "./sign-in/lockout.ts";
import {
  createLink,
  inspectLink,
  type PasswordContext,
  type Proof,
  signInByPassword,
  signInBySecret,
  type Visit,
} from "./sign-in/sign-in.ts";

const NOTE_USE_EVERY_MS = 15_000;
const SWEEP_EVERY_MS = 60 * 60_000;
const FLOW_SWEEP_EVERY_MS = 10 * 60_000;
const DEAD_KEPT_MS = 30 * 24 * 60 * 60_000;

export interface AuthOptions {
  store: Store;
  ids: Ids;
  clock: Clock;
  /** Records the change in the transaction that makes it. */
  tell: ReportChange;
}

export type Auth = ReturnType<typeof createAuth>;

export function createAuth({ store, ids, clock, tell }: AuthOptions) {
  /** Last use of each credential, until it is written to the store. */
  const used = new Map<string, number>();
  const { authenticate, wasSignedOut, findHolder, forget } = createAuthenticator(
    store,
    clock.now,
    used,
  );
  const context = { store, ids, tell, lockout: createLockout(clock.now), now: clock.now };

  /** Clears the cached credentials after work that changes what others may do. */
  async function forgetting<T>(work: Promise<T>): Promise<T> {
    const result = await work;
    forget();
    return result;
  }

  const revoke = (credentialId: string): Promise<void> =>
    forgetting(store.transaction((tx) => revokeTree(tx, credentialId)));
  const signOut = (credentialId: string) => forgetting(closeBrowser(context, credentialId));

  return {
    /**
     * Returns undefined for a credential that is unknown, spent, expired, revoked, or bound to another page.
     */
    authenticate,
    wasSignedOut,
    /** Returns the holder of a credential while it is valid, for things that were made with it. */
    findHolder,
    /** Clears the cache after people's rights were changed elsewhere on this server. */
    forget,

    ensureOwner: (name: string) => ensureOwner(context, name),
    renewOwnerKey: (owner: UserRow) => forgetting(renewOwnerKey(context, owner)),
    /** True if an admin could sign in from another machine. */
    hasPasswordSignIn: () => store.read(hasPasswordAdmin),
    /** Sets the password only for an owner without one; true when it was set. */
    setFirstPassword: (userId: string, readPassword: () => string, email: string | undefined) =>
      setFirstPassword(context, userId, readPassword, email),

    /** True while a person is a member: work in their name may not outlast that. */
    isMember: (userId: string) => store.read((reader) => isMember(reader, userId)),

    /** Creates a link that allows no more than its maker may do. */
    createLink: (userId: string, scopes: readonly string[], maker?: CallerCredential) =>
      createLink(context, userId, scopes, maker),
    /** Returns the person that a link would sign in, without using the link up. */
    inspectLink: (token: string) => store.read((reader) => inspectLink(reader, token, clock.now())),
    signIn: (proof: Proof, visit: Visit = { address: "unknown" }) =>
      forgetting(
        "email" in proof
          ? signInByPassword(context, proof, visit)
          : signInBySecret(context, proof, visit),
      ),
    signOut,
    signOutEverywhere: (userId: string) => forgetting(signOutEverywhere(context, userId)),
    revoke,

    createApiKey: (by: UserPrincipal, maker: CallerCredential, key: NewKey) =>
      createApiKey(context, by, maker, key),
    listApiKeys: (userId: string) => listApiKeys(store, userId, clock.now()),
    revokeApiKey: (userId: string, id: string) => forgetting(revokeApiKey(context, userId, id)),

    createRunnerToken: (by: UserPrincipal, maker: CallerCredential, token: NewRunnerToken) =>
      createRunnerToken(context, by, maker, token),
    /** Creates a token for the server's own machine. It belongs to nobody, and stays when people go. */
    createServerToken: (orgId: string, name: string) => createServerToken(context, orgId, name),
    listRunnerTokens: (by: UserPrincipal) => listRunnerTokens(store, by, clock.now()),
    revokeRunnerToken: (by: UserPrincipal, id: string) =>
      forgetting(revokeRunnerToken(context, by, id)),

    ...ownAccount(context, forgetting),

    feature: authFeature(used),
  };
}

/** Operations of people on their own account. */
function ownAccount(context: PasswordContext, forgetting: <T>(work: Promise<T>) => Promise<T>) {
  return {
    me: (principal: UserPrincipal) => describeMe(context.store, principal),
    changeProfile: (userId: string, change: ProfileChange) =>
      forgetting(changeProfile(context, userId, change)),
    changePassword: (
      principal: UserPrincipal,
      maker: CallerCredential,
      visit: Visit,
      change: PasswordChange,
    ) => forgetting(changePassword(context, principal, maker, visit, change)),
    /** Confirms the person before they get another way in. */
    async confirm(
      principal: UserPrincipal,
      maker: CallerCredential,
      visit: Visit,
      currentPassword: string | undefined,
    ): Promise<void> {
      await confirmPerson(context, principal, maker, visit, currentPassword);
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

async function closeBrowser({ store, tell }: AuthContext, credentialId: string): Promise<void> {
  await store.transaction(async (tx) => {
    const row = await findCredential(tx, credentialId);
    await revokeTree(tx, credentialId);
    if (!row) return;
    const closed = { orgId: row.org_id, by: `user:${row.principal_id}`, subjectId: row.id };
    await tell(tx, { ...closed, area: "browser", action: "closed" });
  });
}

async function isMember(reader: Reader, userId: string): Promise<boolean> {
  const user = await findUser(reader, userId);
  return user !== undefined && isActiveMember(user);
}
