/**
 * Parking: a turn that can do nothing for now releases its runner without being over. It waits for
 * a person's decision, or until an instant, and continues where its journal ends; parking does not
 * count as an attempt.
 */
import { Refusal } from "#base/refusal.ts";
import { cleanText } from "#base/text/clean-text.ts";
import { openGate, unmarkDelivered } from "#engine/gates/gates.ts";
import type { EventRow, RunRow } from "#engine/schema.ts";
import { findPrompt, savePrompt } from "#engine/sessions/prompts/prompt-queries.ts";
import { answerOpenCalls, readCall, turnCalls } from "#engine/sessions/turns/cut-turn.ts";
import { showRunState } from "#engine/sessions/turns/run-state.ts";
import { settleRun } from "#engine/sessions/turns/turns.ts";
import { transitionPrompt } from "#engine/transitions/prompt-transitions.ts";
import { transitionRun } from "#engine/transitions/run-transitions.ts";
import type { SessionWriter, Work } from "#engine/work.ts";
import type { Park } from "#protocol/frames.ts";
import type { Verdict } from "#protocol/sessions.ts";
import { gateKindOf } from "#protocol/tools.ts";
import { saveRunAndLease } from "../queries.ts";
import { endingOf } from "../request-stop.ts";

/** Longest pause; a turn that waits longer pauses again. */
const MAX_PAUSE_MS = 24 * 60 * 60_000;

/** Parks a run, which must be held, and read under the session's lock. */
export async function parkRun(
  work: Work,
  session: SessionWriter,
  run: RunRow,
  park: Park,
): Promise<void> {
  // A run that was asked to end meanwhile does not wait first.
  if (run.stop_reason !== null) return endStopped(work, session, run);
  const waits = park.kind === "gate" ? await openGateFor(work, session, run, park.callId) : true;
  // The run made progress, so earlier losses are no longer in a row with later ones.
  if (run.progressed === 1) {
    run.strikes = 0;
    run.blameless = 0;
  }
  const event = park.kind === "gate" && waits ? "park" : "yield";
  Object.assign(run, transitionRun(run, { type: event }));
  run.ready_at = work.now;
  run.available_at = work.now;
  if (park.kind === "pause") {
    run.available_at = work.now + Math.min(park.waitMs, MAX_PAUSE_MS);
    run.pause = JSON.stringify({
      code: cleanText(park.code),
      message: cleanText(park.message),
      ...(park.notBegun ? { notBegun: park.notBegun } : {}),
    });
    if (park.notBegun) await unmarkDelivered(work, run, park.notBegun);
  }
  await saveRunAndLease(work.tx, run);
  await showRunState(work, session, run);
  session.record({
    type: "run_parked",
    thread: run.thread,
    promptId: run.prompt_id,
    runId: run.id,
    reason: park.kind,
    data: parkFacts(run, park),
  });
  if (run.state === "pending") await showRunning(work, run);
  if (!waits) work.tx.afterCommit(() => work.announcer.runsReady());
}

function parkFacts(run: RunRow, park: Park): Record<string, unknown> {
  if (park.kind === "gate") return { callId: park.callId };
  return {
    code: park.code,
    message: park.message,
    until: new Date(run.available_at).toISOString(),
  };
}

/** True when somebody has yet to answer. */
async function openGateFor(
  work: Work,
  session: SessionWriter,
  run: RunRow,
  callId: string,
): Promise<boolean> {
  const calls = await turnCalls(work, session, run);
  const found = calls.find(({ type, call_id }) => type === "pre_tool" && call_id === callId);
  if (!found)
    throw new Refusal(
      "invalid",
      "call_not_found",
      "The turn is waiting for a call that it never journaled.",
    );
  const call = await readCall(work, session, found);
  // Taken from the journal: what a person sees is what will be performed.
  const tool = call.tool_name ?? "";
  const input: unknown = call.tool_input === null ? null : JSON.parse(call.tool_input);
  const gate = await openGate(work, session, run, {
    callId,
    kind: gateKindOf(tool),
    tool,
    target: dataOf(call).verdict?.target ?? null,
    shown: {
      tool,
      input,
      reason: shownReason(dataOf(call).verdict),
      cwd: dataOf(call).cwd ?? null,
      sandboxed: dataOf(call).verdict?.sandboxed,
    },
  });
  return gate.state === "pending";
}

/**
 * The person who decides must see that no sandbox would isolate the command, whatever else is
 * asked.
 */
function shownReason(verdict: Verdict | undefined): string | null {
  const reason = verdict?.reason ?? null;
  if (verdict?.sandboxed !== false || reason?.includes("no sandbox")) return reason;
  return `Without a sandbox. ${reason ?? ""}`.trim();
}

interface CallData {
  callId?: string;
  cwd?: string;
  verdict?: Verdict;
}

function dataOf(row: Pick<EventRow, "data">): CallData {
  return JSON.parse(row.data ?? "{}") as CallData;
}

/** Shows the prompt as running: whatever else it has asked, it does not wait for an answer. */
async function showRunning(work: Work, run: RunRow): Promise<void> {
  const prompt = await findPrompt(work.tx, run.prompt_id);
  if (prompt?.state !== "gated") return;
  Object.assign(prompt, transitionPrompt(prompt, { type: "resume" }));
  await savePrompt(work.tx, prompt);
}

async function endStopped(work: Work, session: SessionWriter, run: RunRow): Promise<void> {
  const prompt = await findPrompt(work.tx, run.prompt_id);
  if (!prompt) throw new Error(`run ${run.id} has no prompt`);
  await answerOpenCalls(work, session, run);
  await settleRun(work, session, prompt, run, endingOf(run.stop_reason, run.stop_by_prompt));
}
