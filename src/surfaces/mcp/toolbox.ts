/** What a caller has here: tools to list and to call, whoever the caller is. */
import { createHash } from "node:crypto";
import type { CallToolResult, Tool } from "@modelcontextprotocol/sdk/types.js";
import { Refusal } from "#base/refusal.ts";

export interface CallContext {
  /** The same for a call that is sent again; undefined when that cannot be told. */
  callId: string | undefined;
  /** Aborted when nobody waits for the answer any more. */
  signal: AbortSignal;
  /** Tells the client that something goes on; it is told nothing when it did not ask for it. */
  progress(message: string): void;
  /** Whether the credential is still what it was; asked before an answer that was waited for. */
  isStillGood(): Promise<boolean>;
}

export interface Toolbox {
  /** For the model of the client. */
  instructions: string;
  list(): Promise<Tool[]>;
  /** Whether calls of this tool wait for something, and so can be cancelled. */
  mayWait(name: string): boolean;
  /** True when a call that is made again with the same `callId` does nothing twice. */
  isRepeatable(name: string): boolean;
  call(name: string, input: unknown, context: CallContext): Promise<CallToolResult>;
}

/** An object goes out as one, besides its text: not every client reads both. */
export function succeeded(output: unknown, ...notes: string[]): CallToolResult {
  const text = typeof output === "string" ? output : (JSON.stringify(output) ?? "null");
  const isObject = typeof output === "object" && output !== null && !Array.isArray(output);
  return {
    content: [text, ...notes].map((part) => ({ type: "text", text: part })),
    ...(isObject ? { structuredContent: output as Record<string, unknown> } : {}),
  };
}

/** In words that say what to do next: the model reads them and goes on. */
export function failed(text: string): CallToolResult {
  return { content: [{ type: "text", text }], isError: true };
}

/** What the caller can act on becomes an answer; anything else is a bug, and thrown on. */
export async function answering(work: () => Promise<CallToolResult>): Promise<CallToolResult> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return failed(`${error.code}: ${error.message}`);
  }
}

/**
 * Names one message of one client. Ids of requests begin anew with each client, so without the
 * client's own name nothing is known by them.
 */
export function messageKey(
  who: string,
  clientId: string | undefined,
  ...parts: unknown[]
): string | undefined {
  if (clientId === undefined) return undefined;
  const text = JSON.stringify([who, clientId, ...parts]);
  return `mcp_${createHash("sha256").update(text).digest("hex").slice(0, 40)}`;
}
