/** Resolves paths of an agent by their text alone. The server and the runner use the same function. */

/** Path of the workspace for commands in bubblewrap. */
export const WORKSPACE_PATH = "/workspace";
/** Path of the scratch folder for commands in bubblewrap. */
export const SCRATCH_PATH = "/tmp";

const MAX_DEPTH = 256;

export type Located = { root: number; names: string[] } | { problem: string };

/** Finds the root that holds a path; relative paths begin at the first. Links are not followed. */
export function locatePath(roots: readonly string[], path: string): Located {
  const [top = "/"] = roots;
  if (path.includes("\0")) return { problem: "A path cannot contain a NUL character." };
  const steps = stepsOf(path.startsWith("/") ? path : `${top}/${path}`);
  for (const [root, folder] of roots.entries()) {
    const base = stepsOf(folder);
    if (!base.every((step, at) => steps[at] === step)) continue;
    const names = steps.slice(base.length);
    return names.length > MAX_DEPTH
      ? { problem: "The path has too many folders." }
      : { root, names };
  }
  return {
    problem: `${path} is outside the workspace. Name a path in ${top}, relative or absolute.`,
  };
}

function stepsOf(path: string): string[] {
  const steps: string[] = [];
  for (const step of path.split("/")) {
    if (step === "..") steps.pop();
    else if (step !== "" && step !== ".") steps.push(step);
  }
  return steps;
}
