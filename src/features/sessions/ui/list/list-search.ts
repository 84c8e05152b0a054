/** List filter in the address: a view and search words. */
import type { Session } from "#protocol/sessions.ts";
import type { SessionFilter } from "#surfaces/web/kit/api/query-keys.ts";

export const VIEWS = {
  open: "Open",
  working: "Working",
  needs_you: "Needs you",
  failed: "Failed",
  asleep: "Asleep",
  archived: "Archived",
  all: "All",
} as const;
export type View = keyof typeof VIEWS;

export interface ListSearch {
  view?: View;
  q?: string;
}

export function readListSearch(search: Record<string, unknown>): ListSearch {
  const read: ListSearch = {};
  if (isView(search.view) && search.view !== "open") read.view = search.view;
  if (typeof search.q === "string" && search.q !== "") read.q = search.q;
  return read;
}

/** Lifecycles of sessions that are neither archived nor terminated. */
const OPEN_LIFECYCLES = "active,hibernated";

export function openChildrenOf(parentId: string): SessionFilter {
  return { lifecycle: OPEN_LIFECYCLES, parent: parentId };
}

export function filterFor(search: ListSearch): SessionFilter {
  const q = search.q?.trim() || undefined;
  switch (search.view ?? "open") {
    case "working":
      return { status: "working", q };
    case "needs_you":
      return { status: "needs_you", q };
    case "failed":
      return { status: "failed", q };
    case "asleep":
      return { lifecycle: "hibernated", q };
    case "archived":
      return { lifecycle: "archived", q };
    case "all":
      return { q };
    default:
      return { lifecycle: OPEN_LIFECYCLES, q };
  }
}

/** Returns undefined when only the server can tell. */
export function matchesFilter(session: Session, filter: SessionFilter): boolean | undefined {
  const lifecycles = filter.lifecycle?.split(",");
  if (lifecycles && !lifecycles.includes(session.lifecycle)) return false;
  if (filter.parent !== undefined && filter.parent !== session.parentSessionId) return false;
  const isStatus = session.activity === filter.status || session.status === filter.status;
  if (filter.status !== undefined && !isStatus) return false;
  return filter.q === undefined ? true : undefined;
}

function isView(value: unknown): value is View {
  return typeof value === "string" && Object.hasOwn(VIEWS, value);
}
