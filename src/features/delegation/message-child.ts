/** A parent speaks to its child: as the next thing to do, as a correction, or as an answer. */

import type { Reader } from "#base/store/index.ts";
import { decideGate, listPendingGates } from "#engine/gates/index.ts";
import type { SessionWriter, Work } from "#engine/index.ts";
import { MAIN_THREAD } from "#engine/sessions/index.ts";
import type { QueueMode } from "#protocol/sessions.ts";
import { questionsOf } from "./question.ts";
import { sayAsAgent } from "./say.ts";

export type Sent = { as: "answer"; gateId: string } | { as: "prompt"; promptId: string };

/** A child that asks and waits takes the message as its answer; a correction is for any child. */
export async function messageChild(
  work: Work,
  parent: SessionWriter,
  child: SessionWriter,
  message: string,
  mode: QueueMode,
  /** `mayAnswer`: whether it is meant for a question that the child asks just now. */
  { mayAnswer = true }: { mayAnswer?: boolean } = {},
): Promise<Sent> {
  if (mode === "followup" && mayAnswer) {
    const question = await findQuestion(work.tx, child.row.id);
    if (question) {
      const asked = questionsOf(question);
      const answers = asked.length === 0 ? [message] : asked.map(() => message);
      const decision = { allowed: true, reason: null, answers, scope: "once" as const };
      await decideGate(work, question.id, decision, `session:${parent.row.id}`);
      return { as: "answer", gateId: question.id };
    }
  }
  const words = { content: message, thread: MAIN_THREAD, mode };
  const { id } = await sayAsAgent(work, parent.row, child, words);
  return { as: "prompt", promptId: id };
}

export async function findQuestion(reader: Reader, childId: string) {
  const gates = await listPendingGates(reader, childId);
  return gates.find((gate) => gate.kind === "question");
}
