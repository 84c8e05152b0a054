/** Applies recorded changes to a new workspace, by git and inside its sandbox: an agent wrote them. */
import type { Sandbox } from "#execution/sandboxes/sandbox.ts";
import { exactPatch, type FileChange } from "#protocol/workspaces.ts";
import { runGit } from "../repository/run-git.ts";

/** Inside somebody's repository, git would take paths from the top of that one, and skip all. */
const APPLY =
  'GIT_CEILING_DIRECTORIES="$(dirname "$(pwd -P)")" git apply --whitespace=nowarn --binary -';
const TIMEOUT_MS = 60_000;

/**
 * Returns the paths that could not be applied. All are applied together where they fit; where one
 * does not, because the repository has moved on, each is applied by itself.
 */
export async function applyChanges(
  sandbox: Sandbox,
  files: readonly FileChange[],
  signal: AbortSignal,
): Promise<string[]> {
  const patches = files.flatMap((file) => {
    const patch = exactPatch(file);
    return patch ? [{ path: file.path, patch }] : [];
  });
  if (patches.length === 0) return [];
  const apply = async (text: string) => {
    const stdin = Buffer.from(text);
    const call = { script: APPLY, stdin, signal, timeoutMs: TIMEOUT_MS };
    return (await runGit(sandbox, call)).exitCode === 0;
  };
  if (await apply(patches.map(({ patch }) => patch).join(""))) return [];
  const failed: string[] = [];
  for (const { path, patch } of patches) if (!(await apply(patch))) failed.push(path);
  return failed;
}
