/**
 * Refuses calls that their performer would refuse anyway, with the same functions and the same wording.
 * No rule can allow such a call, and nobody is asked to approve something that will not be done.
 */
import { findUrlProblem } from "#base/net/address-rules.ts";
import { locatePath, SCRATCH_PATH, WORKSPACE_PATH } from "#protocol/names/workspace-paths.ts";

/** Tools whose target is the path of a file or a folder. */
const FILE_TOOLS: ReadonlySet<string> = new Set(["read", "write", "edit", "grep"]);

interface Call {
  tool: string;
  target: string | null;
}

/** Refuses a call in advance. `isConfined`: the runner of the call has a sandbox; false if unknown. */
export function refuseInAdvance({ tool, target }: Call, isConfined: boolean): string | undefined {
  if (target === null) return undefined;
  if (tool === "web_fetch") return refuseUrl(target);
  return FILE_TOOLS.has(tool) ? refusePath(target, isConfined) : undefined;
}

function refuseUrl(target: string): string | undefined {
  const url = URL.parse(target);
  // A target that is no URL does not fit the tool's schema.
  const problem = url ? findUrlProblem(url) : undefined;
  return problem && `${problem.code}: ${problem.message}`;
}

/** Only the runner knows what lies outside a workspace that has no sandbox, because it may lie anywhere. */
function refusePath(target: string, isConfined: boolean): string | undefined {
  const roots = isConfined ? [WORKSPACE_PATH, SCRATCH_PATH] : ["/"];
  const found = locatePath(roots, target);
  return "problem" in found ? found.problem : undefined;
}
