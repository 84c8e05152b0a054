/** Tools of a caller, whatever its kind: listing and calling. */
import { createHash } from "node:crypto";
import type { CallToolResult, Tool } from "@modelcontextprotocol/sdk/types.js";
import { Refusal } from "#base/refusal.ts";

export interface CallContext {
  /** Equal for a repeated call; undefined when a repeat cannot be recognised. */
  callId: string | undefined;
  /** Aborted when nobody waits for the result any more. */
  signal: AbortSignal;
  /** Reports progress to a client that asked for it. */
  progress(message: string): void;
  /** True while the credential is unchanged; checked before a result that was waited for. */
  isStillGood(): Promise<boolean>;
}

export interface Toolbox {
  /** Instructions for the model of the client. */
  instructions: string;
  list(): Promise<Tool[]>;
  /** True if calls of this tool wait, and so can be cancelled. */
  mayWait(name: string): boolean;
  /** True when a repeated call with the same `callId` does nothing twice. */
  isRepeatable(name: string): boolean;
  call(name: string, input: unknown, context: CallContext): Promise<CallToolResult>;
}

/** Returns an object both as data and as text: not every client reads both. */
export function succeeded(output: unknown, ...notes: string[]): CallToolResult {
  const text = typeof output === "string" ? output : (JSON.stringify(output) ?? "null");
  const isObject = typeof output === "object" && output !== null && !Array.isArray(output);
  return {
    content: [text, ...notes].map((part) => ({ type: "text", text: part })),
    ...(isObject ? { structuredContent: output as Record<string, unknown> } : {}),
  };
}

/** Returns an error whose text says what to do next: the model reads it and continues. */
export function failed(text: string): CallToolResult {
  return { content: [{ type: "text", text }], isError: true };
}

/** Turns a refusal into a result; any other error is a bug, and thrown on. */
export async function answering(work: () => Promise<CallToolResult>): Promise<CallToolResult> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return failed(`${error.code}: ${error.message}`);
  }
}

/**
 * Names one message of one client. Each client numbers its requests from the start, so without the client's
 * own name no message is recognised.
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
