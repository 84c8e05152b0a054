/**
 * The checker of a fault round. It compares the answers that clients got with the program's final
 * state, and names every broken promise. It does not depend on the kind of round.
 */
import type { Prompt } from "#protocol/sessions.ts";
import { checkLog, firstOf } from "./check/check-log.ts";
import { checkTurns } from "./check/check-turns.ts";
import {
  answeredGates,
  type FollowerRecord,
  type History,
  type Observation,
  type ObservedSession,
  type SentPrompt,
} from "./history.ts";

export interface CheckOptions {
  /** Runners were killed while their server lived, so a prompt may have run out of attempts. */
  mayExhaust: boolean;
  /** Prompts that were written to fail; none by default. */
  mayFail?: (prompt: Prompt) => boolean;
}

export interface Verdict {
  violations: string[];
  figures: { acknowledged: number; outcomes: Record<string, number>; events: number };
}

export function check(history: History, observation: Observation, options: CheckOptions): Verdict {
  const sessions = new Map(observation.sessions.map((session) => [session.id, session]));
  const violations = [
    ...history.badAnswers.map((answer) => `bad answer: ${answer}`),
    ...history.prompts.flatMap((prompt) => checkAcknowledged(prompt, observation, sessions)),
    ...history.withdrawn.flatMap((id) => checkWithdrawn(id, observation)),
    ...history.reached.flatMap(({ sessionId, lastSeq }) => {
      const now = sessions.get(sessionId)?.lastSeq ?? 0;
      return now >= lastSeq
        ? []
        : [`log taken back: ${sessionId} was acknowledged up to ${lastSeq} and ends at ${now}`];
    }),
    ...history.followers.flatMap((follower) =>
      checkFollower(follower, sessions.get(follower.sessionId)),
    ),
    ...observation.sessions.flatMap((session) => [
      ...checkLog(session),
      ...checkTurns(session),
      ...checkOutcomes(session, options),
      ...checkOrder(session, new Set(history.promoted)),
    ]),
  ];
  return { violations, figures: figuresOf(history, observation) };
}

/** An acknowledged prompt still exists, unchanged, once, with exactly one outcome. */
function checkAcknowledged(
  sent: SentPrompt,
  { readings }: Observation,
  sessions: ReadonlyMap<string, ObservedSession>,
): string[] {
  const [first, second] = readings.get(sent.id) ?? [null, null];
  const session = sessions.get(sent.sessionId);
  if (!first || !second || !session) return [`lost: acknowledged prompt ${sent.id} is not found`];
  const violations: string[] = [];
  if (first.content !== sent.content || first.sessionId !== sent.sessionId)
    violations.push(`changed: ${sent.id} is not what was acknowledged`);
  if (first.state !== "settled") {
    const why = JSON.stringify(first.waitingFor);
    violations.push(`stuck: ${sent.id} in ${sent.sessionId} is ${first.state}, waiting for ${why}`);
  } else if (first.outcome !== second.outcome || second.state !== "settled") {
    violations.push(
      `two outcomes: ${sent.id} was ${first.outcome} and is now ${second.state} ${second.outcome}`,
    );
  }
  const accepted = session.log.filter(
    ({ event }) => event.type === "prompt_accepted" && event.promptId === sent.id,
  );
  if (accepted.length !== 1)
    violations.push(`${sent.id} is accepted ${accepted.length} times in the log`);
  const twins = session.prompts.filter(({ content }) => content === sent.content);
  if (twins.length !== 1)
    violations.push(`${sent.id} was admitted ${twins.length} times: ${twins.map(({ id }) => id)}`);
  return violations;
}

function checkWithdrawn(id: string, { readings }: Observation): string[] {
  const outcome = readings.get(id)?.[0]?.outcome;
  return outcome === "withdrawn"
    ? []
    : [`withdrawal lost: ${id} was acknowledged as withdrawn and is ${outcome}`];
}

/**
 * Across all its connections a follower saw each event once, in order, and as the log has it now.
 */
function checkFollower(follower: FollowerRecord, session: ObservedSession | undefined): string[] {
  const violations: string[] = [];
  const log = new Map(session?.log.map(({ event, digest }) => [event.seq, digest]));
  let expected = 1;
  for (const { seq, digest } of follower.sightings) {
    if (seq < expected) violations.push(`${follower.name} saw ${seq} twice`);
    if (seq > expected) violations.push(`${follower.name} missed ${expected} to ${seq - 1}`);
    if (log.get(seq) !== digest)
      violations.push(`taken back: ${follower.name} saw ${seq}, and the log has another`);
    expected = seq + 1;
  }
  const lastSeq = session?.lastSeq ?? 0;
  if (expected <= lastSeq)
    violations.push(`${follower.name} stands still at ${expected - 1} of ${lastSeq}`);
  return firstOf(violations);
}

