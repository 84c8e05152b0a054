/** Page to show after sign-in: a page of ours, or the first one. */
const MAX_CHARS = 500;
const NOWHERE = "http://own.invalid";

/** Sanitises the path of a link: no link sends a browser to another host, and a bad one is not refused. */
export function nextPath(asked: string | undefined): string {
  const isPath = asked !== undefined && asked.length <= MAX_CHARS && /^\/(?![/\\])/.test(asked);
  // Browsers treat a backslash as a slash, and skip tabs and line breaks.
  if (!isPath || /[\\\p{Cc}]/u.test(asked) || !URL.canParse(asked, NOWHERE)) return "/";
  const { origin, pathname, search, hash } = new URL(asked, NOWHERE);
  // Paths of the API are no pages; `//` may result from resolved dots.
  const isPage = origin === NOWHERE && !/^\/(\/|api(\/|$)|preview(\/|$))/.test(pathname);
  return isPage ? pathname + search + hash : "/";
}
