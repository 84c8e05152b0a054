/** A parent's message to its child: a follow-up, a correction or an answer. */

import type { Reader } from "#base/store/index.ts";
import { answersInWords, decideGate, listPendingGates } from "#engine/gates/index.ts";
import type { GateRow, SessionWriter, Work } from "#engine/index.ts";
import type { QueueMode } from "#protocol/sessions.ts";
import { MAIN_THREAD } from "#protocol/sessions.ts";
import { admitAgentPrompt } from "../notify/admit-agent-prompt.ts";

const ELSEWHERE = {
  elsewhere: "To have it do something else instead, interrupt or steer it.",
};

export type SentMessage =
  | { as: "answer"; gateId: string }
  | { as: "revise"; gateId: string }
  | { as: "prompt"; promptId: string };

/**
 * A child that waits with a question takes a follow-up as its answer; other modes always become
 * prompts. A message never approves: it sends a pending plan back.
 */
export async function messageChild(
  work: Work,
  parent: SessionWriter,
  child: SessionWriter,
  message: string,
  mode: QueueMode,
  /** `mayAnswer`: the message may answer a question that the child asks now. */
  { mayAnswer = true }: { mayAnswer?: boolean } = {},
): Promise<SentMessage> {
  if (mode === "followup" && mayAnswer) {
    const pendingGate = await findPendingGate(work.tx, child.row.id);
    if (pendingGate) return answer(work, pendingGate, message, `session:${parent.row.id}`);
  }
  const promptFields = { content: message, thread: MAIN_THREAD, mode };
  const { id } = await admitAgentPrompt(work, parent.row, child, promptFields);
  return { as: "prompt", promptId: id };
}

async function answer(
  work: Work,
  gate: GateRow,
  message: string,
  by: string,
): Promise<SentMessage> {
  const once = { scope: "once" } as const;
  if (gate.kind === "plan") {
    const decision = { allowed: false, reason: message, answers: null, revise: true, ...once };
    await decideGate(work, gate.id, decision, by);
    return { as: "revise", gateId: gate.id };
  }
  const answers = answersInWords(gate, message, ELSEWHERE);
  await decideGate(work, gate.id, { allowed: true, reason: null, answers, ...once }, by);
  return { as: "answer", gateId: gate.id };
}

/** A question comes before a plan, because nothing but an answer resolves it. */
async function findPendingGate(reader: Reader, childId: string): Promise<GateRow | undefined> {
  const gates = await listPendingGates(reader, childId);
  return gates.find(({ kind }) => kind === "question") ?? gates.find(({ kind }) => kind === "plan");
}
