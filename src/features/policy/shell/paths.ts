/** Paths as text: the server has no disk to look at, so links are not followed here. */

/**
 * Normalizes a path: drops empty and `.` segments and resolves `..`.
 * A path that leads out at the top keeps its `..`.
 */
export function normalPath(path: string): string {
  const isAbsolute = path.startsWith("/");
  const steps: string[] = [];
  for (const step of path.split("/")) {
    if (step === "" || step === ".") continue;
    if (step !== "..") steps.push(step);
    else if (steps.length > 0 && steps.at(-1) !== "..") steps.pop();
    else if (!isAbsolute) steps.push("..");
  }
  const joined = steps.join("/");
  if (isAbsolute) return `/${joined}`;
  return joined === "" ? "." : joined;
}

/**
 * True for a relative path that stays inside and names something:
 * neither the folder itself nor everything in it.
 */
export function isPlainInside(path: string): boolean {
  if (/^[/~]/.test(path) || path.split("/").includes("..")) return false;
  const first = normalPath(path).split("/")[0] ?? ".";
  return first !== "." && !/[*?[\]{}]/.test(first);
}
