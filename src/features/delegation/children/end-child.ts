/** A parent ends its child, stops its turn, or lets go of it. It is told nothing of what it did itself. */
import type { SessionWriter, Work } from "#engine/index.ts";
import { listLiveRuns } from "#engine/runs/index.ts";
import { endSession, stopTurn, terminateTree, turnsToStop } from "#engine/sessions/index.ts";
import { tellParent } from "../notify/tell-parent.ts";
import type { LinkRow } from "../schema.ts";
import { detach, quieten, silence } from "./link.ts";

export async function interruptChild(
  work: Work,
  child: SessionWriter,
  link: LinkRow,
): Promise<boolean> {
  const [run] = await turnsToStop(work, child);
  if (!run) return false;
  await quieten(work, link, run.id);
  await stopTurn(work, child);
  return true;
}

/** `archived` keeps it readable for a week, `terminated` too, but for good. */
export async function endChild(
  work: Work,
  child: SessionWriter,
  link: LinkRow,
  to: "archived" | "terminated",
): Promise<void> {
  const { lifecycle } = child.row;
  if (lifecycle === "terminated" || lifecycle === to) return;
  // Also when it is woken before its turn has wound down, that turn's end is its parent's own doing.
  link.quiet_run = (await listLiveRuns(work.tx, child.row.id))[0]?.id ?? link.quiet_run;
  await silence(work, link);
  if (to === "terminated") await terminateTree(work, child);
  else await endSession(work, child, { to, force: true });
}

export function detachChild(work: Work, child: SessionWriter): Promise<void> {
  return detach(work, child);
}

/** A person takes the child out of its parent's hands: the parent hears of it before the tie is cut. */
export async function detachByPerson(
  work: Work,
  child: SessionWriter,
  link: LinkRow,
): Promise<void> {
  await tellParent(work, child, link, {
    type: "worker.detached",
    payload: {},
    causeKey: `detached:${child.row.id}:${child.row.last_seq}`,
  });
  await detach(work, child);
}
