/** Releases the children of an archived session, so that none continues under it. */

import { Refusal } from "#base/refusal.ts";
import type { KernelEvent, SessionWriter, Work } from "#engine/index.ts";
import { endSession, listChildren } from "#engine/sessions/index.ts";
import { isOrchestrator } from "#protocol/sessions.ts";
import { findLink } from "../queries.ts";
import { endChild } from "./end-child.ts";
import { isEnded } from "./lifecycle.ts";
import { detach } from "./link.ts";

type Archiving = Extract<KernelEvent, { type: "session_archiving" }>;

/** Locks the children after their parent and in the order of their ids, as everywhere. */
export async function releaseChildren(
  work: Work,
  { session, force, children }: Archiving,
): Promise<void> {
  // An orchestrator comes back with the next prompt and keeps its children.
  if (isOrchestrator(session.row)) return;
  // Children of other sessions are runs that report to them, which belong to a program.
  const fate = children ?? (session.row.role === "supervisor" ? "end" : "detach");
  const live = (await listChildren(work.tx, session.row.id)).filter((row) => !isEnded(row));
  for (const id of live.map((row) => row.id).sort()) {
    const child = await work.session(id);
    if (!child || isEnded(child.row)) continue;
    if (fate === "detach") await detach(work, child);
    else await endWithParent(work, child, force);
  }
}

async function endWithParent(work: Work, child: SessionWriter, force: boolean): Promise<void> {
  if (child.row.run_state !== null && !force) {
    throw new Refusal(
      "conflict",
      "session_busy",
      `Its child ${child.row.id} is working. Use force to end it too, or children=detach to let it continue on its own.`,
    );
  }
  const link = await findLink(work.tx, child.row.id);
  if (link) await endChild(work, child, link, "archived");
  else await endSession(work, child, { to: "archived", force: true });
}
