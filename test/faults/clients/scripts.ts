/** What prompts say, and what a turn that works them must leave in the log. */
import type { ScriptRuntime } from "../history.ts";
import type { Random } from "../random.ts";

/** One item of a turn's journal, as far as it can be foreseen. */
export interface ExpectedItem {
  type: "message" | "pre_tool" | "post_tool";
  step: number | null;
  kind: "text" | "reasoning" | "tool_call" | "tool_result";
  /** Null where it depends on what happened. */
  text: string | null;
}

/** A prompt unlike any other: `mark` is in it. */
export function writePrompt(runtime: ScriptRuntime, mark: string, random: Random): string {
  if (runtime === "echo") return `${mark} ${"words ".repeat(random.between(1, 20))}`.trim();
  const steps = [`say ${mark} begins`];
  for (let n = random.between(2, 5); n > 0; n--) steps.push(writeStep(mark, n, random));
  return steps.join("\n");
}

function writeStep(mark: string, n: number, random: Random): string {
  const kind = random.pick(["say", "think", "sleep", "sleep", "stream", "tool"]);
  switch (kind) {
    case "sleep":
      return `sleep ${random.between(10, 120)}`;
    case "stream":
      return `stream ${random.between(3, 10)} ${random.between(5, 15)}`;
    case "tool":
      return `tool no_such_tool {"n": ${n}}`;
    default:
      return `${kind} ${mark} ${n}`;
  }
}

/** The journal of a turn that came to its end. */
export function expectItems(runtime: ScriptRuntime, content: string): ExpectedItem[] {
  if (runtime === "echo") return [{ type: "message", step: null, kind: "text", text: content }];
  return content.split("\n").flatMap((line, step): ExpectedItem[] => {
    const [word, rest = ""] = line.split(/ (.*)/s);
    switch (word) {
      case "say":
        return [{ type: "message", step, kind: "text", text: rest }];
      case "think":
        return [{ type: "message", step, kind: "reasoning", text: rest }];
      case "stream":
        return [{ type: "message", step, kind: "text", text: tokens(Number.parseInt(rest, 10)) }];
      case "tool":
        return [
          { type: "pre_tool", step, kind: "tool_call", text: null },
          { type: "post_tool", step, kind: "tool_result", text: null },
        ];
      default:
        return [];
    }
  });
}

function tokens(count: number): string {
  return Array.from({ length: count }, (_, n) => `token${n + 1}`).join(" ");
}
