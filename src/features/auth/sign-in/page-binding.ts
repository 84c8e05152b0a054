/**
 * Binds a browser session to the origin that it was opened at. Browsers send cookies to every port of a host,
 * so any other server on this machine gets them too. The page keeps a second secret in the storage of its
 * origin, which no other port can read, and sends it with every request; a cookie without it opens nothing.
 * Programs that sign in without a page get an unbound session, which no browser can use.
 */
import { hashSecret } from "../credentials/secrets.ts";

/** The page's side of a request. */
export interface PageClaim {
  /** Sent by the page from its origin's storage. */
  key?: string | undefined;
  /** True when a browser marked the request, so no program can have sent it. */
  isBrowser?: boolean;
}

export function pageHashOf(key: string | undefined): string | null {
  return key === undefined ? null : hashSecret(key);
}

export function isBoundTo(pageHash: string | null, { key, isBrowser }: PageClaim): boolean {
  // An attacker could plant an unbound cookie of their own in somebody's browser.
  if (pageHash === null) return key === undefined && isBrowser !== true;
  return pageHashOf(key) === pageHash;
}
