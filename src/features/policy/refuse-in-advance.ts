/**
 * Refuses what the performer of a call would refuse anyway, by the same functions and in the same
 * words. No rule can allow it, and nobody is asked for something that will not be done.
 */
import { findUrlProblem } from "#base/net/address-rules.ts";
import { locatePath, SCRATCH_PATH, WORKSPACE_PATH } from "#protocol/names/workspace-paths.ts";

/** Tools whose target is the path of a file or a folder. */
const FILE_TOOLS: ReadonlySet<string> = new Set(["read", "write", "edit", "grep"]);

interface Call {
  tool: string;
  target: string | null;
}

/** `isConfined`: the runner that works on the call has a sandbox; false when that is not known. */
export function refuseInAdvance({ tool, target }: Call, isConfined: boolean): string | undefined {
  if (target === null) return undefined;
  if (tool === "web_fetch") return refuseUrl(target);
  return FILE_TOOLS.has(tool) ? refusePath(target, isConfined) : undefined;
}

function refuseUrl(target: string): string | undefined {
  const url = URL.parse(target);
  // What is no address does not fit the tool's schema.
  const problem = url ? findUrlProblem(url) : undefined;
  return problem && `${problem.code}: ${problem.message}`;
}

/** A workspace without a sandbox may lie anywhere: only its runner knows what is outside of it. */
function refusePath(target: string, isConfined: boolean): string | undefined {
  const roots = isConfined ? [WORKSPACE_PATH, SCRATCH_PATH] : ["/"];
  const found = locatePath(roots, target);
  return "problem" in found ? found.problem : undefined;
}
