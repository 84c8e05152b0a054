/**
 * Calls that come straight from an agent program with its run token, over MCP. No runner has
 * journaled them, so they are judged here: allowed calls are performed at once. Approval cannot be
 * waited for, because the program holds its runner: the call is kept with its gate, the program is
 * told to end its turn, and the decision wakes the session (`deferred-calls.ts`).
 */
import { Refusal } from "#base/refusal.ts";
import { cleanJson } from "#base/text/clean-text.ts";
import { gateKindOf } from "#protocol/tools.ts";
import { openGate } from "../gates/gates.ts";
import { listPendingGates } from "../gates/queries.ts";
import type { GateRow } from "../schema.ts";
import { command, type Engine, type Work } from "../work.ts";
import { type Catalogue, toolUserOf } from "./catalogue.ts";
import type { ToolPolicy } from "./judge.ts";
import { type ToolCaller, type ToolResult, unknownTool } from "./tool.ts";
import { answering, failed, findCaller, LOST, perform, type ToolAnswer } from "./tools.ts";

export interface AgentCall {
  callId: string;
  name: string;
  input: unknown;
}

export interface AgentCallParts {
  engine: Engine;
  catalogue: Catalogue;
  policy: ToolPolicy;
}

interface RunRef {
  runId: string;
  fence: number;
}

export function callAsAgent(
  parts: AgentCallParts,
  ref: RunRef,
  call: AgentCall,
): Promise<ToolAnswer> {
  return answering(async () => {
    try {
      return await command(parts.engine, async (work) => {
        const tool = parts.catalogue.findTool(call.name, call.input);
        const caller = await findCaller(work, ref, call.callId, tool, call.input);
        return caller ? judgeAndPerform(parts, work, caller, call) : LOST;
      });
    } catch (error) {
      // The rollback of a refused call also removed the events about it; that it was tried is
      // recorded again.
      if (error instanceof Refusal && error.kind !== "unavailable")
        await command(parts.engine, async (work) => {
          const caller = await findCaller(work, ref, call.callId, undefined);
          if (caller) await emitCallEnd(work, caller, call, failed(error.code));
        });
      throw error;
    }
  });
}

async function judgeAndPerform(
  { catalogue, policy }: AgentCallParts,
  work: Work,
  caller: ToolCaller,
  call: AgentCall,
): Promise<ToolResult> {
  const { session, run, callId } = caller;
  const { name, input } = call;
  const asked = { callId, tool: name, input };
  const { verdict, reason, target = null } = await policy.judge(work, session, run, asked);
  const judged = { callId, tool: name, verdict };
  await work.emit({ type: "call_judged", session, run, call: judged });
  if (verdict === "deny" || verdict === "invalid") return failed(reason ?? "It is not allowed.");
  const tool = catalogue.findTool(name, input, toolUserOf(session.row));
  if (!tool) {
    const known = catalogue.toolsFor(session.row).map((one) => one.name);
    return failed(unknownTool(name, known));
  }
  if (verdict === "ask")
    return pending(await askPerson(work, caller, { tool: tool.name, input, target, reason }));
  const result = await perform(work, catalogue, caller, { tool: name, input });
  await emitCallEnd(work, caller, call, result);
  return result;
}

interface ApprovalRequest {
  tool: string;
  input: unknown;
  target: string | null;
  reason: string | null;
}

/** A person must be able to read all pending requests. */
const MAX_DEFERRED = 20;

/**
 * Opens one gate per call: a model that repeats the call before anybody has answered asks nothing
 * new.
 */
async function askPerson(
  work: Work,
  { session, run, callId }: ToolCaller,
  { tool, input, target, reason }: ApprovalRequest,
): Promise<GateRow> {
  const shown = { tool, input, reason, cwd: null };
  const text = cleanJson(shown);
  const waiting = await listPendingGates(work.tx, session.row.id);
  const same = waiting.find((gate) => gate.deferred === 1 && gate.shown === text);
  if (same) return same;
  if (waiting.filter((gate) => gate.deferred === 1).length >= MAX_DEFERRED) {
    throw new Refusal(
      "limit",
      "too_many_approvals",
      `${MAX_DEFERRED} calls of this session are already waiting for approval. End your turn; you are woken when they are decided.`,
    );
  }
  const kind = gateKindOf(tool);
  const question = { callId, kind, tool, target, shown, deferred: true };
  return openGate(work, session, run, question);
}

function pending({ id, kind }: GateRow): ToolResult {
  const asked =
    kind === "plan"
      ? "Your parent and a person were asked to decide on your plan"
      : "A person was asked to approve this call";
  return {
    output: `approval_pending: ${asked} (${id}); nothing has been done yet. Do not make the call again and do not wait: you are woken with the result when it is decided.`,
    error: null,
    endsTurn: true,
  };
}

/** Reports the end for listeners that record calls: the program's own journal may lack this one. */
function emitCallEnd(
  work: Work,
  { session, run, callId }: ToolCaller,
  { name, input }: AgentCall,
  { output, error }: ToolResult,
): Promise<void> {
  return work.emit({
    type: "call_ended",
    session,
    run,
    call: {
      callId,
      tool: name,
      failed: error !== null,
      exitCode: null,
      durationMs: 0,
      inputChars: cleanJson(input).length,
      outputChars: cleanJson(output).length,
      truncated: false,
    },
  });
}
