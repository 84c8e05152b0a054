/** The todo tool: the transcript keeps the list, so the tool only returns it. */
import { todoInput } from "#protocol/tools.ts";
import { createTool } from "./perform-tool.ts";
import type { RunnerTool } from "./tool.ts";

const BOXES = { pending: "[ ]", in_progress: "[~]", done: "[x]" } as const;

export function createTodoTool(): RunnerTool {
  return createTool("todo", todoInput, async (_context, { items }) => ({
    output:
      items.map(({ text, state }) => `- ${BOXES[state]} ${text}`).join("\n") || "Nothing to do.",
    error: null,
  }));
}
