/**
 * Shared steps of every tool's `perform`: the input gets its type, and failures of the outside
 * become errors a model can act on. A bug is thrown on.
 */
import * as z from "zod";
import { Refusal } from "#base/refusal.ts";
import { findUnstorable } from "#base/text/clean-text.ts";
import type { RunnerTool, ToolContext, ToolOutcome } from "./tool.ts";

/** A sentence for a model: what went wrong, and what to do next. */
export class ToolProblem extends Error {
  override readonly name = "ToolProblem";
}

export function createTool<S extends z.ZodType>(
  name: string,
  schema: S,
  work: (context: ToolContext, input: z.infer<S>) => Promise<ToolOutcome>,
): RunnerTool {
  return {
    name,
    async perform(context, input) {
      const parsed = schema.safeParse(input);
      if (!parsed.success)
        return failed(`The input does not fit ${name}:\n${z.prettifyError(parsed.error)}`);
      const odd = findUnstorable(parsed.data);
      if (odd) return failed(unusable(odd));
      try {
        if (context.signal.aborted) return failed("It was stopped before it started.");
        return await work(context, parsed.data);
      } catch (error) {
        return failed(explain(error));
      }
    },
  };
}

/** No path, argument or journal accepts such text, so a call with it would not do what it says. */
function unusable(path: readonly string[]): string {
  return `${path.join(".")} contains a NUL character or broken Unicode, which cannot be used here. Remove it; to write such bytes into a file, use printf in bash.`;
}

export function failed(error: string): ToolOutcome {
  return { output: "", error };
}

function explain(error: unknown): string {
  if (error instanceof ToolProblem || error instanceof Refusal) return error.message;
  const code = errnoOf(error);
  if (code !== null) return `${SAYINGS[code] ?? "The machine refused it"} (${code}).`;
  throw error;
}

/** Code of a system error; null for every other error. */
export function errnoOf(error: unknown): string | null {
  if (!(error instanceof Error) || !("syscall" in error) || !("code" in error)) return null;
  return typeof error.code === "string" ? error.code : null;
}

const SAYINGS: Readonly<Record<string, string>> = {
  EACCES: "Permission denied. Choose another path, or change its mode with bash",
  EPERM: "That is not permitted here. Choose another path",
  ENOSPC: "The disk is full. Delete what is not needed and try again",
  EDQUOT: "The disk quota is used up. Delete what is not needed and try again",
  EFBIG: "The file would exceed the size limit. Write less",
  EROFS: "That location is read-only. Write somewhere in the workspace",
  ENAMETOOLONG: "The name is too long. Choose a shorter one",
  EMFILE: "The runner has too many files open. Try again in a moment",
  ENFILE: "The machine has too many files open. Try again in a moment",
  ELOOP: "The path changed while it was opened. Try again",
  ENOENT: "The path vanished while it was opened. Try again",
  ENOTDIR: "The path changed while it was opened. Try again",
  EISDIR: "That is a folder. Name a file",
};
