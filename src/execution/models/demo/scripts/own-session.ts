/** Questions about the demo's own session, answered by looking. */
import { end, excerpt, fenced, type MadeCall, play, type Script, succeeded } from "../script.ts";

const ASKS_FILES =
  /\b(what|which|list|show)\b[^.?!]*\bfiles?\b|\bls\b|what('s| is) in (the|this|your) (folder|workspace|directory)/i;
const ASKS_STEPS =
  /what (did|have) you (do|done|just do|make|made|change|changed|run)|what happened|what tools? did you/i;

export const ownFiles: Script = {
  name: "own-files",
  fits: ({ said }) => ASKS_FILES.test(said),
  next(scene) {
    const stages = scene.tools.has("glob")
      ? [
          {
            say: "Let me look.",
            call: { tool: "glob", input: { pattern: "**/*" } },
            isNeeded: true,
          },
        ]
      : [
          {
            say: "Let me look.",
            call: { tool: "bash", input: { command: "ls -la" } },
            isNeeded: true,
          },
        ];
    return play({ stages, close: ([call]) => describeFiles(call ?? null) }, scene);
  },
};

function describeFiles(call: MadeCall | null): string {
  const text = call?.result?.text.trim() ?? "";
  if (!succeeded(call))
    return `I could not look: ${excerpt(text, 3, 300) || "there was no result"}`;
  if (text === "" || /^no (files|matches)/i.test(text)) return "The workspace is empty so far.";
  return `This is what is in the workspace:\n\n${fenced(excerpt(text, 30))}`;
}

export const ownSteps: Script = {
  name: "own-steps",
  fits: ({ said }) => ASKS_STEPS.test(said),
  next(scene) {
    const { earlierCalls } = scene;
    if (earlierCalls.length === 0) {
      return end("I have not used a tool in this conversation yet.");
    }
    const close = ([call]: readonly (MadeCall | null)[]) => {
      const steps = earlierCalls.slice(-20).map(describeCall).join("\n");
      const folder = succeeded(call)
        ? `\n\nThe folder as it is now:\n\n${fenced(excerpt(call?.result?.text ?? ""))}`
        : "";
      return `In this conversation I made ${count(earlierCalls.length)}:\n\n${steps}${folder}`;
    };
    const look = {
      say: "Let me check.",
      call: { tool: "bash", input: { command: "ls -la" } },
    };
    return play({ stages: [look], close }, scene);
  },
};

function describeCall({ tool, input, result }: MadeCall, index: number): string {
  const about = input.command ?? input.path ?? input.pattern ?? "";
  const target =
    typeof about === "string" && about !== ""
      ? `: ${about.replace(/[`\n]+/g, " ").slice(0, 100)}`
      : "";
  const outcome =
    result === null ? "without a result" : result.isError ? "did not succeed" : "done";
  return `${index + 1}. \`${tool}\`${target} (${outcome})`;
}

function count(calls: number): string {
  return calls === 1 ? "one tool call" : `${calls} tool calls`;
}
