/** Kernel events of children and parents, turned into events for parents. */

import type { KernelEvent, Listener, SessionRow, SessionWriter, Work } from "#engine/index.ts";
import { listLiveRuns } from "#engine/runs/index.ts";
import { showAwaiting } from "#engine/sessions/index.ts";
import { isOrchestrator } from "#protocol/sessions.ts";
import { changeShare, returnBudget, takeBudgetAgain } from "./children/budget.ts";
import { isEnded } from "./children/lifecycle.ts";
import { type DelegationLimits, linkChild, refuseOverLimit } from "./children/link.ts";
import { releaseChildren } from "./children/release-children.ts";
import { countAgentTurn, countWakeTurn, isWake, resetUnattended } from "./children/unattended.ts";
import { callbackEnded, childSettled } from "./notify/child-settled.ts";
import { unmarkAnnounced } from "./notify/inbox-queries.ts";
import { recordOrchestration } from "./notify/note.ts";
import { deliverPendingAtEnd, endWait, notifyParent } from "./notify/notify-parent.ts";
import { redactChildEvents } from "./notify/redact-child-events.ts";
import { MACHINE_GONE } from "./notify/wake-text.ts";
import { planClosed, planOpened, requirePlan } from "./plans/plan.ts";
import { questionClosed, questionOpened } from "./plans/question.ts";
import { findLink, saveLink } from "./queries.ts";
import { composeResult } from "./run-result.ts";
import { endOrphanedWaits } from "./waits/orphaned-waits.ts";
import { listWaits } from "./waits/wait-queries.ts";

type EventOf<T extends KernelEvent["type"]> = Extract<KernelEvent, { type: T }>;

export function createListener(limits: DelegationLimits): Listener {
  return async (work, event) => {
    switch (event.type) {
      case "session_created":
        if (event.requested.requirePlanApproval) await requirePlan(work, event.session);
        return linkChild(work, event.session, limits);
      case "session_changed":
        if (event.before && event.fields.includes("budget"))
          await budgetChanged(work, event.session.row, event.before.budget_micros);
        return;
      case "session_waking":
        event.answer.refusal ??= await refuseOverLimit(work, event, limits);
        return;
      case "session_archiving":
        return releaseChildren(work, event);
      case "session_lifecycle":
        return lifecycleChanged(work, event);
      case "run_settling":
        return composeResult(work, event);
      case "callback_due":
        event.answer.isTaken = await callbackEnded(work, event);
        return;
      case "prompt_admitted":
        return promptAdmitted(work, event, limits);
      case "prompt_started":
        return promptStarted(work, event, limits);
      case "prompt_settled":
        return promptSettled(work, event);
      case "entry_redacted":
        return redactChildEvents(work, event.session.row, event.words);
      case "workspace_offline":
        return notifyMachineGone(work, event);
      case "gate_opened":
        await planOpened(work, event.session, event.gate);
        return questionOpened(work, event.session, event.gate);
      case "gate_closed":
        await planClosed(work, event.session, event.gate);
        return questionClosed(work, event.session, event.gate);
      default:
    }
  };
}

/** A child's budget is reserved from its parent's: an increase comes out of the parent's budget. */
async function budgetChanged(work: Work, child: SessionRow, before: number | null): Promise<void> {
  const link = child.parent_session_id === null ? undefined : await findLink(work.tx, child.id);
  const parent = link && (await work.session(link.parent_session_id));
  if (!link || !parent) return;
  changeShare(parent.row, child, link, before);
  await saveLink(work.tx, link);
}

async function lifecycleChanged(
  work: Work,
  { session, from }: EventOf<"session_lifecycle">,
): Promise<void> {
  if (session.row.lifecycle === "active") {
    if (from === "archived") await sessionRestored(work, session);
    deliverPendingAtEnd(work, session);
    return;
  }
  if (isEnded(session.row) && from !== "archived") await sessionGone(work, session);
}

async function sessionGone(work: Work, session: SessionWriter): Promise<void> {
  const { id, lifecycle, last_seq } = session.row;
  const link = await findLink(work.tx, id);
  const parent = link && (await work.session(link.parent_session_id));
  if (!link || !parent) return;
  returnBudget(parent.row, session.row, link);
  // A run that is aborted with the whole tree is not reported either, whenever it settles.
  if (isBeingTerminated(parent))
    link.quiet_run = (await listLiveRuns(work.tx, id))[0]?.id ?? link.quiet_run;
  await saveLink(work.tx, link);
  if (!isBeingTerminated(parent))
    await notifyParent(work, session, link, {
      type: "worker.deleted",
      payload: { outcome: lifecycle },
      causeKey: `deleted:${id}:${last_seq}`,
    });
  await endOrphanedWaits(work, parent, id);
}

/**
 * True while the parent itself is being terminated with its tree. Its children's ends are not
 * reported to it, even if it comes back.
 */
function isBeingTerminated(parent: SessionWriter): boolean {
  return parent.appended.some(
    ({ type, reason }) => type === "session_updated" && reason === "terminated",
  );
}

/** Relinks a child that returned from the archive: its parent is notified of its events again. */
async function sessionRestored(work: Work, session: SessionWriter): Promise<void> {
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
  { unattendedTurns }: DelegationLimits,
): Promise<void> {
  if (prompt.author_kind === "session") await countAgentTurn(work, session, unattendedTurns);
  if (prompt.author_kind === "user" || prompt.author_kind === "channel")
    await releaseTree(work, session);
  if (!isWake(prompt)) await endWait(work, session, prompt.thread);
}

/** A person's prompt to any session of a tree lets the whole tree continue. */
async function releaseTree(work: Work, { row }: SessionWriter): Promise<void> {
  if (!(await resetUnattended(work, row.root_session_id))) return;
  const root = await work.session(row.root_session_id);
  if (root) deliverPendingAtEnd(work, root);
}

async function promptStarted(
  work: Work,
  { session, prompt }: EventOf<"prompt_started">,
  { unattendedTurns }: DelegationLimits,
): Promise<void> {
  // Every prompt of the platform, about children or anything else, starts a turn that no person
  // asked for.
  if (prompt.author_kind === "system") await countWakeTurn(work, session, unattendedTurns);
  if (isWake(prompt))
    await recordOrchestration(work, session.row, { action: "wake_delivered", by: "system" });
}

/** Notifies the parent of a turn that cannot continue: the parent may wait, or relocate the child. */
async function notifyMachineGone(
  work: Work,
  { session, run }: EventOf<"workspace_offline">,
): Promise<void> {
  const link = await findLink(work.tx, session.row.id);
  if (!link) return;
  await notifyParent(work, session, link, {
    type: "worker.stopped_without_end",
    payload: { code: MACHINE_GONE, promptId: run.prompt_id },
    causeKey: `offline:${run.id}:${work.now}`,
  });
}

async function promptSettled(work: Work, event: EventOf<"prompt_settled">): Promise<void> {
  const { session, prompt } = event;
  const { id, kind } = session.row;
  if (prompt.outcome === "failed" && isWake(prompt))
    await recordOrchestration(work, session.row, { action: "wake_failed", by: "system" });
  // A prompt that never started has delivered nothing.
  if (prompt.started_at === null && isWake(prompt)) await unmarkAnnounced(work.tx, prompt.id);
  if (!isOrchestrator({ kind })) return childSettled(work, event);
  // Another of its threads may still wait.
  showAwaiting(session.row, await listWaits(work.tx, id));
}
