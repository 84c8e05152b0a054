/** Prompt texts, and the log entries that their turns must leave. */
import type { QueueMode } from "#protocol/sessions.ts";
import type { ScriptRuntime } from "../history.ts";
import type { Random } from "../random.ts";
import type { ExpectedItem, Style } from "./style.ts";

export const echoStyle: Style = {
  runtime: "echo",
  write: (mark, random) => `${mark} ${"words ".repeat(random.between(1, 20))}`.trim(),
  mode: anyMode,
};

export const scriptedStyle: Style = {
  runtime: "scripted",
  write(mark, random) {
    const steps = [`say ${mark} begins`];
    for (let n = random.between(2, 5); n > 0; n--) steps.push(writeStep(mark, n, random));
    return steps.join("\n");
  },
  mode: anyMode,
};

/** Turns that take a while before anything is journaled, so that they are lost without progress. */
export const patientStyle: Style = {
  runtime: "scripted",
  write: (mark, random) =>
    [
      `sleep ${random.between(500, 3_000)}`,
      `say ${mark} has waited`,
      `sleep ${random.between(0, 1_000)}`,
      `say ${mark} is over`,
    ].join("\n"),
  mode: (random) => (random.chance(0.9) ? "followup" : "steer"),
};

function anyMode(random: Random): QueueMode {
  const choice = random.next();
  if (choice < 0.6) return "followup";
  if (choice < 0.8) return "collect";
  return choice < 0.93 ? "steer" : "interrupt";
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

/** The journal of a turn that ran to its end. */
export function expectItems(
  runtime: Exclude<ScriptRuntime, "native">,
  content: string,
): ExpectedItem[] {
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
