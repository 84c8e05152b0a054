/**
 * Everybody's sessions as admins see them: that they exist, what they do and what they cost. The
 * conversation of one is shown only after it was opened: with a reason, for a while, and with an
 * entry in its own log for its owner.
 */
import { notFound, Refusal } from "#base/refusal.ts";
import { cleanText } from "#base/text/clean-text.ts";
import type { Page } from "#protocol/page.ts";
import type { Lifecycle, OverseenSession, Session, SessionKind } from "#protocol/sessions.ts";
import { decodeCursor, pageOf } from "../requests/cursor.ts";
import { type Principal, principalKey, requireMay } from "../requests/principal.ts";
import { command, type Engine } from "../work.ts";
import { describeSession, describeSessions } from "./describe-session.ts";
import { isoTime } from "./log/event-view.ts";
import { insertOpen, listOpenTo } from "./log/open-queries.ts";
import { listSessions } from "./queries.ts";
import { readContext } from "./read-context.ts";

const OPEN_MS = 60 * 60_000;
const LIST = "overseen";

type UserPrincipal = Extract<Principal, { kind: "user" }>;

export interface OverseeQuery {
  userId?: string | undefined;
  kind?: SessionKind | undefined;
  lifecycle?: readonly Lifecycle[] | undefined;
  cursor?: string | undefined;
  limit: number;
}

export async function listOverseen(
  engine: Engine,
  admin: UserPrincipal,
  { userId, kind, lifecycle, cursor, limit }: OverseeQuery,
): Promise<Page<OverseenSession>> {
  requireMay(admin, "session.oversee");
  const before = decodeCursor(LIST, cursor);
  const { store, clock } = engine;
  return store.read(async (reader) => {
    const rows = await listSessions(reader, {
      orgId: admin.orgId,
      ownerId: userId ?? null,
      kind,
      lifecycle,
      before,
      limit: limit + 1,
    });
    const open = await listOpenTo(reader, admin.userId, clock.now());
    const sessions = await describeSessions(readContext(engine, reader), rows);
    const place = ({ createdAt, id }: Session) => ({ at: Date.parse(createdAt), id });
    return pageOf(LIST, sessions, limit, place, (one) => overseenView(one, open.get(one.id)));
  });
}

/** Opens a session for an admin; returns the session as it is then shown. */
export function openSession(
  engine: Engine,
  admin: UserPrincipal,
  id: string,
  reason: string,
): Promise<OverseenSession> {
  requireMay(admin, "session.oversee");
  requireMay(admin, "session.read");
  const entryId = engine.ids.mint("ent");
  const why = cleanText(reason).trim();
  return command(engine, async (work) => {
    const session = await work.session(id);
    if (session?.row.org_id !== admin.orgId) throw notFound("session");
    const { row } = session;
    if (row.owner_id === admin.userId)
      throw new Refusal(
        "conflict",
        "session_is_yours",
        "This session is yours. Read it like your other sessions.",
      );
    const until = work.now + OPEN_MS;
    await insertOpen(work.tx, {
      id: entryId,
      org_id: row.org_id,
      session_id: row.id,
      user_id: admin.userId,
      reason: why,
      created_at: work.now,
      expires_at: until,
    });
    session.record({
      type: "notice",
      // Without a thread: people read the entry, the agent is not notified.
      thread: null,
      entryId,
      kind: "notice",
      role: "system",
      content: [
        {
          type: "text",
          text: `${admin.name}, an admin, can read this session until ${isoTime(until)}. Their reason: ${why}`,
        },
      ],
      reason: "opened_by_admin",
      data: { userId: admin.userId, until: isoTime(until) },
    });
    const by = principalKey(admin);
    await work.emit({ type: "session_opened", session, by, reasonChars: why.length });
    return overseenView(await describeSession(work.context, row), until);
  });
}

function overseenView(view: Session, until: number | undefined): OverseenSession {
  const { id, ownerId, kind, isOrchestrator, parentSessionId, lifecycle, activity, status } = view;
  const { cost, createdAt, updatedAt } = view;
  return {
    id,
    ownerId,
    kind,
    isOrchestrator,
    parentSessionId,
    lifecycle,
    activity,
    status,
    cost,
    createdAt,
    updatedAt,
    openUntil: until === undefined ? null : isoTime(until),
  };
}
