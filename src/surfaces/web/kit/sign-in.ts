/** Calls about signing in through somebody else's service. */
import type { LinkedAccount, OfferedProvider } from "#features/auth/contract.ts";
import type { Page } from "#protocol/page.ts";
import { isSignInProblem, SIGN_IN_PROBLEMS } from "#protocol/sign-in.ts";
import { callApi } from "./api-client.ts";

const provider = (id: string) => `/api/auth/${encodeURIComponent(id)}`;

export const signInApi = {
  listProviders: async (signal: AbortSignal) =>
    (await callApi<Page<OfferedProvider>>("/api/auth/providers", { signal })).items,
  startSignIn: (id: string, next: string) =>
    callApi<{ url: string }>(`${provider(id)}/start`, { method: "POST", body: { next } }),
  startJoin: (id: string, invitation: string) =>
    callApi<{ url: string }>(`${provider(id)}/start`, { method: "POST", body: { invitation } }),
  startLink: (id: string, currentPassword: string | undefined) =>
    callApi<{ url: string }>(`${provider(id)}/link`, { method: "POST", body: { currentPassword } }),
  listAccounts: async (signal: AbortSignal) =>
    (await callApi<Page<LinkedAccount>>("/api/me/accounts", { signal })).items,
  unlinkAccount: (id: string) =>
    callApi<unknown>(`/api/me/accounts/${encodeURIComponent(id)}`, { method: "DELETE" }),
};

/** Address behind the link to a service; a click begins with `startSignIn` instead. */
export function startUrl(id: string, next: string): string {
  return `${provider(id)}/start?${new URLSearchParams({ next })}`;
}

/** What an address says went wrong, in our own words only. */
export function problemIn(search: string): string | null {
  const code = new URLSearchParams(search).get("problem");
  if (code === null) return null;
  return SIGN_IN_PROBLEMS[isSignInProblem(code) ? code : "sign_in_failed"];
}
