/**
 * Gates: a turn waits for a decision of a person or a parent. The first answer wins; no answer in
 * time is a denial. The gate belongs to (prompt, call), so a resumed turn finds the gate it had
 * opened, and its decision if there is one.
 *
 * A turn waits in one of two ways. A turn whose runner cannot release it (an agent program that
 * holds its process) stays with that runner: the run is `gated` and held. A parked turn has no
 * runner: its run is `gated` without one, and the decision puts it back into the queue.
 *
 * A deferred gate is for a call whose turn does not wait at all: the gate outlives the turn, and
 * the server acts on its decision.
 */
import { Refusal } from "#base/refusal.ts";
import { cleanJson } from "#base/text/clean-text.ts";
import type { Decision } from "#protocol/frames.ts";
import { workspaceTools } from "#protocol/tools.ts";
import { findRun, saveRun, saveRunAndLease } from "../runs/queries.ts";
import type { GateRow, RunRow, TimerRow } from "../schema.ts";
import { findPrompt, savePrompt } from "../sessions/prompts/prompt-queries.ts";
import { showRunState } from "../sessions/turns/run-state.ts";
import { clearTimer, setTimer } from "../timers/timers.ts";
import { transitionPrompt } from "../transitions/prompt-transitions.ts";
import { isHeldState, transitionRun } from "../transitions/run-transitions.ts";
import type { SessionWriter, Work } from "../work.ts";
import type { GateDecision } from "./decision.ts";
import { planDecision } from "./plan-text.ts";
import {
  findGate,
  findGateByCall,
  hasPendingGate,
  insertGate,
  listGatesOfPrompt,
  saveGate,
  saveShown,
} from "./queries.ts";

export const GATE_TIMER = "gate";
export const GATE_TTL_MS = 24 * 60 * 60_000;
/** Timers are checked twice a second: a timer found this late was due while no server was up. */
const DOWNTIME_MS = 60_000;
const AFTER_DOWNTIME_MS = 15 * 60_000;
/** Tools that a runner performs on its machine. */
const WORKSPACE_TOOLS: ReadonlySet<string> = new Set(workspaceTools.map(({ name }) => name));

export interface GateRequest {
  callId: string;
  kind: GateRow["kind"];
  tool: string;
  target: string | null;
  /** Exactly the call that the person sees, and so the call that is decided. */
  shown: unknown;
  ttlMs?: number;
  deferred?: boolean;
}

/** The session must be locked and the run read under that lock. */
export async function openGate(
  work: Work,
  session: SessionWriter,
  run: RunRow,
  question: GateRequest,
): Promise<GateRow> {
  if (!isHeldState(run.state)) {
    throw new Refusal(
      "conflict",
      "run_not_held",
      "The turn that asks has ended or is waiting for its next attempt. Nobody was asked.",
    );
  }
  const earlier = await findGateByCall(work.tx, run.prompt_id, question.callId);
  if (earlier) {
    // The turn was resumed and asks again: it waits for the same decision.
    if (isBlocking(earlier)) await setWaiting(work, session, run, true);
    return earlier;
  }
  const gate = newGate(work, run, question);
  await insertGate(work.tx, gate);
  await setTimer(work, GATE_TIMER, gate.id, run.org_id, gate.expires_at);
  if (isBlocking(gate)) await setWaiting(work, session, run, true);
  session.record({
    type: "gate_opened",
    thread: run.thread,
    promptId: run.prompt_id,
    runId: run.id,
    data: {
      gateId: gate.id,
      kind: gate.kind,
      tool: gate.tool,
      callId: gate.call_id,
      expiresAt: new Date(gate.expires_at).toISOString(),
    },
  });
  await work.emit({ type: "gate_opened", session, gate });
  return gate;
}

function newGate(work: Work, run: RunRow, question: GateRequest): GateRow {
  return {
    id: work.ids.mint("apr"),
    org_id: run.org_id,
    session_id: run.session_id,
    thread: run.thread,
    prompt_id: run.prompt_id,
    run_id: run.id,
    call_id: question.callId,
    kind: question.kind,
    tool: question.tool,
    target: question.target,
    shown: cleanJson(question.shown),
    state: "pending",
    decision: null,
    decided_by: null,
    asked_at: work.now,
    expires_at: work.now + (question.ttlMs ?? GATE_TTL_MS),
    decided_at: null,
    told_fence: null,
    deferred: question.deferred ? 1 : 0,
  };
}

function isBlocking({ state, deferred }: GateRow): boolean {
  return state === "pending" && deferred === 0;
}

