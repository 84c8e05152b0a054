/**
 * Sign-in through another service, from the button to the cookie. Whatever happens, the browser arrives at a
 * page of ours; a problem becomes a code in its address.
 */
import type { Clock } from "#base/clock.ts";
import type { Log } from "#base/log.ts";
import { notFound, Refusal } from "#base/refusal.ts";
import { isSignInProblem } from "#protocol/sign-in.ts";
import { refuseKeys } from "../account.ts";
import { hasLinkedAdmin } from "../account-queries.ts";
import type { Auth } from "../auth.ts";
import type { SignInOption } from "../contract.ts";
import type { AuthContext, CallerCredential } from "../credentials/issue.ts";
import type { UserPrincipal } from "../credentials/user-principal.ts";
import { type AdmitMember, applyIdentity } from "../providers/apply-identity.ts";
import {
  type NewFlow,
  type StartedFlow,
  secretsOf,
  startFlow,
  takeFlow,
} from "../providers/flows.ts";
import { createGithub, type GithubSettings } from "../providers/github.ts";
import { createOidc, type OidcSettings } from "../providers/oidc.ts";
import { problem } from "../providers/problems.ts";
import type { SignInProvider } from "../providers/provider.ts";
import type { SignInFlowRow } from "../schema.ts";
import { listLinkedAccounts, unlinkAccount } from "./linked-accounts.ts";
import { type Attempt, createLockout, type Lockout } from "./lockout.ts";
import { type OpenedBrowser, recordFailure, type Visit } from "./sign-in.ts";

/**
 * Failures recorded in the audit trail: the person did come from the service. Anybody can fake the others.
 */
const RECORDED_FAILURES: ReadonlySet<string> = new Set([
  "identity_not_confirmed",
  "account_unknown",
]);
/**
 * Failures that do not count as guesses: an outage must not lock people out when it is over, nor a cancelled
 * attempt.
 */
const UNCOUNTED_FAILURES: ReadonlySet<string> = new Set([
  "provider_unavailable",
  "sign_in_cancelled",
]);
const SIGN_IN_PAGE = "/sign-in";
const ACCOUNTS_PAGE = "/settings/sign-in";

export interface ProviderSignInOptions extends AuthContext {
  clock: Clock;
  log: Log;
  auth: Pick<Auth, "forget" | "confirm">;
  admit: AdmitMember;
  /** Address at which people reach this server. */
  baseUrl: () => string;
  github: GithubSettings | undefined;
  oidc: OidcSettings | undefined;
}

/** Response that a browser brings back from a provider. */
export interface ProviderReturn {
  state: string | undefined;
  code: string | undefined;
  error: string | undefined;
  iss: string | undefined;
  /** Secret that the browser was given when it left. */
  flow: string | undefined;
  address: string;
}

export interface Landing {
  path: string;
  opened: OpenedBrowser | undefined;
}

