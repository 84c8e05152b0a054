/**
 * Tools that the server performs. Each is defined once: a name, a description for a model, a schema
 * and a handler. A call runs in one transaction that first checks the caller's fence, and its
 * result is kept with it: the same call of the same turn is performed once, however often it is
 * sent. Every failure becomes text that tells the model what to do next.
 */
import { Refusal } from "#base/refusal.ts";
import { findGateByCall } from "../gates/queries.ts";
import { findRun } from "../runs/queries.ts";
import type { RunRow } from "../schema.ts";
import { lockOrg } from "../sessions/queries.ts";
import { isHeldState } from "../transitions/run-transitions.ts";
import { command, type Engine, type SessionWriter, type Work } from "../work.ts";
import { type Catalogue, toolUserOf } from "./catalogue.ts";
import { findJudgedCall, findToolResult, type JournaledCall, keepToolResult } from "./queries.ts";
import { invalidInput, type Tool, type ToolCaller, type ToolResult, unknownTool } from "./tool.ts";

export interface ToolCall {
  runId: string;
  fence: number;
  runnerId: string;
  callId: string;
}

export type ToolAnswer = ToolResult | { lost: true };

export interface ToolHost {
  /** Performs a call that a runner has journaled and that was judged then. */
  call(call: ToolCall, name: string): Promise<ToolAnswer>;
}

export function createToolHost(engine: Engine, catalogue: Catalogue): ToolHost {
  return {
    call: ({ runId, fence, runnerId, callId }, name) =>
      answering(() =>
        command(engine, async (work) => {
          // A journaled call never changes, so it can be read before the session is locked.
          const found = await findRun(work.tx, runId);
          const judged = found && (await findJudgedCall(work.tx, found, callId));
          const tool = catalogue.findTool(name, judged?.input);
          const caller = await findCaller(work, { runId, fence }, callId, tool, judged?.input);
          if (caller?.run.runner_id !== runnerId) return LOST;
          const { session, run } = caller;
          const isAllowed = judged?.tool === name && (await wasAllowed(work, run, judged));
          if (!isAllowed) return failed(NOT_JUDGED);
          const denial = await findDenialUnlessDone(work, caller, judged);
          if (denial !== undefined) return failed(denial);
          // Performs exactly the call that was judged, and perhaps shown to a person.
          return perform(work, catalogue, { session, run, callId }, judged);
        }),
      ),
  };
}

export const LOST = { lost: true } as const;
const NOT_JUDGED =
  "not_judged: This call was not journaled and allowed before it was made, so nothing was done.";
/**
 * An unavailable store says nothing about the call: the call is sent again, and the model is not
 * told.
 */
export async function answering(work: () => Promise<ToolAnswer>): Promise<ToolAnswer> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Refusal) || error.kind === "unavailable") throw error;
    return failed(`${error.code}: ${error.message}`);
  }
}

export async function findCaller(
  work: Work,
  { runId, fence }: { runId: string; fence: number },
  callId: string,
  /** Tool to be called, if the server performs it. */
  tool: Tool | undefined,
  input?: unknown,
): Promise<ToolCaller | undefined> {
  const found = await findRun(work.tx, runId);
  const session = found && (await lockCaller(work, found, tool, input));
  const run = session && (await findRun(work.tx, runId));
  if (!session || run?.fence !== fence || !isHeldState(run.state)) return undefined;
  return { session, run, callId };
}

/** Keeps the lock order: sessions that a tool may reach besides the caller must not come before it. */
export async function lockCaller(
  work: Work,
  { org_id, session_id }: Pick<RunRow, "org_id" | "session_id">,
  tool: Tool | undefined,
  input?: unknown,
): Promise<SessionWriter | undefined> {
  if (tool?.makesSessions) await lockOrg(work.tx, org_id);
  const parsed = tool?.reaches && tool.schema.safeParse(input);
  if (tool?.reaches && parsed?.success)
    await work.sessionsWithParents([
      session_id,
      ...(await tool.reaches(work.tx, session_id, parsed.data)),
    ]);
  return work.sessionWithParent(session_id);
}

/** A repeated call gets its earlier result, whatever the rules say since. */
async function findDenialUnlessDone(
  work: Work,
  { session, run, callId }: ToolCaller,
  judged: JournaledCall,
): Promise<string | undefined> {
  if (await findToolResult(work.tx, run.prompt_id, callId)) return undefined;
  return work.findDenial(session, run, judged);
}

async function wasAllowed(
  work: Work,
  run: RunRow,
  { callId, tool, verdict }: JournaledCall,
): Promise<boolean> {
  if (verdict !== "ask") return verdict === "allow";
  const gate = await findGateByCall(work.tx, run.prompt_id, callId);
  // A deferred gate is about a call that is performed when it is decided, and never again.
  if (gate?.state !== "decided" || gate.deferred === 1 || gate.tool !== tool) return false;
  if (gate.decision === null) return false;
  return (JSON.parse(gate.decision) as { allowed: boolean }).allowed;
}

/** Performs a call; the caller has checked that it may be performed. */
export async function perform(
  work: Work,
  catalogue: Catalogue,
  caller: ToolCaller,
  { tool: name, input }: { tool: string; input: unknown },
): Promise<ToolResult> {
  const { run, callId } = caller;
  const kept = await findToolResult(work.tx, run.prompt_id, callId);
  if (kept) return kept;
  const tool = catalogue.findTool(name, input, toolUserOf(caller.session.row));
  if (!tool) return failed(unknownTool(name, catalogue.namesFor(caller.session.row)));
  const parsed = tool.schema.safeParse(input);
  if (!parsed.success) return failed(invalidInput(name, parsed.error));
  const result = await tool.handle(work, caller, parsed.data);
  await keepToolResult(work.tx, run, callId, result, work.now);
  return result;
}

export function failed(error: string): ToolResult {
  return { output: null, error };
}
