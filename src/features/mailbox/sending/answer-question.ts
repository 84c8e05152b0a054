/**
 * A person answers the letter that told them of a question: that is the answer. As a letter it would
 * lie behind the very turn that waits for it.
 */
import { answersInWords, decideGate, findGate } from "#engine/gates/index.ts";
import type { GateRow, SessionWriter, Work } from "#engine/index.ts";
import type { LetterRow } from "../schema.ts";

const REF = "approval:";

/** The question that a letter told of, while it waits for an answer. */
export async function findAsked(
  work: Work,
  { row }: SessionWriter,
  replied: LetterRow | undefined,
): Promise<GateRow | undefined> {
  if (replied?.event_type !== "session.question" || !replied.context_ref?.startsWith(REF))
    return undefined;
  const gate = await findGate(work.tx, replied.context_ref.slice(REF.length));
  const isOpen = gate?.state === "pending" && gate.kind === "question";
  return isOpen && gate.session_id === row.id ? gate : undefined;
}

export async function answerAsked(
  work: Work,
  gate: GateRow,
  content: string,
  userId: string,
): Promise<void> {
  const answers = answersInWords(gate, content);
  await decideGate(work, gate.id, { allowed: true, reason: null, answers, scope: "once" }, userId);
}
