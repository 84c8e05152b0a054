/**
 * Transport of a page's origin secret: a header on requests, and a subprotocol on sockets, which
 * cannot have headers of their own.
 */
export const PAGE_KEY_HEADER = "x-muster-page";
/** Header with the person whose words a request carries; another person's sign-in may not send them. */
export const PERSON_HEADER = "x-muster-person";
/**
 * Path in the detail of a 401 when a sign-out ended the sign-in, rather than time: the page then
 * forgets what it has stored.
 */
export const SIGNED_OUT = "signedOut";
/** Key of the secret in the page's `localStorage`. */
export const PAGE_KEY_STORAGE = "muster.page-key";
export const LIVE_PROTOCOL = "muster.live";
const PAGE_PROTOCOL = "muster.page.";
const PAGE_KEY = /^[\w-]{32,128}$/;

/** Subprotocols of the page's socket; the server answers with the first. */
export function liveProtocols(pageKey: string): string[] {
  return [LIVE_PROTOCOL, PAGE_PROTOCOL + pageKey];
}

/**
 * Reads the key from a header, or from subprotocols; undefined when there is none that could be
 * one.
 */
export function pageKeyIn(
  header: string | undefined,
  protocols: string | undefined,
): string | undefined {
  const offered = (protocols ?? "").split(",").map((name) => name.trim());
  const said = offered.find((name) => name.startsWith(PAGE_PROTOCOL));
  const key = header ?? said?.slice(PAGE_PROTOCOL.length);
  return key !== undefined && PAGE_KEY.test(key) ? key : undefined;
}