export async function decideGate(
  work: Work,
  gateId: string,
  decision: GateDecision,
  decidedBy: string,
): Promise<GateRow> {
  const found = await findGate(work.tx, gateId);
  const session = found && (await work.sessionWithParent(found.session_id));
  const gate = session && (await findGate(work.tx, gateId));
  if (!session || !gate)
    throw new Refusal(
      "not_found",
      "not_found",
      "No such approval. Its session may have been deleted.",
    );
  if (gate.state === "expired" || (gate.state === "pending" && gate.expires_at <= work.now)) {
    throw new Refusal(
      "conflict",
      "approval_expired",
      "This approval has expired, which counts as a denial. The agent can ask again.",
    );
  }
  if (gate.state !== "pending") {
    throw new Refusal(
      "conflict",
      "already_decided",
      gate.state === "cancelled"
        ? "The turn that asked has ended, so there is nothing left to decide."
        : "This was already answered. The first answer is final.",
    );
  }
  const denial = decision.allowed ? await findDenial(work, session, gate) : undefined;
  if (denial === undefined) await close(work, session, gate, "decided", decision, decidedBy);
  else await close(work, session, gate, "decided", overruled(denial), "system");
  await resumeTurn(work, session, gate);
  return gate;
}

/** Finds a rule that denies the call now, made while the call or its approval waited. */
async function findDenial(
  work: Work,
  session: SessionWriter,
  gate: GateRow,
): Promise<string | undefined> {
  // An answer is a person's own words, and nothing is performed.
  if (gate.kind === "question") return undefined;
  const run = await findRun(work.tx, gate.run_id);
  if (!run) return undefined;
  const { input, cwd } = JSON.parse(gate.shown) as { input: unknown; cwd?: string | null };
  return work.findDenial(session, run, { callId: gate.call_id, tool: gate.tool, input, cwd });
}

function overruled(reason: string): GateDecision {
  return { allowed: false, reason, answers: null, scope: "once", overruled: true };
}

/** Revokes an approval that a rule overrules, before anybody acts on it. Returns the reason. */
export async function overruleGate(
  work: Work,
  session: SessionWriter,
  gate: GateRow,
): Promise<string | undefined> {
  const { allowed } = JSON.parse(gate.decision ?? "{}") as Partial<GateDecision>;
  const denial = allowed ? await findDenial(work, session, gate) : undefined;
  if (denial === undefined) return undefined;
  gate.decision = cleanJson(overruled(denial));
  gate.decided_by = "system";
  await saveGate(work.tx, gate);
  return denial;
}

/**
 * Ends every approval of a turn that nobody has acted on, when the turn goes to another machine:
 * the person allowed the call for the files and the sandbox of the first one. The agent is told to
 * make the call again, and the call is judged where it would run. An approval that is still pending
 * says that the session has moved. Calls that the server performs are the same anywhere.
 */
export async function endUnusedApprovals(work: Work, promptId: string): Promise<void> {
  for (const gate of await listGatesOfPrompt(work.tx, promptId)) {
    const { kind, tool, deferred, state, told_fence } = gate;
    if (kind !== "approval" || deferred === 1 || !WORKSPACE_TOOLS.has(tool)) continue;
    if (state === "pending") await showMoved(work, gate);
    if (state === "decided" && told_fence === null) await endApproval(work, gate);
  }
}

async function endApproval(work: Work, gate: GateRow): Promise<void> {
  const decision = JSON.parse(gate.decision ?? "{}") as GateDecision;
  if (!decision.allowed) return;
  gate.decision = cleanJson({ ...decision, moved: true });
  await saveGate(work.tx, gate);
}

const HAS_MOVED = "The session has moved to another machine since it asked.";

async function showMoved(work: Work, { id, shown }: GateRow): Promise<void> {
  const { reason, ...rest } = JSON.parse(shown) as { reason?: string | null };
  if (reason?.startsWith(HAS_MOVED)) return;
  const words = [HAS_MOVED, reason ?? ""].join(" ").trim();
  await saveShown(work.tx, { id, shown: cleanJson({ ...rest, reason: words }) });
}

/** Gives people time to answer when no server was up at the moment the gate was to expire. */
async function extend(work: Work, gate: GateRow): Promise<void> {
  gate.expires_at = work.now + AFTER_DOWNTIME_MS;
  await saveGate(work.tx, gate);
  await setTimer(work, GATE_TIMER, gate.id, gate.org_id, gate.expires_at);
}

export async function gateTimerDue(work: Work, timer: TimerRow): Promise<void> {
  const found = await findGate(work.tx, timer.subject);
  const session = found && (await work.sessionWithParent(found.session_id));
  const gate = session && (await findGate(work.tx, timer.subject));
  if (!session || !gate || gate.state !== "pending") return;
  if (work.now - gate.expires_at > DOWNTIME_MS) return extend(work, gate);
  await close(work, session, gate, "expired", null, "system");
  await resumeTurn(work, session, gate);
}

/** Closes the pending gates of a turn that is ending: nobody need answer any more. */
export async function withdrawGates(
  work: Work,
  session: SessionWriter,
  promptId: string,
): Promise<void> {
  for (const gate of await listGatesOfPrompt(work.tx, promptId))
    if (isBlocking(gate)) await close(work, session, gate, "cancelled", null, "system");
}

