/** Reads sessions: one, a page of them, a transcript, a piece of the log. */
import { notFound } from "#base/refusal.ts";
import type { SessionEvent } from "#protocol/events.ts";
import type { Page } from "#protocol/page.ts";
import type { Entry, Lifecycle, Session } from "#protocol/sessions.ts";
import { type CursorPosition, decodeCursor, encodeCursor, pageOf } from "../requests/cursor.ts";
import {
  type Action,
  may,
  type Principal,
  requireMay,
  sessionResource,
} from "../requests/principal.ts";
import type { SessionRow } from "../schema.ts";
import type { Engine } from "../work.ts";
import { describeSession, describeSessions } from "./describe-session.ts";
import { listEntries, listEventSizes, listEvents } from "./log/event-queries.ts";
import { entryView, eventView } from "./log/event-view.ts";
import { findSession, type KeptFilter, listSessions, type SessionFilter } from "./queries.ts";
import { readContext } from "./read-context.ts";
import { requireReadable, type SessionAccess } from "./session-access.ts";
import { treeTop } from "./states.ts";

export interface SessionQuery {
  lifecycle?: readonly Lifecycle[] | undefined;
  /** Activities or statuses; any of them matches. */
  status?: readonly string[] | undefined;
  kind?: string | undefined;
  parent?: string | undefined;
  persona?: string | undefined;
  /** Repository, by full name or address. */
  repo?: string | undefined;
  q?: string | undefined;
  cursor?: string | undefined;
  limit: number;
}

export interface TranscriptQuery {
  thread?: string | undefined;
  before?: number | undefined;
  after?: number | undefined;
  limit: number;
}

const LIST = "sessions";
/** Pages that a filter on derived states reads before it returns a shorter page. */
const MAX_SCANNED_PAGES = 20;

export function createSessionReads(engine: Engine) {
  const { store, clock } = engine;
  const readable = (principal: Principal, id: string): Promise<SessionAccess> =>
    store.read(async (reader) =>
      requireReadable(reader, principal, await findSession(reader, id), clock.now()),
    );

  return {
    get: (principal: Principal, id: string): Promise<Session> =>
      store.read(async (reader) => {
        const found = await findSession(reader, id);
        const { session } = await requireReadable(reader, principal, found, clock.now());
        return describeSession(readContext(engine, reader), session);
      }),

    async list(principal: Principal, query: SessionQuery): Promise<Page<Session>> {
      requireMay(principal, "session.read");
      const found: Session[] = [];
      const repos = await addressesOf(engine, principal, query.repo);
      const kept = keptFilters(engine, { persona: query.persona });
      if (!kept) return { items: [], next: null };
      let before = decodeCursor(LIST, query.cursor);
      for (let page = 0; page < MAX_SCANNED_PAGES && found.length <= query.limit; page++) {
        const from = before;
        const { rows, sessions } = await store.read(async (reader) => {
          const filter = { ...filterOf(principal, query, from), repos, kept };
          const rows = await listSessions(reader, filter);
          return { rows, sessions: await describeSessions(readContext(engine, reader), rows) };
        });
        found.push(...sessions.filter((session) => matches(session, query.status)));
        const last = rows.at(-1);
        if (!last || rows.length <= query.limit) before = undefined;
        else before = positionOf(last);
        if (!before) break;
      }
      if (found.length > query.limit || !before) {
        return pageOf(LIST, found, query.limit, positionOfSession, (session) => session);
      }
      return { items: found, next: encodeCursor(LIST, before) };
    },

    async transcript(
      principal: Principal,
      id: string,
      query: TranscriptQuery,
    ): Promise<Page<Entry>> {
      await readable(principal, id);
      const { limit, ...place } = query;
      const rows = await store.read((reader) =>
        listEntries(reader, { sessionId: id, limit: limit + 1, ...place }),
      );
      const forwards = query.after !== undefined;
      const more = rows.length > limit;
      const shown = forwards ? rows.slice(0, limit) : rows.slice(more ? 1 : 0);
      const edge = forwards ? shown.at(-1) : shown[0];
      return { items: shown.map(entryView), next: more && edge ? String(edge.seq) : null };
    },

    /**
     * Checks read access for the live surfaces, which then follow the log: returns its end, and the
     * time when they have to stop following; null when only the credential ends it.
     */
    async authorizeRead(
      principal: Principal,
      id: string,
    ): Promise<{ lastSeq: number; until: number | null }> {
      const { session, until } = await readable(principal, id);
      return { lastSeq: session.last_seq, until };
    },

    /** Id of the session at the top of a tree, for live topics of the whole tree. */
    async topFor(principal: Principal, id: string, action: Action): Promise<string> {
      const session = await store.read((reader) => findSession(reader, id));
      if (!session || !may(principal, action, sessionResource(session))) throw notFound("session");
      return treeTop(session);
    },

    async events(id: string, after: number, limit: number): Promise<SessionEvent[]> {
      return (await store.read((reader) => listEvents(reader, id, after, limit))).map(eventView);
    },

    /**
     * Next piece of a log: as many events as fit `maxBytes`, and at least one. `more` is true when
     * the log continues after them.
     */
    async eventPage(
      id: string,
      after: number,
      { limit, maxBytes }: { limit: number; maxBytes: number },
    ): Promise<{ events: SessionEvent[]; more: boolean }> {
      const { rows, more } = await store.read(async (reader) => {
        const sizes = await listEventSizes(reader, id, after, limit + 1);
        if (sizes.length === 0) return { rows: [], more: false };
        const count = Math.min(limit, countWithin(sizes, maxBytes));
        return { rows: await listEvents(reader, id, after, count), more: count < sizes.length };
      });
      return { events: rows.map(eventView), more };
    },
  };
}

async function addressesOf(
  { store, listRepoAddresses }: Engine,
  { orgId }: Principal,
  repo: string | undefined,
): Promise<readonly string[] | undefined> {
  if (repo === undefined || !listRepoAddresses) return repo === undefined ? undefined : [repo];
  return store.read((reader) => listRepoAddresses(reader, orgId, repo));
}

/** Filters by fields that features keep; undefined when a field is wanted that no feature keeps. */
function keptFilters(
  { sessionFilters }: Engine,
  wanted: Readonly<Record<string, string | undefined>>,
): KeptFilter[] | undefined {
  const filters: KeptFilter[] = [];
  for (const [name, value] of Object.entries(wanted)) {
    if (value === undefined) continue;
    const place = sessionFilters.get(name);
    if (!place) return undefined;
    filters.push({ ...place, value });
  }
  return filters;
}

/** Counts the first items that stay within the bound together; the first always counts. */
function countWithin(sizes: readonly number[], bound: number): number {
  let sum = 0;
  const end = sizes.findIndex((size, at) => {
    sum += size;
    return at > 0 && sum > bound;
  });
  return end < 0 ? sizes.length : end;
}

function filterOf(
  principal: Principal,
  query: SessionQuery,
  before: CursorPosition | undefined,
): SessionFilter {
  const { lifecycle, kind, parent, q, limit } = query;
  return {
    lifecycle,
    kind,
    parent,
    q,
    orgId: principal.orgId,
    ownerId: principal.kind === "user" ? principal.userId : null,
    before,
    limit: limit + 1,
  };
}

function matches({ activity, status }: Session, wanted: readonly string[] | undefined): boolean {
  return !wanted || wanted.includes(activity) || wanted.includes(status);
}

function positionOfSession({ createdAt, id }: Session): CursorPosition {
  return { at: Date.parse(createdAt), id };
}

function positionOf(row: SessionRow): CursorPosition {
  return { at: row.created_at, id: row.id };
}
