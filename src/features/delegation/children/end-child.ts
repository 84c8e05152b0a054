/**
 * Actions of a parent on its child: end it, interrupt its turn, detach it. The parent is not
 * notified of its own actions.
 */
import type { SessionWriter, Work } from "#engine/index.ts";
import { listLiveRuns } from "#engine/runs/index.ts";
import { endSession, stopTurn, terminateTree, turnsToStop } from "#engine/sessions/index.ts";
import { notifyParent } from "../notify/notify-parent.ts";
import type { LinkRow } from "../schema.ts";
import { detach, muteChild, muteRun } from "./link.ts";

export async function interruptChild(
  work: Work,
  child: SessionWriter,
  link: LinkRow,
): Promise<boolean> {
  const [run] = await turnsToStop(work, child);
  if (!run) return false;
  await muteRun(work, link, run.id);
  await stopTurn(work, child);
  return true;
}

/**
 * Both states keep the transcript for a week. An archived child can come back, a terminated one
 * cannot.
 */
export async function endChild(
  work: Work,
  child: SessionWriter,
  link: LinkRow,
  to: "archived" | "terminated",
): Promise<void> {
  const { lifecycle } = child.row;
  if (lifecycle === "terminated" || lifecycle === to) return;
  // The running turn counts as stopped by the parent, even if the child wakes before the turn
  // settles.
  link.quiet_run = (await listLiveRuns(work.tx, child.row.id))[0]?.id ?? link.quiet_run;
  await muteChild(work, link);
  if (to === "terminated") await terminateTree(work, child);
  else await endSession(work, child, { to, force: true });
}

export function detachChild(work: Work, child: SessionWriter): Promise<void> {
  return detach(work, child);
}

/** Detaches a child on behalf of a person, and notifies the parent before the link is removed. */
export async function detachByPerson(
  work: Work,
  child: SessionWriter,
  link: LinkRow,
): Promise<void> {
  await notifyParent(work, child, link, {
    type: "worker.detached",
    payload: {},
    causeKey: `detached:${child.row.id}:${child.row.last_seq}`,
  });
  await detach(work, child);
}
