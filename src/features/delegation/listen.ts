/** What the kernel tells of children and parents, as news to parents. */
import type { KernelEvent, Listener, SessionWriter, Work } from "#engine/index.ts";
import { returnBudget, takeBudgetAgain } from "./budget.ts";
import { childSettled } from "./child-settled.ts";
import { type DelegationLimits, linkChild, requirePlaceFor } from "./link.ts";
import { note } from "./note.ts";
import { findLink, hasWait, saveLink, takeBackAnnounced } from "./queries.ts";
import { questionClosed, questionOpened } from "./question.ts";
import { endWait, tellParent, tellWhatWaits, WAKE_CHANNEL } from "./tell-parent.ts";

type EventOf<T extends KernelEvent["type"]> = Extract<KernelEvent, { type: T }>;

export function createListener(limits: DelegationLimits): Listener {
  return async (work, event) => {
    switch (event.type) {
      case "session_created":
        return linkChild(work, event.session, limits);
      case "session_lifecycle":
        return lifecycleChanged(work, event, limits);
      case "prompt_admitted":
        return promptAdmitted(work, event);
      case "prompt_started":
        return promptStarted(work, event);
      case "prompt_settled":
        return promptSettled(work, event);
      case "gate_opened":
        return questionOpened(work, event.session, event.gate);
      case "gate_closed":
        return questionClosed(work, event.session, event.gate);
      default:
    }
  };
}

async function lifecycleChanged(
  work: Work,
  { session, from }: EventOf<"session_lifecycle">,
  limits: DelegationLimits,
): Promise<void> {
  const { lifecycle } = session.row;
  if (lifecycle === "active") {
    await requirePlaceFor(work, session, limits);
    if (from === "archived") await cameBack(work, session);
    return tellWhatWaits(work, session);
  }
  const isGone = lifecycle === "archived" || lifecycle === "terminated";
  if (isGone && from !== "archived") await wentAway(work, session);
}

async function wentAway(work: Work, session: SessionWriter): Promise<void> {
  const { id, lifecycle, last_seq } = session.row;
  const link = await findLink(work.tx, id);
  const parent = link && (await work.session(link.parent_session_id));
  if (!link || !parent) return;
  returnBudget(parent.row, session.row, link);
  await saveLink(work.tx, link);
  await tellParent(work, session, link, {
    type: "worker.deleted",
    payload: { outcome: lifecycle },
    causeKey: `deleted:${id}:${last_seq}`,
  });
}

/** It is its parent's again: what becomes of it now is news. */
async function cameBack(work: Work, session: SessionWriter): Promise<void> {
  const link = await findLink(work.tx, session.row.id);
  const parent = link && (await work.session(link.parent_session_id));
  if (!link || !parent) return;
  link.is_silent = 0;
  takeBudgetAgain(parent.row, session.row, link);
  await saveLink(work.tx, link);
}

async function promptAdmitted(
  work: Work,
  { session, prompt }: EventOf<"prompt_admitted">,
): Promise<void> {
  if (!isWake(prompt.origin)) await endWait(work, session, prompt.thread);
}

async function promptStarted(
  work: Work,
  { session, prompt }: EventOf<"prompt_started">,
): Promise<void> {
  if (isWake(prompt.origin))
    await note(work, session.row, { action: "wake_delivered", by: "system" });
}

async function promptSettled(work: Work, event: EventOf<"prompt_settled">): Promise<void> {
  const { session, prompt } = event;
  const { id, kind } = session.row;
  if (prompt.outcome === "failed" && isWake(prompt.origin))
    await note(work, session.row, { action: "wake_failed", by: "system" });
  // Nobody was told by a prompt that never began.
  if (prompt.started_at === null && isWake(prompt.origin))
    await takeBackAnnounced(work.tx, prompt.id);
  if (!kind.endsWith("orchestrator")) return childSettled(work, event);
  // Another of its threads may still wait.
  session.row.awaiting = (await hasWait(work.tx, id)) ? 1 : 0;
}

function isWake(origin: string): boolean {
  return (JSON.parse(origin) as { channelType?: string }).channelType === WAKE_CHANNEL;
}
