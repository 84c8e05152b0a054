/**
 * Ceilings on the number of awake sessions: of a person, counting the sessions they began
 * themselves, and of an organisation. A new session counts, and so does one that wakes. At a
 * ceiling, the person's session that was idle longest is put to sleep, with an entry that says so;
 * only when all of them are at work is the new one refused. Sessions that the platform wakes make
 * no room: putting a session to sleep ends its background processes, which is worth it only to a
 * person who is present.
 */

import { Refusal } from "#base/refusal.ts";
import type { SessionRow } from "#engine/schema.ts";
import type { SessionWriter, Work } from "#engine/work.ts";
import { isOrchestrator } from "#protocol/sessions.ts";
import { listAwakeInOrg, listAwakeOf, lockCeilings, lockIdle } from "./ceiling-queries.ts";
import { setLifecycle } from "./set-lifecycle.ts";

/** Limit of the sessions looked at when one must be put to sleep. */
const MAX_LOOKED_AT = 10;
const MADE_ROOM = "made_room";

export type Payer = Pick<SessionRow, "org_id" | "owner_id" | "kind" | "parent_session_id">;

/**
 * Refusal when there is no room; null when there is. With `mayMakeRoom` another session of the same
 * person may have been put to sleep for it.
 */
export async function findRoom(
  work: Work,
  payer: Payer,
  { mayMakeRoom }: { mayMakeRoom: boolean },
): Promise<Refusal | null> {
  const { org_id: orgId, owner_id: ownerId, kind, parent_session_id } = payer;
  // Each person has one orchestrator, through which they reach everything else.
  if (isOrchestrator({ kind })) return null;
  const { activePerOrg, activePerUser } = work.defaults.limits;
  await lockCeilings(work.tx, orgId);
  const inOrg = await listAwakeInOrg(work.tx, { orgId, limit: activePerOrg + MAX_LOOKED_AT });
  const isMade = (limit: number, withChildren: boolean) =>
    mayMakeRoom && makeRoom(work, payer, limit, withChildren);
  if (countAwake(work, inOrg) >= activePerOrg && !(await isMade(activePerOrg, true)))
    return limitReached(
      `The organisation has ${activePerOrg} active sessions, and none of yours is idle.`,
      "MUSTER_MAX_ORG_SESSIONS",
    );
  if (ownerId === null || parent_session_id !== null) return null;
  const limit = activePerUser + MAX_LOOKED_AT;
  const own = await listAwakeOf(work.tx, { orgId, ownerId, limit });
  if (countAwake(work, own) < activePerUser) return null;
  if (await isMade(activePerUser, false)) return null;
  return limitReached(
    `You have ${activePerUser} active sessions, and all of them are working.`,
    "MUSTER_MAX_SESSIONS",
  );
}

/** Leaves out sessions that this command has put to sleep or ended already. */
function countAwake(work: Work, ids: readonly string[]): number {
  return ids.filter((id) => (work.known(id)?.row.lifecycle ?? "active") === "active").length;
}

async function makeRoom(
  work: Work,
  { org_id: orgId, owner_id: ownerId }: Payer,
  limit: number,
  withChildren: boolean,
): Promise<boolean> {
  if (ownerId === null) return false;
  const wanted = { orgId, ownerId, limit: MAX_LOOKED_AT };
  for (const id of await lockIdle(work.tx, wanted, { withChildren })) {
    // A session that this command holds is not idle, whatever the database says.
    if (work.known(id)) continue;
    const session = await work.session(id);
    if (session?.row.lifecycle !== "active") continue;
    await setLifecycle(work, session, "sleep", MADE_ROOM);
    appendAsleepNotice(work, session, limit);
    return true;
  }
  return false;
}

function appendAsleepNotice(work: Work, session: SessionWriter, limit: number): void {
  session.record({
    type: "notice",
    // Without a thread: people read the entry, the agent is not notified.
    thread: null,
    entryId: work.ids.mint("ent"),
    kind: "notice",
    role: "system",
    content: [
      {
        type: "text",
        text: `Put to sleep to make room for another session: ${limit} may be active at once, and this one was idle longest. Its conversation and files are kept, and the next message wakes it. Its background processes have ended.`,
      },
    ],
    reason: MADE_ROOM,
  });
}

function limitReached(what: string, setting: string): Refusal {
  return new Refusal(
    "limit",
    "session_limit_reached",
    `${what} Stop, archive or hibernate one, or raise ${setting}.`,
    { retryAfterMs: 60_000 },
  );
}
