/**
 * Notifies a parent of its child's question or plan, and of a decision made before the notice
 * arrived.
 */
import { planDecision, questionsOf } from "#engine/gates/index.ts";
import type { GateRow, SessionWriter, Work } from "#engine/index.ts";
import { findPrompt } from "#engine/sessions/index.ts";
import type { WorkerEventPayload } from "../contract.ts";
import { findEvent, markRead, savePayload } from "../notify/inbox-queries.ts";
import { notifyParent, refreshQueuedNotice } from "../notify/notify-parent.ts";
import { findLink } from "../queries.ts";
import type { WorkerEventRow } from "../schema.ts";

const causeOf = (gateId: string) => `asked:${gateId}`;

/** Approvals belong to people; a parent may also answer questions and decide on plans. */
export async function questionOpened(
  work: Work,
  session: SessionWriter,
  gate: GateRow,
): Promise<void> {
  if (gate.kind === "approval" || session.row.parent_session_id === null) return;
  const link = await findLink(work.tx, session.row.id);
  if (!link) return;
  const asked = gate.kind === "plan" ? planOf(gate) : askedQuestions(gate);
  await notifyParent(work, session, link, {
    type: "worker.ask_user",
    payload: { gateId: gate.id, promptId: gate.prompt_id, ...asked },
    causeKey: causeOf(gate.id),
  });
}

/**
 * Updates the event of a closed question while it is undelivered. The parent's own answer marks it
 * as read; any other answer is added to it.
 */
export async function questionClosed(
  work: Work,
  session: SessionWriter,
  gate: GateRow,
): Promise<void> {
  if (gate.kind === "approval" || session.row.parent_session_id === null) return;
  const event = await findEvent(work.tx, causeOf(gate.id));
  const parent =
    event && !(await isDelivered(work, event)) ? await work.session(event.session_id) : undefined;
  if (!event || !parent) return;
  if (gate.decided_by === `session:${parent.row.id}`) await markRead(work.tx, [event], work.now);
  else {
    const payload = JSON.parse(event.payload) as WorkerEventPayload;
    const closed = { ...payload, isClosed: true, ...fateOf(gate) };
    await savePayload(work.tx, event.id, JSON.stringify(closed));
  }
  await refreshQueuedNotice(work, parent, [event]);
}

async function isDelivered(work: Work, { read_at, prompt_id }: WorkerEventRow): Promise<boolean> {
  if (read_at !== null) return true;
  const prompt = prompt_id === null ? undefined : await findPrompt(work.tx, prompt_id);
  return prompt?.started_at != null;
}

/** Questions of a gate, with their options if at least one has any. */
export function askedQuestions(
  gate: Pick<GateRow, "shown">,
): Pick<WorkerEventPayload, "questions" | "choices"> {
  const asked = questionsOf(gate);
  const questions = asked.map(({ question }) => question);
  const hasOptions = asked.some(({ options = [] }) => options.length > 0);
  return { questions, ...(hasOptions && { choices: asked }) };
}

export function planOf({ shown }: Pick<GateRow, "shown">): {
  kind: "plan";
  text: string;
  summary?: string;
} {
  const { input } = JSON.parse(shown) as { input?: { plan?: string; summary?: string } };
  const { plan = "", summary } = input ?? {};
  return { kind: "plan", text: plan, ...(summary === undefined ? {} : { summary }) };
}

/** Decision on a plan; empty for anything else. */
function fateOf(gate: GateRow): { outcome?: string } {
  return gate.kind === "plan" && gate.state === "decided"
    ? { outcome: planDecision(gate).fate }
    : {};
}