/** Every admitted prompt settles once in the log, as its row says, and for a reason. */
function checkOutcomes(session: ObservedSession, options: CheckOptions): string[] {
  const settledBy = new Map<string, string[]>();
  const lost = new Map<string, number>();
  for (const { event } of session.log) {
    const { promptId, type } = event;
    if (promptId === null) continue;
    if (type === "prompt_settled")
      settledBy.set(promptId, [...(settledBy.get(promptId) ?? []), event.reason ?? ""]);
    if (type === "run_lost") lost.set(promptId, (lost.get(promptId) ?? 0) + 1);
  }
  const known = new Map(session.prompts.map((prompt) => [prompt.id, prompt]));
  const answered = answeredGates(session);
  return session.prompts.flatMap((prompt) => {
    const outcomes = settledBy.get(prompt.id) ?? [];
    const violations: string[] = [];
    if (outcomes.length !== 1 || outcomes[0] !== prompt.outcome)
      violations.push(
        `outcome: ${prompt.id} is ${prompt.state} ${prompt.outcome}, its log says [${outcomes}]`,
      );
    const timesLost = lost.get(prompt.id) ?? 0;
    violations.push(...checkReason(prompt, known, answered, timesLost, options));
    return violations;
  });
}

function checkReason(
  prompt: Prompt,
  known: ReadonlyMap<string, Prompt>,
  answered: ReadonlyMap<string, string>,
  timesLost: number,
  { mayExhaust, mayFail = () => false }: CheckOptions,
): string[] {
  const { id, outcome, error, content } = prompt;
  switch (outcome) {
    case "failed": {
      // Several scripts under one heading are no valid script.
      if (error?.code === "script_error" && content.startsWith("[Follow-up messages")) return [];
      if (mayFail(prompt)) return [];
      if (error?.code === "attempts_exhausted" && mayExhaust && timesLost >= 3) return [];
      return [`failed: ${id} after ${timesLost} losses: ${JSON.stringify(error)}`];
    }
    case "merged":
      return checkMerged(prompt, known, answered);
    case "superseded":
      return known.has(prompt.supersededBy ?? "")
        ? []
        : [`superseded: ${id} by ${prompt.supersededBy}, which does not exist`];
    default:
      return [];
  }
}

function checkMerged(
  { id, content, mergedInto }: Prompt,
  known: ReadonlyMap<string, Prompt>,
  answered: ReadonlyMap<string, string>,
): string[] {
  const into = known.get(mergedInto ?? "");
  // An answer to a question is part of the turn that asked it, not of its prompt.
  const isPart = into?.content.includes(JSON.stringify(content)) || (into && answered.has(id));
  return isPart ? [] : [`merged: ${id} is not part of ${mergedInto}`];
}

/** Queued prompts begin in the order in which they were accepted. */
function checkOrder(session: ObservedSession, promoted: ReadonlySet<string>): string[] {
  const waiting = session.prompts.filter(
    ({ id, mode, mergedInto }) => mode === "followup" && !promoted.has(id) && !mergedInto,
  );
  const lines = Map.groupBy(waiting, ({ thread }) => (session.isParallel ? thread : ""));
  return [...lines.values()].flatMap((prompts) => checkLine(session, prompts));
}

function checkLine(session: ObservedSession, prompts: readonly Prompt[]): string[] {
  const waits = new Set(prompts.map(({ id }) => id));
  const accepted: string[] = [];
  const begun: string[] = [];
  for (const { event } of session.log) {
    const { promptId } = event;
    if (promptId === null || !waits.has(promptId)) continue;
    if (event.type === "prompt_accepted") accepted.push(promptId);
    if (event.type === "message" && event.kind === "prompt") begun.push(promptId);
  }
  const started = new Set(begun);
  const expected = accepted.filter((id) => started.has(id));
  const at = expected.findIndex((id, n) => begun[n] !== id);
  return at === -1 ? [] : [`order: ${session.id} began ${begun[at]} before ${expected[at]}`];
}

function figuresOf(history: History, { sessions }: Observation): Verdict["figures"] {
  const outcomes: Record<string, number> = {};
  for (const { prompts } of sessions)
    for (const { outcome } of prompts)
      outcomes[outcome ?? "open"] = (outcomes[outcome ?? "open"] ?? 0) + 1;
  const events = sessions.reduce((sum, { log }) => sum + log.length, 0);
  return { acknowledged: history.prompts.length, outcomes, events };
}
