/**
 * Kernel events that concern messages to agents: sessions that wake or end, prompts that start or
 * settle.
 */

import type { KernelEvent, Listener, PromptRow, Work } from "#engine/index.ts";
import { isOrchestrator } from "#protocol/sessions.ts";
import {
  failWaiting,
  listByPrompt,
  markDelivered,
  reassignPrompt,
  unassignPrompt,
} from "./agent-queries.ts";
import { deliverAllPending, deliverPending, hintOwners, release } from "./deliver.ts";

type EventOf<T extends KernelEvent["type"]> = Extract<KernelEvent, { type: T }>;

export const listenForAgents: Listener = async (work, event) => {
  switch (event.type) {
    case "session_lifecycle":
      return lifecycleChanged(work, event);
    case "prompt_admitted":
      return promptAdmitted(work, event);
    case "prompt_started":
      return promptStarted(work, event);
    case "prompt_settled":
      return promptSettled(work, event);
    default:
  }
};

async function lifecycleChanged(
  work: Work,
  { session }: EventOf<"session_lifecycle">,
): Promise<void> {
  const { id, lifecycle, kind } = session.row;
  if (lifecycle === "active") deliverAllPending(work, session);
  // An orchestrator comes back and gets its messages then.
  if (lifecycle === "terminated" && !isOrchestrator({ kind }))
    await failWaiting(work.tx, id, "recipient_ended", work.now);
}

async function promptAdmitted(
  work: Work,
  { session, prompt }: EventOf<"prompt_admitted">,
): Promise<void> {
  if (prompt.author_kind === "user" || prompt.author_kind === "channel")
    await release(work, session);
}

/**
 * True for prompts that deliver messages, and for merged prompts, which may contain such a prompt.
 */
function mayDeliverMessages({ cause_key }: PromptRow): boolean {
  return cause_key !== null && (cause_key.startsWith("mail:") || cause_key.startsWith("merge:"));
}

async function promptStarted(work: Work, { prompt }: EventOf<"prompt_started">): Promise<void> {
  if (!mayDeliverMessages(prompt)) return;
  if ((await markDelivered(work.tx, prompt.id, work.now)) > 0)
    hintOwners(work, await listByPrompt(work.tx, prompt.id));
}

async function promptSettled(
  work: Work,
  { session, prompt }: EventOf<"prompt_settled">,
): Promise<void> {
  if (!mayDeliverMessages(prompt)) return;
  if (prompt.started_at !== null) {
    // One prompt may not hold all pending messages.
    if (session.row.lifecycle === "active") await deliverPending(work, session, prompt.thread);
    return;
  }
  // A prompt that never started has delivered nothing.
  if (prompt.merged_into === null) await unassignPrompt(work.tx, prompt.id);
  else await reassignPrompt(work.tx, prompt.id, prompt.merged_into);
}
