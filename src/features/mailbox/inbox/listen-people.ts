/** Kernel events that the owner of a session gets messages about. */

import type { KernelEvent, Listener, SessionRow, Work } from "#engine/index.ts";
import { findSession, isRetryable } from "#engine/sessions/index.ts";
import { findCompletionOf } from "#features/delegation/index.ts";
import { isOrchestrator } from "#protocol/sessions.ts";
import {
  notifyCompleted,
  notifyFailed,
  notifyGateClosed,
  notifyGateOpened,
  readFailureMessage,
  readStateMessage,
  redactSent,
  redactSessionMessages,
} from "../agents/session-messages.ts";

type OwnedSession = SessionRow & { owner_id: string };
type EventOf<T extends KernelEvent["type"]> = Extract<KernelEvent, { type: T }>;

/** The organisation's own sessions have no owner and no inbox. */
const isOwned = (row: SessionRow): row is OwnedSession => row.owner_id !== null;

export const listenForPeople: Listener = async (work, event) => {
  switch (event.type) {
    case "gate_opened":
    case "gate_closed": {
      const { row } = event.session;
      if (!isOwned(row)) return;
      return event.type === "gate_opened"
        ? notifyGateOpened(work, row, event.gate)
        : notifyGateClosed(work, row, event.gate);
    }
    case "prompt_admitted":
      return promptAdmitted(work, event);
    case "prompt_settled":
      return promptSettled(work, event);
    case "session_lifecycle":
      return lifecycleChanged(work, event);
    case "entry_redacted":
      return entryRedacted(work, event);
    default:
  }
};

async function entryRedacted(
  work: Work,
  { session, kind, words }: EventOf<"entry_redacted">,
): Promise<void> {
  await redactSessionMessages(work, session.row, words);
  if (kind === "tool_call" || kind === "tool_result") await redactSent(work, session.row, words);
}

async function promptAdmitted(
  work: Work,
  { session, prompt }: EventOf<"prompt_admitted">,
): Promise<void> {
  const { row } = session;
  // Before the first prompt there is no message to mark as read.
  if (row.prompts_total <= 1 || !isOwned(row)) return;
  if (prompt.author_kind === "user" && prompt.author_id === row.owner_id)
    await readStateMessage(work, row);
}

/**
 * Notifies the owner of a failure in any session. Completions of a child go to its parent, and an
 * orchestrator reports its own.
 */
async function promptSettled(
  work: Work,
  { session, prompt, run }: EventOf<"prompt_settled">,
): Promise<void> {
  const { row } = session;
  if (!isOwned(row) || !run) return;
  const { thread, error_message: why } = prompt;
  if (prompt.outcome === "failed") {
    const promptId = isRetryable(prompt) ? prompt.id : null;
    notifyFailed(work, row, why ?? "", { thread, promptId });
    return;
  }
  const isOver = prompt.outcome === "completed" && row.run_state === null && row.waiting === 0;
  const isAlone = row.parent_session_id === null && !isOrchestrator(row);
  if (isOver && isAlone && row.lifecycle === "active")
    notifyCompleted(work, row, run.result ?? "", thread);
  else if (prompt.outcome === "completed") await readFailureMessage(work, row);
}

/**
 * Marks the failure of an archived or ended session as read. A session that reported its completion
 * notifies its parent, or the owner if no parent is active or hibernated.
 */
async function lifecycleChanged(
  work: Work,
  { session }: EventOf<"session_lifecycle">,
): Promise<void> {
  const { row } = session;
  const isPutAway = row.lifecycle === "archived" || row.lifecycle === "terminated";
  if (!isPutAway || !isOwned(row)) return;
  await readFailureMessage(work, row);
  if (row.lifecycle !== "archived" || (await hasLiveParent(work, row))) return;
  const completion = await findCompletionOf(work.tx, row.id);
  if (completion) notifyCompleted(work, row, completion.summary, "main");
}

async function hasLiveParent(work: Work, { parent_session_id }: SessionRow): Promise<boolean> {
  const parent =
    parent_session_id === null ? undefined : await findSession(work.tx, parent_session_id);
  return parent?.lifecycle === "active" || parent?.lifecycle === "hibernated";
}
