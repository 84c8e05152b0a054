/** Facts of a call that rules look at: the tool, its target, and the meaning of the target. */
import { readCommands, type ShellReading } from "../shell/bash-commands.ts";
import { normalPath } from "../shell/paths.ts";

export interface CallFacts {
  tool: string;
  target: string | null;
  /** True if the session itself made everything in its workspace. */
  fresh: boolean;
  /** True if the machine runs commands in a sandbox. */
  sandboxed: boolean;
  /** True if the command runs at the top of the workspace and in the foreground. */
  plainPlace: boolean;
  /** Commands that a shell command would run; null for other tools. */
  shell: ShellReading | null;
  /** Normalized path of a file tool; null for other tools. */
  path: string | null;
  /** Glob of the files that a search looks at. */
  glob: string | null;
  /** Normalized URL of a fetch; null if the target is no URL. */
  url: URL | null;
}

/** Tools whose target is a path. */
const PATH_TOOLS: ReadonlySet<string> = new Set(["read", "write", "edit", "grep", "glob"]);

/**
 * Derives the facts of a call. `fresh`: the workspace began empty. `cwd`: the folder of a command, as
 * seen inside the workspace; null is its top.
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
