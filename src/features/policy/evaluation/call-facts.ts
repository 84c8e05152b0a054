/** What rules may look at of a call: the tool, its target, and what the target means. */
import { readCommands, type ShellReading } from "../shell/bash-commands.ts";
import { normalPath } from "../shell/paths.ts";

export interface CallFacts {
  tool: string;
  target: string | null;
  /** All that is where it works the session made itself. */
  fresh: boolean;
  /** Its machine keeps commands apart from itself. */
  sandboxed: boolean;
  /** It runs at the top of the workspace, and is waited for. */
  plainPlace: boolean;
  /** Of a shell command: what it would run. */
  shell: ShellReading | null;
  /** Of a tool on files: the path, with `.` and `..` worked out. */
  path: string | null;
  /** Of a search: which files it looks at. */
  glob: string | null;
  /** Of a fetch: the address, in its one normal form; null when it is none. */
  url: URL | null;
}

/** Tools whose target is a path. */
const PATH_TOOLS: ReadonlySet<string> = new Set(["read", "write", "edit", "grep", "glob"]);

/**
 * `fresh`: the workspace began empty. `cwd` is where a command would run, as seen inside; null is the
 * top of the workspace.
 */
export function factsOf(
  tool: string,
  target: string | null,
  fresh: boolean,
  input?: unknown,
  cwd: string | null = null,
): CallFacts {
  const { background } = (input ?? {}) as { background?: unknown };
  return {
    tool,
    target,
    fresh: fresh && isInWorkspace(cwd),
    sandboxed: true,
    plainPlace: cwd === null && background !== true,
    shell: tool === "bash" && target !== null ? readCommands(target) : null,
    path: PATH_TOOLS.has(tool) && target !== null ? normalPath(target) : null,
    glob: tool === "grep" ? globIn(input) : null,
    url: tool === "web_fetch" && target !== null ? URL.parse(target) : null,
  };
}

function isInWorkspace(cwd: string | null): boolean {
  return cwd === null || `${normalPath(cwd)}/`.startsWith("/workspace/");
}

function globIn(input: unknown): string | null {
  const { glob } = (input ?? {}) as { glob?: unknown };
  return typeof glob === "string" ? glob : null;
}

export function isPathTool(tool: string): boolean {
  return PATH_TOOLS.has(tool);
}
