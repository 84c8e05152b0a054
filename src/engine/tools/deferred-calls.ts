/**
 * Calls that could not wait for a decision: when their gate is decided they are performed exactly
 * as shown, once, and the session is woken with the result.
 */
import { Refusal } from "#base/refusal.ts";
import { quoteLines } from "#base/text/clean-text.ts";
import type { NoticeOf } from "#protocol/notices/notices.ts";
import type { Deliverer } from "../feature.ts";
import { decisionOf, overruleGate } from "../gates/gates.ts";
import { findGate } from "../gates/queries.ts";
import { admitNotice, platformSender } from "../notices/admit-notice.ts";
import { sendLater } from "../outbox/index.ts";
import { findRun } from "../runs/queries.ts";
import type { GateRow } from "../schema.ts";
import { command, type Engine, type Listener, type SessionWriter, type Work } from "../work.ts";
import type { Catalogue } from "./catalogue.ts";
import type { ToolResult } from "./tool.ts";
import { failed, lockCaller, perform } from "./tools.ts";

export const DEFERRED_CALL = "deferred_call";
const MAX_RESULT_CHARS = 16_000;

/** Performs the call in a later command, because a refusal there must not undo the decision. */
export const keepDeferredCall: Listener = async (work, event) => {
  if (event.type !== "gate_closed") return;
  const { id, org_id: orgId, deferred, state } = event.gate;
  if (deferred !== 1 || state === "cancelled") return;
  await sendLater(work, orgId, DEFERRED_CALL, `${DEFERRED_CALL}:${id}`, { gateId: id });
};

export function createDeferredCalls(engine: Engine, catalogue: Catalogue): Deliverer {
  return async (payload) => {
    const { gateId } = payload as { gateId: string };
    try {
      await command(engine, (work) => carryOut(work, catalogue, gateId));
    } catch (error) {
      if (!(error instanceof Refusal) || error.kind === "unavailable") throw error;
      const result = failed(`${error.code}: ${error.message}`);
      await command(engine, (work) => carryOut(work, catalogue, gateId, result));
    }
  };
}

async function carryOut(
  work: Work,
  catalogue: Catalogue,
  gateId: string,
  known?: ToolResult,
): Promise<void> {
  const gate = await findGate(work.tx, gateId);
  const session =
    gate && (await lockCaller(work, gate, catalogue.findTool(gate.tool), shownInput(gate)));
  // No session is left to notify, or to want the call.
  if (!gate || !session || session.row.lifecycle === "terminated") return;
  // The rules may have changed since the approval.
  if (known === undefined && gate.kind === "approval") await overruleGate(work, session, gate);
  const { allowed, reason } = decisionOf(gate);
  const result = allowed ? (known ?? (await performGate(work, catalogue, session, gate))) : null;
  // The result ended the work (waiting, or the end of the session), so no notice follows.
  if (result?.endsTurn && result.error === null) return;
  await admitNotice(work, session, {
    thread: gate.thread,
    notice: noticeOf(gate, result, reason),
    sender: platformSender("approvals", "system", gate.id),
    causeKey: `${DEFERRED_CALL}:${gate.id}`,
  });
}

async function performGate(
  work: Work,
  catalogue: Catalogue,
  session: SessionWriter,
  gate: GateRow,
): Promise<ToolResult> {
  const run = await findRun(work.tx, gate.run_id);
  // The session's role may have changed since it asked.
  const isOffered = catalogue.toolsFor(session.row).some(({ name }) => name === gate.tool);
  if (!run || !isOffered) return failed("You no longer have this tool, so nothing was done.");
  return perform(
    work,
    catalogue,
    { session, run, callId: gate.call_id },
    { tool: gate.tool, input: shownInput(gate) },
  );
}

function shownInput({ shown }: GateRow): unknown {
  return (JSON.parse(shown) as { input: unknown }).input;
}

function noticeOf(
  { id: gateId, kind: gateKind, tool }: GateRow,
  result: ToolResult | null,
  reason: string | null,
): NoticeOf<"call"> {
  const about = { kind: "call", gateId, gateKind, tool } as const;
  if (result === null) return { ...about, outcome: "refused", text: reason ?? "" };
  const { output, error } = result;
  if (error !== null) return { ...about, outcome: "failed", text: error };
  const text = typeof output === "string" ? output : JSON.stringify(output);
  return { ...about, outcome: "done", text };
}

export function callText({ gateId, gateKind, tool, outcome, text }: NoticeOf<"call">): string {
  const call = `Your call of ${tool} (${gateId})`;
  if (outcome === "failed")
    return `[approval] ${call} was allowed, but it failed:\n${quoteLines(text)}`;
  if (outcome === "refused") {
    const head =
      gateKind === "plan" ? `Decision on your plan (${gateId}):` : `${call} was not done.`;
    return `[approval] ${head} ${text}`.trim();
  }
  const cut = text.length > MAX_RESULT_CHARS ? `${text.slice(0, MAX_RESULT_CHARS)}\n[cut]` : text;
  return `[approval] ${call} was allowed and has been done; do not make it again. Its result:\n${quoteLines(cut)}`;
}
