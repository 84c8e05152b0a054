/**
 * Tools that live on the server. Each is defined once: a name, a description for a model, a schema
 * and a handler. A call runs in one transaction that first makes sure of the caller's fence, and its
 * answer is kept with it: the same call of the same turn is performed once, however often it is
 * sent. Every failure becomes text that tells the model what to do next.
 */
import * as z from "zod";
import { Refusal } from "#base/refusal.ts";
import type { ToolSpec } from "#protocol/tools.ts";
import { findRun, HELD_STATES } from "../runs/queries.ts";
import type { RunRow } from "../schema.ts";
import { command, type Engine, type SessionWriter, type Work } from "../work.ts";
import { findToolResult, keepToolResult } from "./queries.ts";

export interface ToolCall {
  runId: string;
  fence: number;
  runnerId: string;
  callId: string;
}

export interface ToolResult {
  output: unknown;
  error: string | null;
}

/** Who calls, locked and certain. */
export interface ToolCaller {
  session: SessionWriter;
  run: RunRow;
  callId: string;
}

export interface Tool extends ToolSpec {
  /** Writes through `work` alone; a `Refusal` undoes it and is told to the model. */
  handle(work: Work, caller: ToolCaller, input: unknown): Promise<ToolResult>;
}

/** Keeps the input's type between the schema and the handler. */
export function defineTool<S extends z.ZodType>(
  tool: ToolSpec<S> & {
    handle(work: Work, caller: ToolCaller, input: z.infer<S>): Promise<ToolResult>;
  },
): Tool {
  return tool as unknown as Tool;
}

export type ToolAnswer = ToolResult | { lost: true };

export interface ToolHost {
  call(call: ToolCall, name: string, input: unknown): Promise<ToolAnswer>;
}

export function createToolHost(engine: Engine, tools: readonly Tool[]): ToolHost {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  return {
    async call(call, name, input) {
      const tool = byName.get(name);
      if (!tool) return failed(unknownTool(name, [...byName.keys()]));
      const parsed = tool.schema.safeParse(input);
      if (!parsed.success) return failed(invalidInput(name, parsed.error));
      try {
        return await command(engine, (work) => perform(work, tool, call, parsed.data));
      } catch (error) {
        // A store that is away says nothing about the call: it is sent again, and not told to the model.
        if (!(error instanceof Refusal) || error.kind === "unavailable") throw error;
        return failed(`${error.code}: ${error.message}`);
      }
    },
  };
}

async function perform(
  work: Work,
  tool: Tool,
  { runId, fence, runnerId, callId }: ToolCall,
  input: unknown,
): Promise<ToolAnswer> {
  const found = await findRun(work.tx, runId);
  const session = found && (await work.session(found.session_id));
  const run = session && (await findRun(work.tx, runId));
  if (!session || run?.fence !== fence || run.runner_id !== runnerId || !isHeld(run))
    return { lost: true };
  const kept = await findToolResult(work.tx, run.prompt_id, callId);
  if (kept) return kept;
  const result = await tool.handle(work, { session, run, callId }, input);
  await keepToolResult(work.tx, run, callId, result, work.now);
  return result;
}

function isHeld(run: RunRow): boolean {
  return (HELD_STATES as readonly string[]).includes(run.state);
}

function failed(error: string): ToolResult {
  return { output: null, error };
}

export function unknownTool(name: string, known: readonly string[]): string {
  return `There is no tool called ${name}. Tools you have: ${known.join(", ") || "none"}.`;
}

export function invalidInput(name: string, error: z.ZodError): string {
  return `The input does not fit ${name}:\n${z.prettifyError(error)}`;
}
