/**
 * A decision for the session or for always also resolves identical pending calls. Those of the session and
 * its children are resolved in the deciding command. Those of the person's other sessions are each resolved
 * in a command of their own, by a timer: their locks have another order.
 */
import {
  decideGate,
  findGate,
  type GateDecision,
  listPendingInTree,
  listPendingOfOwner,
} from "#engine/gates/index.ts";
import { type GateRow, setTimer, type TimerHandler, type Work } from "#engine/index.ts";
import { findPrompt } from "#engine/sessions/index.ts";
import { findUser, isActiveMember } from "#features/auth/index.ts";
import { callKey, judgeWaiting } from "#features/policy/index.ts";
import { isGuestTurn } from "#protocol/notices/guests.ts";

export const ANSWER_WAITING = "answer_waiting";
/** More calls than a person can have pending: sessions are bounded, and so are the calls of each. */
const MAX_OTHERS = 500;

interface StandingDecision {
  /** Decided just now, under the lock of its session. */
  gate: GateRow;
  target: string;
  decision: GateDecision;
}

export async function answerWaiting(
  work: Work,
  userId: string,
  { gate, target, decision }: StandingDecision,
): Promise<void> {
  const { tool, session_id: sessionId, org_id: orgId } = gate;
  const near = await listPendingInTree(work.tx, { sessionId, tool, target });
  // Children come after their parent and by id, which is the order of all locks.
  const nearIds = [...new Set(near.map(({ session_id }) => session_id))].sort();
  for (const id of nearIds) await work.session(id);
  for (const waiting of near) await answerIfCovered(work, gate, waiting.id, decision, userId);
  if (decision.scope !== "always") return;
  const call = { orgId, ownerId: userId, tool, target, limit: MAX_OTHERS };
  for (const other of await listPendingOfOwner(work.tx, call))
    if (!nearIds.includes(other.session_id))
      await setTimer(work, ANSWER_WAITING, `${other.id}/${gate.id}`, orgId, work.now);
}

/** Resolves one pending call of another session, if the decision and its rule still stand. */
export const waitingTimerDue: TimerHandler = async (work, { subject }) => {
  const [waitingId = "", decidedId = ""] = subject.split("/");
  const decided = await findGate(work.tx, decidedId);
  const userId = decided?.decided_by ?? null;
  if (!decided?.decision || userId === null) return;
  const person = await findUser(work.tx, userId);
  if (person && !isActiveMember(person)) return;
  const found = await findGate(work.tx, waitingId);
  const session = found && (await work.sessionWithParent(found.session_id));
  if (session?.row.owner_id !== userId) return;
  const decision = JSON.parse(decided.decision) as GateDecision;
  await answerIfCovered(work, decided, waitingId, decision, userId);
};

/** Resolves a pending call if a rule covers it. The caller has locked its session. */
async function answerIfCovered(
  work: Work,
  decided: GateRow,
  waitingId: string,
  { allowed, reason, scope }: GateDecision,
  userId: string,
): Promise<void> {
  const waiting = await findGate(work.tx, waitingId);
  const session = waiting && (await work.session(waiting.session_id));
  if (!session || !(await isAnswerable(work, waiting))) return;
  if (session.row.owner_id !== userId) return;
  if (allowed && !isSameCall(decided, waiting)) return;
  const effect = await judgeWaiting(work, session.row, waiting);
  if (effect !== (allowed ? "allow" : "deny")) return;
  const answer = { allowed, reason, answers: null, scope, coveredBy: decided.id };
  await decideGate(work, waiting.id, answer, userId);
}

/** False for a call in a turn that another person's message started: such a call is decided by itself. */
async function isAnswerable({ tx, now }: Work, gate: GateRow): Promise<boolean> {
  const { state, kind, expires_at, thread, prompt_id } = gate;
  if (state !== "pending" || kind !== "approval" || expires_at <= now) return false;
  const prompt = await findPrompt(tx, prompt_id);
  return prompt !== undefined && !isGuestTurn(thread, prompt);
}

function isSameCall(one: GateRow, other: GateRow): boolean {
  return one.tool === other.tool && keyOf(one) === keyOf(other);
}

function keyOf({ tool, shown }: GateRow): string {
  return callKey(tool, JSON.parse(shown) as Parameters<typeof callKey>[1]);
}
