/** A way to use a session: its prompts, how they are sent, and the traces of their turns. */
import type { QueueMode } from "#protocol/sessions.ts";
import type { NewSession } from "#test/platform.ts";
import type { ScriptRuntime } from "../history.ts";
import type { Random } from "../random.ts";

export interface Style {
  runtime: ScriptRuntime;
  /** Further fields of its sessions. */
  session?: Readonly<NewSession>;
  /** A unique prompt that contains `mark`. */
  write(mark: string, random: Random): string;
  mode(random: Random): QueueMode;
}

/** One item of a turn's journal, as far as it can be predicted. */
export interface ExpectedItem {
  type: "message" | "pre_tool" | "post_tool";
  step: number | null;
  kind: "text" | "reasoning" | "tool_call" | "tool_result";
  /** Null where it depends on the course of the turn. */
  text: string | null;
}
