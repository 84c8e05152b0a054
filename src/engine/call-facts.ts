/** Facts about one tool call, for commands and listeners. */
import type { Verdict } from "#protocol/sessions.ts";

/** A call as journaled, or as its gate keeps it. */
export interface CallOnRecord {
  callId: string;
  tool: string;
  input: unknown;
  cwd?: string | null | undefined;
}

export interface JudgedCall {
  callId: string;
  tool: string;
  verdict: Verdict["verdict"];
}

/** Facts about an ended call without its content, for the audit trail and usage. */
export interface EndedCall {
  callId: string;
  tool: string;
  failed: boolean;
  exitCode: number | null;
  durationMs: number;
  inputChars: number;
  outputChars: number;
  truncated: boolean;
}
