/**
 * Read access to a session: whoever `may` allows, and an admin to whom it was opened, as long as
 * that lasts and they are an admin. Every read of a session asks here; every change asks `may`.
 */
import { notFound } from "#base/refusal.ts";
import type { Reader } from "#base/store/index.ts";
import { may, type Principal, sessionResource } from "../requests/principal.ts";
import type { SessionRow } from "../schema.ts";
import { findOpenUntil } from "./log/open-queries.ts";

export interface SessionAccess {
  session: SessionRow;
  /** End of the access that was opened for the caller; null when the session is their own. */
  until: number | null;
}

/** Refuses a missing session and somebody else's alike; `what` names it in the refusal. */
export async function requireReadable(
  reader: Reader,
  principal: Principal,
  session: SessionRow | undefined,
  now: number,
  what = "session",
): Promise<SessionAccess> {
  if (!session) throw notFound(what);
  if (may(principal, "session.read", sessionResource(session))) return { session, until: null };
  const until = await openUntil(reader, principal, session, now);
  if (until === undefined) throw notFound(what);
  return { session, until };
}

/** Both rights are needed: a key that reads no sessions reads none of other people either. */
async function openUntil(
  reader: Reader,
  principal: Principal,
  { id: sessionId, org_id: orgId }: SessionRow,
  now: number,
): Promise<number | undefined> {
  if (principal.kind !== "user") return undefined;
  const mayAtAll =
    may(principal, "session.read", { orgId }) && may(principal, "session.oversee", { orgId });
  if (!mayAtAll) return undefined;
  return findOpenUntil(reader, { sessionId, userId: principal.userId, now });
}
