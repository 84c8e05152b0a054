/**
 * Typed API client of the page: with the page key, and with the cookie that the browser adds. Everything
 * it throws is an `ApiError`: the server's refusal, or `network` when no answer came (then the same call
 * may safely be repeated with the same idempotency key or dispatch id).
 */
import {
  ApiError,
  createClient,
  type FetchTransportOptions,
  fetchFile as fetchFileFrom,
  fetchTransport,
  isRecord,
} from "#client/index.ts";
import { PAGE_KEY_HEADER, PERSON_HEADER, SIGNED_OUT } from "#protocol/page-key.ts";
import { pageKey } from "./page-key.ts";

export { ApiError, isRecord };

const SERVER: FetchTransportOptions = {
  baseUrl: "",
  headers: () => ({ [PAGE_KEY_HEADER]: pageKey() }),
  fetch: (url, init) => fetch(url, { ...init, credentials: "same-origin" }),
};

export const api = createClient(fetchTransport(SERVER));

/** Headers that name the author of a request: the server refuses it under another person's sign-in. */
export function writtenBy(personId: string): Record<string, string> {
  return { [PERSON_HEADER]: personId };
}

/** Fetches a file behind the API. A plain link cannot: it carries no page key. */
export function fetchFile(path: string): Promise<Blob> {
  return fetchFileFrom(SERVER, path);
}

/** True if no answer came or the server was away: the call may have taken effect. */
export function isUncertain(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 0 || error.status >= 500);
}

/** True if nobody is signed in: after a sign-out, or because the sign-in has expired. */
export function isUnauthenticated(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401;
}

/** True if the person was signed out; an expired sign-in does not count. */
export function isSignOut(error: unknown): boolean {
  if (!(error instanceof ApiError && isUnauthenticated(error))) return false;
  return error.details.some(({ path }) => path === SIGNED_OUT);
}

/** Text to show a person for anything that may have been thrown. */
export function messageOf(error: unknown): string {
  if (error instanceof ApiError && error.details.length > 0) {
    const details = error.details.map((detail) => `${detail.path}: ${detail.message}`).join("; ");
    return `${error.message} (${details})`;
  }
  return error instanceof Error ? error.message : String(error);
}
