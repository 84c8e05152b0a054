import { expect, test } from "vitest";
import type { Session } from "#protocol/sessions.ts";
import { filterFor, matchesFilter, openChildrenOf, readListSearch } from "./list-search.ts";
import { listedSessions, placeSession, type SessionPages } from "./session-list-cache.ts";

const session = (id: string, fields: Partial<Session> = {}) =>
  ({
    id,
    lifecycle: "active",
    activity: "idle",
    status: "finished",
    createdAt: "2026-03-01T10:00:00.000Z",
    ...fields,
  }) as Session;
const pagesOf = (...ids: string[]): SessionPages => ({
  pages: [{ items: ids.map((id) => session(id)), next: null }],
  pageParams: [undefined],
});

test("a listed session is replaced in its place", () => {
  const placed = placeSession(pagesOf("a", "b"), {}, session("b", { activity: "working" }));
  expect(placed && listedSessions(placed).map((item) => item.activity)).toEqual([
    "idle",
    "working",
  ]);
});

test("a session that no longer matches leaves; one that never did changes nothing", () => {
  const archived = session("b", { lifecycle: "archived" });
  const placed = placeSession(pagesOf("a", "b"), { lifecycle: "active" }, archived);
  expect(placed && listedSessions(placed).map((item) => item.id)).toEqual(["a"]);
  const pages = pagesOf("a");
  expect(placeSession(pages, { lifecycle: "active" }, archived)).toBe(pages);
});

test("a session that is newer than all that are listed stands first, without asking again", () => {
  const fresh = session("b", { createdAt: "2026-03-02T10:00:00.000Z" });
  const placed = placeSession(pagesOf("a"), {}, fresh);
  expect(placed && listedSessions(placed).map((item) => item.id)).toEqual(["b", "a"]);
});

test("a session that is not listed and may belong there asks for the list again", () => {
  expect(placeSession(pagesOf("a"), {}, session("b"))).toBeUndefined();
  expect(placeSession(pagesOf(), {}, session("b"))).toBeUndefined();
  expect(placeSession(pagesOf("a"), { q: "words" }, session("b"))).toBeUndefined();
});

test("a session on two pages is shown once", () => {
  const pages = pagesOf("a");
  pages.pages.push({ items: [session("a"), session("b")], next: null });
  expect(listedSessions(pages).map((item) => item.id)).toEqual(["a", "b"]);
});

test("the address says what is listed, and nonsense in it is ignored", () => {
  expect(readListSearch({ view: "archived", q: "x", other: 1 })).toEqual({
    view: "archived",
    q: "x",
  });
  expect(readListSearch({ view: "toString", q: 3 })).toEqual({});
  expect(filterFor({ view: "archived", q: " x " })).toEqual({ lifecycle: "archived", q: "x" });
  expect(filterFor({ view: "needs_you" })).toEqual({ status: "needs_you", q: undefined });
  expect(filterFor({ view: "all" })).toEqual({ q: undefined });
});

test("the open view requests no archived sessions, so no page is full of them", () => {
  const open = filterFor({});
  expect(open.lifecycle).toBe("active,hibernated");
  expect(matchesFilter(session("a", { lifecycle: "archived" }), open)).toBe(false);
  expect(matchesFilter(session("a", { lifecycle: "hibernated" }), open)).toBe(true);
});

test("children belong to the list of their parent alone", () => {
  const children = openChildrenOf("p");
  expect(matchesFilter(session("a", { parentSessionId: "p" }), children)).toBe(true);
  expect(matchesFilter(session("a", { parentSessionId: "other" }), children)).toBe(false);
});

test("a change of a session on a page that was not read yet reads nothing again", () => {
  const pages: SessionPages = {
    pages: [{ items: [session("a")], next: "cursor" }],
    pageParams: [undefined],
  };
  const older = session("b", { createdAt: "2026-02-01T10:00:00.000Z" });
  expect(placeSession(pages, {}, older)).toBe(pages);
});
