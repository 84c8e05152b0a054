/**
 * Resolves an approval. Only a person may: an agent that could answer for itself would need no approval. The
 * decision is about the gate's own copy of the call, never about anything in the request.
 */
import { notFound, Refusal } from "#base/refusal.ts";
import { cleanText } from "#base/text/clean-text.ts";
import {
  decideGate,
  findGate,
  type GateDecision,
  overruledReason,
  questionsOf,
} from "#engine/gates/index.ts";
import {
  command,
  type Engine,
  type GateRow,
  may,
  requireSignedIn,
  type Work,
} from "#engine/index.ts";
import { findUser, isActiveMember } from "#features/auth/index.ts";
import {
  addStandingRule,
  childKeyOf,
  isForSandboxOnly,
  standingTarget,
  type UserPrincipal,
} from "#features/policy/index.ts";
import type { AskedQuestion } from "#protocol/tools.ts";
import { answerWaiting } from "./answer-waiting.ts";
import type { DecisionRequest } from "./contract.ts";

/** Decides a gate. A rule made since the call was judged overrides an allow: the gate closes as denied. */
export async function decide(
  engine: Engine,
  user: UserPrincipal,
  id: string,
  request: DecisionRequest,
): Promise<GateRow> {
  const ruleId = engine.ids.mint("rul");
  const decided = await command(engine, async (work) => {
    const gate = await requireGate(work, user, id);
    const decision =
      request.answers === undefined
        ? plainDecision(gate, request)
        : answersTo(gate, request, request.answers);
    if (decision.scope !== "once") requireSignedIn(user, "A decision that holds longer than once");
    // The engine checks that the gate is still open; a rule is made only for a decision that counts.
    const closed = await decideGate(work, id, decision, user.userId);
    const counts = overruledReason(closed) === null;
    if (decision.scope !== "once" && counts)
      await makeStandingRule(work, user, closed, decision, ruleId);
    return closed;
  });
  // Thrown after the commit: the denial must stay, and the person must learn that their allow did not count.
  const denial = overruledReason(decided);
  if (denial !== null) throw deniedByRule(denial);
  return decided;
}

/** Finds the gate and locks its session. A missing gate and another person's give the same refusal. */
async function requireGate(work: Work, user: UserPrincipal, id: string): Promise<GateRow> {
  const gate = await findGate(work.tx, id);
  const session = gate && (await work.sessionWithParent(gate.session_id));
  const isYours =
    session &&
    (await isStillHere(work, user)) &&
    may(user, "approval.decide", { orgId: session.row.org_id, ownerId: session.row.owner_id });
  if (!gate || !isYours) throw notFound("approval");
  return gate;
}

/** False for a person who was removed while the request waited for the session's lock. */
async function isStillHere({ tx }: Work, { userId }: UserPrincipal): Promise<boolean> {
  const person = await findUser(tx, userId);
  return !person || isActiveMember(person);
}

function plainDecision(gate: GateRow, request: DecisionRequest): GateDecision {
  if (request.decision === "revise") return sendBack(gate, request);
  const allowed = request.decision === "allow";
  const scope = request.scope ?? "once";
  if (gate.kind === "question" && allowed)
    throw new Refusal(
      "invalid",
      "answers_missing",
      "This is a question: answer each part of it, or deny it to leave it unanswered.",
    );
  if (scope !== "once" && (gate.kind !== "approval" || targetOf(gate, allowed) === null))
    throw new Refusal(
      "invalid",
      "scope_not_possible",
      "This can be allowed only once: a rule cannot describe all of it, such as the folder it runs in. Leave scope out.",
    );
  return { allowed, reason: reasonOf(request), answers: null, scope };
}

/** Requires a reason: without one the agent would not know what to change. */
function sendBack(gate: GateRow, request: DecisionRequest): GateDecision {
  if (gate.kind !== "plan")
    throw new Refusal(
      "invalid",
      "not_a_plan",
      "Only a plan can be sent back. Allow this, or deny it.",
    );
  const reason = reasonOf(request);
  if (reason === null) throw new Refusal("invalid", "reason_missing", "Say what to change.");
  if (request.scope !== undefined && request.scope !== "once")
    throw new Refusal("invalid", "scope_not_possible", "A plan is decided once. Leave scope out.");
  return { allowed: false, reason, answers: null, scope: "once", revise: true };
}

function targetOf(gate: GateRow, allowed: boolean): string | null {
  return standingTarget(gate, allowed ? "allow" : "deny");
}

function reasonOf({ reason }: DecisionRequest): string | null {
  const text = cleanText(reason ?? "").trim();
  return text === "" ? null : text;
}

function answersTo(gate: GateRow, request: DecisionRequest, answers: string[]): GateDecision {
  if (gate.kind !== "question")
    throw new Refusal(
      "invalid",
      "not_a_question",
      "This needs a decision, not answers: allow it, or deny it.",
    );
  if (request.scope !== undefined && request.scope !== "once")
    throw new Refusal("invalid", "scope_not_possible", "Answers apply once. Leave scope out.");
  const questions = questionsOf(gate);
  if (questions.length !== answers.length)
    throw invalidAnswers(
      `There are ${questions.length} questions and ${answers.length} answers. Send one for each, in order.`,
    );
  const given = questions.map((question, at) => checkAnswer(question, answers[at] as string, at));
  return { allowed: true, reason: reasonOf(request), answers: given, scope: "once" };
}

function checkAnswer(question: AskedQuestion, given: string, at: number): string {
  const answer = cleanText(given);
  if (answer.trim() === "")
    throw invalidAnswers(`Answer ${at + 1} is empty. Type an answer, or deny the question.`);
  const labels = question.options?.map(({ label }) => label) ?? [];
  if (labels.length === 0 || question.freeText !== false) return answer;
  const choices = question.multiple ? answer.split("\n").filter((line) => line !== "") : [answer];
  if (choices.some((choice) => !labels.includes(choice)))
    throw invalidAnswers(`Answer ${at + 1} must be one of: ${labels.join(", ")}.`);
  return answer;
}

function deniedByRule(reason: string): Refusal {
  return new Refusal(
    "conflict",
    "denied_by_rule",
    `This can no longer be allowed: ${reason} The call was denied, and the agent is notified.`,
  );
}

function invalidAnswers(message: string): Refusal {
  return new Refusal("invalid", "answers_invalid", message);
}

async function makeStandingRule(
  work: Work,
  user: UserPrincipal,
  gate: GateRow,
  decision: GateDecision,
  id: string,
): Promise<void> {
  const target = targetOf(gate, decision.allowed);
  if (target === null) return;
  const effect = decision.allowed ? "allow" : "deny";
  const isForSession = decision.scope === "session";
  await addStandingRule(work, {
    id,
    orgId: gate.org_id,
    userId: user.userId,
    sessionId: isForSession ? gate.session_id : null,
    childKey: isForSession ? childKeyOf(gate, effect) : null,
    sandboxedOnly: decision.allowed && isForSandboxOnly(gate),
    tool: gate.tool,
    target,
    effect,
  });
  await answerWaiting(work, user.userId, { gate, target, decision });
}
