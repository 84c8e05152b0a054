/**
 * A person's reply to the message about a question answers the question. Delivered as a message,
 * the reply would queue behind the turn that waits for it.
 */
import { answersInWords, decideGate, findGate } from "#engine/gates/index.ts";
import type { GateRow, SessionWriter, Work } from "#engine/index.ts";
import type { MessageRow } from "../schema.ts";

const REF = "approval:";

/** Finds the pending question that a message was about. */
export async function findPendingQuestion(
  work: Work,
  { row }: SessionWriter,
  replied: MessageRow | undefined,
): Promise<GateRow | undefined> {
  if (replied?.event_type !== "session.question" || !replied.context_ref?.startsWith(REF))
    return undefined;
  const gate = await findGate(work.tx, replied.context_ref.slice(REF.length));
  const isOpen = gate?.state === "pending" && gate.kind === "question";
  return isOpen && gate.session_id === row.id ? gate : undefined;
}

export async function answerPendingQuestion(
  work: Work,
  gate: GateRow,
  content: string,
  userId: string,
): Promise<void> {
  const answers = answersInWords(gate, content);
  await decideGate(work, gate.id, { allowed: true, reason: null, answers, scope: "once" }, userId);
}
