/** Sign-in and sign-out, and the addresses of these pages. */
import { ROUTE_TABLE, routePath } from "#client/index.ts";
import type { JoinRequest, SignInRequest } from "#features/auth/contract.ts";
import { isSignInProblem, SIGN_IN_PROBLEMS } from "#protocol/sign-in.ts";
import { api } from "./api-client.ts";
import { dropPageKey } from "./page-key.ts";
import { leave, noteSignedInHere } from "./tab-person.ts";

export async function signInWith(secret: SignInRequest): Promise<void> {
  await api.auth.signIn({ body: secret });
  noteSignedInHere();
}

export async function acceptInvitation(
  token: string,
  person: Pick<JoinRequest, "name" | "email" | "password">,
): Promise<void> {
  await api.auth.acceptInvitation({ token, body: { ...person, ...browserPlace() } });
  noteSignedInHere();
}

export async function signOutHere(): Promise<void> {
  await api.auth.signOut();
  dropPageKey();
  leave();
}

/** Time zone and language of this browser, which agents use for times. */
export function browserPlace(): { timezone: string; locale: string } {
  const { timeZone, locale } = new Intl.DateTimeFormat().resolvedOptions();
  return { timezone: timeZone, locale };
}

/** Address of the link to a service; a click starts with `api.auth.startSignIn` instead. */
export function startUrl(provider: string, next: string): string {
  return routePath(ROUTE_TABLE.auth.redirectToProvider, { provider, query: { next } });
}

/** Returns the problem that an address names, in our own words only. */
export function problemIn(search: string): string | null {
  const code = new URLSearchParams(search).get("problem");
  if (code === null) return null;
  return SIGN_IN_PROBLEMS[isSignInProblem(code) ? code : "sign_in_failed"];
}
