/** A way to use a session: what its prompts say and how they are sent, and what their turns leave. */
import type { QueueMode } from "#protocol/sessions.ts";
import type { ScriptRuntime } from "../history.ts";
import type { Random } from "../random.ts";

export interface Style {
  runtime: ScriptRuntime;
  /** Further fields of its sessions. */
  session?: Readonly<Record<string, unknown>>;
  /** A prompt unlike any other: `mark` is in it. */
  write(mark: string, random: Random): string;
  mode(random: Random): QueueMode;
}

/** One item of a turn's journal, as far as it can be foreseen. */
export interface ExpectedItem {
  type: "message" | "pre_tool" | "post_tool";
  step: number | null;
  kind: "text" | "reasoning" | "tool_call" | "tool_result";
  /** Null where it depends on what happened. */
  text: string | null;
}
