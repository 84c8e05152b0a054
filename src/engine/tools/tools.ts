/**
 * Tools that live on the server. Each is defined once: a name, a description for a model, a schema
 * and a handler. The registry validates, calls and turns every failure into text that tells the
 * model what to do next; a handler never sees input its schema refuses.
 */
import * as z from "zod";
import { Refusal } from "#base/refusal.ts";
import type { Engine } from "../work.ts";

export interface ToolCall {
  runId: string;
  sessionId: string;
  promptId: string;
  callId: string;
}

export interface ToolResult {
  output: unknown;
  error: string | null;
}

export interface Tool {
  name: string;
  description: string;
  schema: z.ZodType;
  handle(engine: Engine, call: ToolCall, input: unknown): Promise<ToolResult>;
}

/** Keeps the input's type between the schema and the handler. */
export function defineTool<S extends z.ZodType>(tool: {
  name: string;
  description: string;
  schema: S;
  handle(engine: Engine, call: ToolCall, input: z.infer<S>): Promise<ToolResult>;
}): Tool {
  return {
    ...tool,
    handle: (engine, call, input) => tool.handle(engine, call, input as z.infer<S>),
  };
}

export interface ToolHost {
  call(call: ToolCall, name: string, input: unknown): Promise<ToolResult>;
}

export function createToolHost(engine: Engine, tools: readonly Tool[]): ToolHost {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  return {
    async call(call, name, input) {
      const tool = byName.get(name);
      if (!tool) {
        const known = [...byName.keys()].join(", ") || "none";
        return {
          output: null,
          error: `There is no tool called ${name}. Tools you have: ${known}.`,
        };
      }
      const parsed = tool.schema.safeParse(input);
      if (!parsed.success)
        return {
          output: null,
          error: `The input does not fit ${name}:\n${z.prettifyError(parsed.error)}`,
        };
      try {
        return await tool.handle(engine, call, parsed.data);
      } catch (error) {
        if (error instanceof Refusal)
          return { output: null, error: `${error.code}: ${error.message}` };
        throw error;
      }
    },
  };
}
