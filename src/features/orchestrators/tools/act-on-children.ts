/** Tools of an orchestrator that message a child, forward its messages and end it. */
import * as z from "zod";
import { Refusal } from "#base/refusal.ts";
import type { SessionRow } from "#engine/index.ts";
import { changeLifecycle } from "#engine/sessions/index.ts";
import { defineTool } from "#engine/tools/index.ts";
import {
  endChild,
  forwardMessages,
  type LinkRow,
  messageChild,
  recordAgentAction,
  requireChild,
  requirePlan,
  type SentMessage,
} from "#features/delegation/index.ts";
import { ORCHESTRATORS, sessionIdInput, targetOf } from "./own-child.ts";

const MAX_MESSAGE_CHARS = 100_000;
const MAX_FORWARDED = 20;

export const sendMessage = defineTool({
  name: "send_message",
  aliases: ["send_to_session"],
  description:
    "Sends one of your child sessions its next task, a correction, or the answer to its question. If it presents a plan, the message sends the plan back, whatever it says: only decide_plan approves. Write it so that the child can act on it: it knows its own conversation and nothing of yours. A busy child gets it when its turn ends, unless you interrupt. A child that you archived or that completed is woken. You are woken when it is done: call wait_for_event afterwards.",
  roles: ORCHESTRATORS,
  readOnly: false,
  target: targetOf,
  schema: z.strictObject({
    sessionId: sessionIdInput,
    message: z.string().min(1).max(MAX_MESSAGE_CHARS).describe("The task, correction or answer."),
    interrupt: z
      .boolean()
      .optional()
      .describe(
        "Stops its present turn and starts with this at once. Use it only when the child is on the wrong track: its work is cut off.",
      ),
    requirePlanApproval: z
      .boolean()
      .optional()
      .describe(
        "From now on it cannot change anything until you or your person have approved a new plan; an earlier plan no longer counts.",
      ),
  }),
  async handle(work, { session }, { sessionId, message, interrupt = false, ...options }) {
    const { child, link } = await requireChild(work, session.row.id, sessionId);
    requireReachable(child.row, link);
    if (child.row.lifecycle === "archived") await changeLifecycle(work, child, "active");
    if (options.requirePlanApproval) await requirePlan(work, child);
    const mode = interrupt ? "interrupt" : "followup";
    const sent = await messageChild(work, session, child, message, mode);
    await recordAgentAction(work, session, "worker_messaged", sessionId);
    return { output: { sessionId, ...sentResult(sent) }, error: null };
  },
});

/**
 * A message wakes a child that the parent archived or that completed; one archived by a person
 * stays archived.
 */
function requireReachable({ id, lifecycle }: SessionRow, { is_silent }: LinkRow): void {
  if (lifecycle === "terminated" || (lifecycle === "archived" && is_silent === 0)) {
    const how = lifecycle === "terminated" ? "was terminated" : "was archived by a person";
    throw new Refusal(
      "conflict",
      "worker_not_live",
      `The session ${id} ${how}. Spawn another and tell it what it needs to know, or ask your person.`,
    );
  }
}

function sentResult(sent: SentMessage): Record<string, unknown> {
  if (sent.as === "answer")
    return { answered: true, next: "It continues with your answer. Call wait_for_event." };
  if (sent.as === "revise") {
    const next =
      "Its plan was not approved: it was sent back with your message, and you are woken with the next one. Call wait_for_event.";
    return { planId: sent.gateId, decision: "revise", next };
  }
  const next = "Call wait_for_event when you have nothing else to do.";
  return { promptId: sent.promptId, next };
}

export const forwardMessagesTool = defineTool({
  name: "forward_messages",
  description:
    "Puts the last messages of one of your child sessions into this conversation, word for word and under its name, for the person to read. Prefer it to your own summary when the words matter: a report, an answer, a list. The person sees it at once, so do not repeat it.",
  roles: ORCHESTRATORS,
  readOnly: false,
  target: targetOf,
  schema: z.strictObject({
    sessionId: sessionIdInput,
    limit: z
      .number()
      .int()
      .min(1)
      .max(MAX_FORWARDED)
      .default(1)
      .describe("How many of its newest messages. Default: 1."),
  }),
  async handle(work, { session, run }, { sessionId, limit }) {
    const { child } = await requireChild(work, session.row.id, sessionId);
    const turnRef = { thread: run.thread, promptId: run.prompt_id, runId: run.id };
    const forwarded = await forwardMessages(work, session, turnRef, child, limit);
    if (forwarded === 0)
      return { output: null, error: "It has said nothing yet, so nothing was forwarded." };
    const next = "The person can see them. Add only what they do not say.";
    return { output: { sessionId, forwarded, next }, error: null };
  },
});

export const terminateSession = defineTool({
  name: "terminate_session",
  description:
    "Ends one of your child sessions permanently, also during its turn. People can read its transcript for a week; then its uncommitted work is gone. Do it when you have its result and will not ask it for more: live children count against your limit. To correct it instead, use send_message.",
  roles: ORCHESTRATORS,
  readOnly: false,
  target: targetOf,
  schema: z.strictObject({ sessionId: sessionIdInput }),
  async handle(work, caller, { sessionId }) {
    const { child, link } = await requireChild(work, caller.session.row.id, sessionId);
    await endChild(work, child, link, "terminated");
    await recordAgentAction(work, caller.session, "worker_killed", sessionId);
    return { output: { sessionId, status: "terminated" }, error: null };
  },
});
