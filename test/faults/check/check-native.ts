/**
 * Turns of the native agent, against the traces of its commands and the requests to its model: no
 * call is performed twice, none is reported as successful that was not performed, an outcome is
 * unknown only where a runner was lost, and the model gets no more requests than losses explain.
 */
import { INTERRUPTED } from "#protocol/events.ts";
import type { SentDecision } from "../clients/decider.ts";
import { markOf, tokenOf } from "../clients/native-scripts.ts";
import { answeredGates, type Observation, type ObservedSession } from "../history.ts";
import { checkGates } from "./check-gates.ts";
import { firstOf } from "./check-log.ts";
import { type NativeTurn, type ObservedCall, turnsOf, wasLost } from "./native-turns.ts";

export interface Evidence {
  /** Tokens written by the commands of each session, by session id. */
  tokens: ReadonlyMap<string, readonly string[]>;
  /** The newest user text of each request to the model. */
  requestTexts: readonly string[];
  /** A person's answers to approvals and questions. */
  decisions: readonly SentDecision[];
}

export interface NativeVerdict {
  violations: string[];
  figures: { calls: number; performed: number; interrupted: number; gates: number; asked: number };
}

export function checkNative(observation: Observation, evidence: Evidence): NativeVerdict {
  const asked = countBy(evidence.requestTexts.map(markOf));
  const figures = { calls: 0, performed: 0, interrupted: 0, gates: 0, asked: 0 };
  const violations = observation.sessions.flatMap((session) => {
    const tokens = countBy(evidence.tokens.get(session.id) ?? []);
    const turns = turnsOf(session, tokens);
    for (const { calls, events, prompt } of turns) {
      figures.calls += calls.length;
      figures.interrupted += calls.filter(({ post }) => post?.error === INTERRUPTED).length;
      figures.gates += events.filter(({ type }) => type === "gate_opened").length;
      figures.asked += asked.get(markOf(prompt.content)) ?? 0;
    }
    figures.performed += tokens.size;
    return firstOf([
      ...checkStrays(session, tokens, turns),
      ...turns.flatMap((turn) => [
        ...turn.calls.flatMap((call) => checkCall(turn, call)),
        ...checkRequests(turn, asked.get(markOf(turn.prompt.content)) ?? 0),
        ...checkAttempts(turn),
        ...checkGates(turn, [...evidence.decisions, ...typedAnswers(session)]),
      ]),
    ]);
  });
  return { violations, figures };
}

/** Prompts that arrived while a question was open: they count as its answer. */
function typedAnswers(session: ObservedSession): SentDecision[] {
  const words = new Map(session.prompts.map(({ id, content }) => [id, content]));
  return [...answeredGates(session)].map(([promptId, gateId]) => ({
    gateId,
    allowed: true,
    words: words.get(promptId)?.trim() ?? null,
    acknowledged: false,
  }));
}

function countBy(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}

/** Every performed call was journaled before. */
function checkStrays(
  { id }: ObservedSession,
  tokens: ReadonlyMap<string, number>,
  turns: readonly NativeTurn[],
): string[] {
  const journaled = new Set(
    turns.flatMap(({ calls }) => calls.map(({ pre }) => tokenOf(pre.toolInput))),
  );
  return [...tokens.keys()]
    .filter((token) => !journaled.has(token))
    .map((token) => `stray: ${id} performed ${token}, which is not in its log`);
}

function checkCall(turn: NativeTurn, call: ObservedCall): string[] {
  const { prompt } = turn;
  const { callId, pre, post, ruling, times } = call;
  const say = (what: string) => [
    `call: ${callId} (${tokenOf(pre.toolInput)}) of ${prompt.id} (${prompt.outcome}) ${what}`,
  ];
  if (times !== undefined && times > 1) return say(`was performed ${times} times`);
  // A missing answer is reported by the check of turns.
  if (!post) return [];
  if (post.error === null)
    return times === 0 ? say("is said to have succeeded and was not performed") : [];
  if (prompt.outcome !== "completed" || ruling === "ask") return [];
  if (ruling !== "allow") return say(`was judged ${ruling}`);
  if (post.error !== INTERRUPTED) return say(`failed: ${post.error}`);
  return wasLost(turn, pre.seq, post.seq)
    ? []
    : say("is said to be interrupted, though no runner was lost");
}

/** Each response in the log needed one request; each loss may waste one more, and so may a cut. */
function checkRequests({ prompt, events }: NativeTurn, asked: number): string[] {
  const steps = events.flatMap(({ type, data }) =>
    type === "model_call" && data?.step !== undefined ? [Number(data.step)] : [],
  );
  const violations: string[] = [];
  if (steps.some((step, n) => step !== n + 1))
    violations.push(`requests: ${prompt.id} has the responses [${steps}]`);
  const losses = events.filter(({ type }) => type === "run_lost").length;
  const allowed = steps.length + losses + (prompt.outcome === "completed" ? 0 : 1);
  if (asked > allowed)
    violations.push(
      `requests: ${prompt.id} (${prompt.outcome}) asked ${asked} times for ${steps.length} responses with ${losses} losses`,
    );
  if (asked < steps.length)
    violations.push(`requests: ${prompt.id} has ${steps.length} responses to ${asked} requests`);
  return violations;
}

/** Only a loss costs an attempt; waiting for a decision does not. */
function checkAttempts({ prompt, events }: NativeTurn): string[] {
  const lastClaim = events.findLastIndex(({ type }) => type === "run_claimed");
  if (lastClaim === -1) return [];
  const losses = events.slice(0, lastClaim).filter(({ type }) => type === "run_lost").length;
  return prompt.attempts === 1 + losses
    ? []
    : [`attempts: ${prompt.id} counts ${prompt.attempts} after ${losses} losses`];
}
