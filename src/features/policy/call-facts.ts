/** What rules may look at of a call: the tool, its target, and what the target means. */
import { readCommands, type ShellReading } from "./bash-commands.ts";
import { normalPath } from "./paths.ts";

export interface CallFacts {
  tool: string;
  target: string | null;
  /** The workspace began empty, so all that is in it the session made itself. */
  fresh: boolean;
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

export function factsOf(
  tool: string,
  target: string | null,
  fresh: boolean,
  input?: unknown,
): CallFacts {
  return {
    tool,
    target,
    fresh,
    shell: tool === "bash" && target !== null ? readCommands(target) : null,
    path: PATH_TOOLS.has(tool) && target !== null ? normalPath(target) : null,
    glob: tool === "grep" ? globIn(input) : null,
    url: tool === "web_fetch" && target !== null ? URL.parse(target) : null,
  };
}

function globIn(input: unknown): string | null {
  const { glob } = (input ?? {}) as { glob?: unknown };
  return typeof glob === "string" ? glob : null;
}

export function isPathTool(tool: string): boolean {
  return PATH_TOOLS.has(tool);
}
