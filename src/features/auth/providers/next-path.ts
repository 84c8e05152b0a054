/** Where a browser goes after it has signed in: a page of ours, or the first one. */
const MAX_CHARS = 500;
const NOWHERE = "http://own.invalid";

/** Whatever a link said: nobody is sent to another place, and nobody is refused for it. */
export function nextPath(asked: string | undefined): string {
  const isPath = asked !== undefined && asked.length <= MAX_CHARS && /^\/(?![/\\])/.test(asked);
  // Browsers take a backslash for a slash, and leave out tabs and line breaks.
  if (!isPath || /[\\\p{Cc}]/u.test(asked) || !URL.canParse(asked, NOWHERE)) return "/";
  const { origin, pathname, search, hash } = new URL(asked, NOWHERE);
  // What answers programs is no page; `//` may come of dots that were resolved.
  const isPage = origin === NOWHERE && !/^\/(\/|api(\/|$)|preview(\/|$))/.test(pathname);
  return isPage ? pathname + search + hash : "/";
}
