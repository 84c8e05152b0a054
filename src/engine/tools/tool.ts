/** Contract of a tool that the server performs. */
import * as z from "zod";
import type { Reader } from "#base/store/index.ts";
import type { ToolSpec } from "#protocol/tools.ts";
import type { RunRow } from "../schema.ts";
import type { SessionWriter, Work } from "../work.ts";

export interface ToolResult {
  output: unknown;
  error: string | null;
  /** True when the result ends the turn. */
  endsTurn?: boolean;
}

/** The verified caller of a tool, with its session locked. */
export interface ToolCaller {
  session: SessionWriter;
  run: RunRow;
  callId: string;
}

export interface Tool extends ToolSpec, Needs {
  /** Writes through `work` alone; a `Refusal` undoes the call and is shown to the model. */
  handle(work: Work, caller: ToolCaller, input: unknown): Promise<ToolResult>;
}

interface Needs {
  /**
   * Marks a tool that creates sessions: they are counted under the org's lock, which is taken
   * first.
   */
  makesSessions?: boolean;
  /**
   * Sessions that the tool may write to besides the caller and its parent: they are locked
   * together.
   */
  reaches?(reader: Reader, callerId: string, input: unknown): Promise<readonly string[]>;
}

/** Keeps the input's type between the schema and the handler. */
export function defineTool<S extends z.ZodType>(
  tool: ToolSpec<S> &
    Needs & {
      handle(work: Work, caller: ToolCaller, input: z.infer<S>): Promise<ToolResult>;
    },
): Tool {
  return tool as unknown as Tool;
}

export function unknownTool(name: string, known: readonly string[]): string {
  return `There is no tool named ${name}. Your tools: ${known.join(", ") || "none"}.`;
}

export function invalidInput(name: string, error: z.ZodError): string {
  return `The input does not fit ${name}:\n${z.prettifyError(error)}`;
}