export function createProviderSignIn(options: ProviderSignInOptions) {
  const { store, auth } = options;
  const providers = createProviders(options);
  const lockout = createLockout(options.clock.now);
  const get = (id: string): SignInProvider => {
    const provider = providers.get(id);
    if (!provider) throw notFound("sign-in service");
    return provider;
  };
  const redirectUri = (id: string) => `${options.baseUrl()}/api/auth/${id}/callback`;
  const begin = (id: string, beginning: NewFlow): Promise<StartedFlow> =>
    startFlow(store, get(id), redirectUri(id), beginning);

  return {
    /** Names only, because anybody may ask. */
    offeredProviders: (): SignInOption[] =>
      [...providers.values()].map(({ id, name }) => ({ id, name })),

    /** Starts a sign-in for a browser that follows a link: a failure also leads to a page of ours. */
    async startSignIn(
      id: string,
      next: string | undefined,
      { replaces, pageKey }: Visit,
    ): Promise<StartedFlow | Landing> {
      const provider = get(id);
      return begin(id, { purpose: "sign_in", next, replaces, pageKey }).catch((error: unknown) =>
        landAfter(options.log, error, provider.id, "sign_in"),
      );
    },
    startJoin: async (id: string, invitationToken: string, { replaces, pageKey }: Visit) =>
      begin(id, { purpose: "join", invitationToken, replaces, pageKey }),
    async startLink(
      id: string,
      by: UserPrincipal,
      maker: CallerCredential,
      visit: Visit,
      currentPassword: string | undefined,
    ): Promise<StartedFlow> {
      get(id);
      refuseWithoutBrowser(maker);
      await auth.confirm(by, maker, visit, currentPassword);
      const { userId } = by;
      const { credentialId } = maker;
      return begin(id, { purpose: "link", next: ACCOUNTS_PAGE, userId, credentialId });
    },
    finishSignIn: async (id: string, back: ProviderReturn) =>
      finish(options, lockout, get(id), redirectUri(id), back),

    listLinkedAccounts: (userId: string) => listLinkedAccounts(store, userId),
    async unlinkAccount(by: UserPrincipal, maker: CallerCredential, visit: Visit, id: string) {
      refuseKeys(by, maker);
      const unlinked = await unlinkAccount(options, by.userId, maker, visit, id);
      auth.forget();
      return unlinked;
    },

    /** True if an admin could sign in from another machine by one of these. */
    async hasProviderSignIn(): Promise<boolean> {
      return store.read(async (reader) => {
        for (const { id, issuer } of providers.values())
          if (await hasLinkedAdmin(reader, id, issuer)) return true;
        return false;
      });
    },
  };
}

function createProviders({
  github,
  oidc,
  clock,
}: ProviderSignInOptions): ReadonlyMap<string, SignInProvider> {
  const providers = new Map<string, SignInProvider>();
  if (github) providers.set("github", createGithub(github));
  if (oidc) providers.set("oidc", createOidc(oidc, clock.now));
  return providers;
}

async function finish(
  options: ProviderSignInOptions,
  lockout: Lockout,
  provider: SignInProvider,
  redirectUri: string,
  back: ProviderReturn,
): Promise<Landing> {
  const { store, log, auth } = options;
  let flow: SignInFlowRow | undefined;
  let attempt: Attempt | undefined;
  try {
    flow = await takeFlow(store, provider, back.state, back.flow);
    // Counted only now: anybody can fake a response without a flow, and must not lock others out with it.
    attempt = lockout.attemptFrom(back.address);
    if (back.error !== undefined || back.code === undefined) throw problem("sign_in_cancelled");
    const answer = { code: back.code, iss: back.iss };
    const round = { ...secretsOf(back.flow ?? ""), redirectUri };
    const identity = await provider.identify(answer, round);
    const opened = await applyIdentity(options, provider, identity, flow);
    attempt.succeeded();
    auth.forget();
    return { path: flow.next, opened };
  } catch (error) {
    const code = error instanceof Refusal ? error.code : "";
    if (UNCOUNTED_FAILURES.has(code)) attempt?.giveBack();
    else if (attempt && flow && RECORDED_FAILURES.has(code))
      await recordFailure(options, undefined, attempt);
    return landAfter(log, error, provider.id, flow?.purpose);
  }
}

/** Logs the reason of a failure; the browser gets a code for which its page has a sentence. */
function landAfter(
  log: Log,
  error: unknown,
  provider: string,
  purpose: SignInFlowRow["purpose"] | undefined,
): Landing {
  if (!(error instanceof Refusal)) throw error;
  const { code, cause } = error;
  if (cause instanceof Error)
    log.warn({ provider, code, why: cause.message }, "a sign-in did not work");
  const page = purpose === "link" ? ACCOUNTS_PAGE : SIGN_IN_PAGE;
  const shown = isSignInProblem(code) ? code : "sign_in_failed";
  return { path: `${page}?problem=${shown}`, opened: undefined };
}

/** Requires a browser, because the response comes to a browser. */
function refuseWithoutBrowser({ kind }: CallerCredential): void {
  if (kind === "cookie") return;
  throw new Refusal(
    "forbidden",
    "sign_in_needed",
    "Accounts are linked in a browser. Sign in there, then link the account in the settings.",
  );
}
