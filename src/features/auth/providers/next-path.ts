/** Page to show after sign-in: a page of ours, or the first one. */
const MAX_CHARS = 500;
const PLACEHOLDER_ORIGIN = "http://own.invalid";

/** Sanitises the path of a link: no link sends a browser to another host, and a bad one is not refused. */
export function nextPath(given: string | undefined): string {
  const isPath = given !== undefined && given.length <= MAX_CHARS && /^\/(?![/\\])/.test(given);
  // Browsers treat a backslash as a slash, and skip tabs and line breaks.
  if (!isPath || /[\\\p{Cc}]/u.test(given) || !URL.canParse(given, PLACEHOLDER_ORIGIN)) return "/";
  const { origin, pathname, search, hash } = new URL(given, PLACEHOLDER_ORIGIN);
  // Paths of the API are no pages; `//` may result from resolved dots.
  const isPage = origin === PLACEHOLDER_ORIGIN && !/^\/(\/|api(\/|$)|preview(\/|$))/.test(pathname);
  return isPage ? pathname + search + hash : "/";
}
