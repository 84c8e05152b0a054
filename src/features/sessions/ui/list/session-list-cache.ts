/** Updates of a cached session list after one session changed. Pure. */
import type { InfiniteData } from "@tanstack/react-query";
import type { Page } from "#protocol/page.ts";
import type { Session } from "#protocol/sessions.ts";
import type { SessionFilter } from "#surfaces/web/kit/api/query-keys.ts";
import { matchesFilter } from "./list-search.ts";

export type SessionPages = InfiniteData<Page<Session>, unknown>;

export function listedSessions(pages: SessionPages | undefined): Session[] {
  const byId = new Map<string, Session>();
  for (const page of pages?.pages ?? []) {
    for (const session of page.items) if (!byId.has(session.id)) byId.set(session.id, session);
  }
  return [...byId.values()];
}

/** Returns the list with this session updated, or undefined when the list must be read again. */
export function placeSession(
  pages: SessionPages,
  filter: SessionFilter,
  session: Session,
): SessionPages | undefined {
  const isListed = pages.pages.some((page) => page.items.some((item) => item.id === session.id));
  const belongs = matchesFilter(session, filter);
  if (!isListed && belongs === true && isNewest(pages, session)) return putFirst(pages, session);
  if (!isListed) return belongs === false || isOnLaterPage(pages, session) ? pages : undefined;
  if (belongs === false) return removeSession(pages, session.id);
  return mapItems(pages, (items) => items.map((item) => (item.id === session.id ? session : item)));
}

/** True if the session is newer than all listed ones: lists start with the newest, so its place is known. */
function isNewest(pages: SessionPages, session: Session): boolean {
  const first = pages.pages.find(({ items }) => items.length > 0)?.items[0];
  return first !== undefined && session.createdAt > first.createdAt;
}

/** True if the session is older than everything loaded: a later page will bring it. */
function isOnLaterPage({ pages }: SessionPages, session: Session): boolean {
  const last = pages.at(-1);
  const oldest = last?.items.at(-1);
  return last?.next != null && oldest !== undefined && session.createdAt < oldest.createdAt;
}

function putFirst({ pages, ...rest }: SessionPages, session: Session): SessionPages {
  const [first, ...others] = pages;
  return first
    ? { ...rest, pages: [{ ...first, items: [session, ...first.items] }, ...others] }
    : { ...rest, pages };
}

export function removeSession(pages: SessionPages, id: string): SessionPages {
  return mapItems(pages, (items) => items.filter((item) => item.id !== id));
}

function mapItems(pages: SessionPages, change: (items: Session[]) => Session[]): SessionPages {
  return { ...pages, pages: pages.pages.map((page) => ({ ...page, items: change(page.items) })) };
}