async function close(
  work: Work,
  session: SessionWriter,
  gate: GateRow,
  state: "decided" | "expired" | "cancelled",
  decision: GateDecision | null,
  by: string,
): Promise<void> {
  gate.state = state;
  gate.decision = decision === null ? null : cleanJson(decision);
  gate.decided_by = by;
  gate.decided_at = work.now;
  await saveGate(work.tx, gate);
  await clearTimer(work.tx, GATE_TIMER, gate.id);
  session.record({
    type: "gate_closed",
    thread: gate.thread,
    promptId: gate.prompt_id,
    runId: gate.run_id,
    reason: state,
    data: { gateId: gate.id, callId: gate.call_id, by, allowed: decision?.allowed ?? false },
  });
  await work.emit({ type: "gate_closed", session, gate });
  work.tx.afterCommit(() => work.announcer.gateClosed(gate.id));
}

async function resumeTurn(work: Work, session: SessionWriter, gate: GateRow): Promise<void> {
  const run = await findRun(work.tx, gate.run_id);
  if (run?.state !== "gated" || (await hasPendingGate(work.tx, gate.prompt_id))) return;
  if (run.runner_id !== null) return setWaiting(work, session, run, false);
  Object.assign(run, transitionRun(run, { type: "answer" }));
  run.ready_at = work.now;
  run.available_at = work.now;
  await saveRunAndLease(work.tx, run);
  await showRunState(work, session, run);
  await movePrompt(work, run, "resume");
  work.tx.afterCommit(() => work.announcer.runsReady());
}

async function setWaiting(
  work: Work,
  session: SessionWriter,
  run: RunRow,
  waiting: boolean,
): Promise<void> {
  if (run.state === "stopping") return;
  Object.assign(run, transitionRun(run, { type: waiting ? "ask" : "answer" }));
  await saveRun(work.tx, run);
  await showRunState(work, session, run);
  await movePrompt(work, run, waiting ? "ask" : "resume");
}

async function movePrompt(work: Work, run: RunRow, type: "ask" | "resume"): Promise<void> {
  const prompt = await findPrompt(work.tx, run.prompt_id);
  if (!prompt || prompt.state === "settled") return;
  Object.assign(prompt, transitionPrompt(prompt, { type }));
  await savePrompt(work.tx, prompt);
}

/** Returns the decisions that a resuming turn needs, and marks them as delivered to this attempt. */
export async function deliverDecisions(
  work: Work,
  session: SessionWriter,
  run: RunRow,
): Promise<Decision[]> {
  const decisions: Decision[] = [];
  for (const gate of await listGatesOfPrompt(work.tx, run.prompt_id)) {
    if ((gate.state !== "decided" && gate.state !== "expired") || gate.deferred === 1) continue;
    const fresh = gate.told_fence === null;
    if (fresh) {
      // Nobody has acted on the decision yet. A plan's approval was acted on when it was given.
      if (gate.kind === "approval") await overruleGate(work, session, gate);
      gate.told_fence = run.fence;
      await saveGate(work.tx, gate);
    }
    decisions.push({ ...decisionOf(gate), fresh });
  }
  return decisions;
}

/**
 * Marks decisions as not delivered when their attempt never began, or did not begin these calls:
 * the next attempt may act on them as new, and rules made meanwhile are checked again.
 */
export async function unmarkDelivered(
  work: Work,
  run: RunRow,
  notBegun?: readonly string[],
): Promise<void> {
  for (const gate of await listGatesOfPrompt(work.tx, run.prompt_id)) {
    const isNews = notBegun ? notBegun.includes(gate.call_id) : gate.told_fence === run.fence;
    if (!isNews || gate.told_fence === null) continue;
    gate.told_fence = null;
    await saveGate(work.tx, gate);
  }
}

export function decisionOf(gate: GateRow): Omit<Decision, "fresh"> {
  const callId = gate.call_id;
  if (gate.kind === "plan") {
    const { allowed, words } = planDecision(gate);
    return { callId, allowed, reason: allowed ? null : words, answers: null };
  }
  if (gate.decision === null) {
    const reason = "Nobody answered in time, which counts as a denial. Continue without it.";
    return { callId, allowed: false, reason, answers: null };
  }
  const { allowed, reason, answers, overruled, moved } = JSON.parse(gate.decision) as GateDecision;
  if (overruled) return { callId, allowed: false, answers: null, reason: overruledWords(reason) };
  if (moved) return { callId, allowed: false, answers: null, reason: MOVED };
  if (allowed) return { callId, allowed, reason: null, answers };
  const words = reason === null ? "" : ` They said: “${reason}”.`;
  return {
    callId,
    allowed,
    answers,
    reason: `The person did not allow this.${words} Do not try it again; continue without it.`,
  };
}

const MOVED =
  "This was allowed for another machine, and the session has moved since, so it was not done. Check the files, then make the call again if it is still right: it will be judged for this machine.";

function overruledWords(reason: string | null): string {
  return `Not done: ${reason ?? "it is no longer allowed."} Do not try it again; continue without it.`;
}
