/** Runs git for the runner, always in a sandbox, because an agent can write what git reads. */
import { gitEnv } from "#base/git/git-env.ts";
import { collectText } from "#execution/sandboxes/collect-text.ts";
import type { Sandbox, SandboxProcess } from "#execution/sandboxes/sandbox.ts";

export { lastErrorLines as lastWords } from "#base/git/git-env.ts";

export const GIT_ENV: Readonly<Record<string, string>> = gitEnv({
  protocols: ["file", "https", "http"],
});

export interface GitScript {
  script: string;
  /** Arguments `$1`, `$2` … of the script. */
  args?: readonly string[];
  env?: Readonly<Record<string, string>>;
  stdin?: Buffer;
  cwd?: string;
  timeoutMs?: number;
  signal?: AbortSignal;
  maxBytes?: number;
}

export interface GitResult {
  exitCode: number | null;
  /** Output with one character per byte, so that names in any encoding survive. */
  stdout: string;
  stderr: string;
  /** Set when git was ended for lack of room: in its own folder, or on the disk. */
  endedFor?: { by: "quota" | "disk"; why: string };
}

/** Replaces git's error output if git was stopped. */
export const STOPPED = "it was stopped";
export function tookTooLong(timeoutMs: number): string {
  return `it took longer than ${Math.round(timeoutMs / 1_000)} s and was stopped`;
}

const TIMEOUT_MS = 120_000;
const MAX_BYTES = 64 * 1024 ** 2;

export async function runGit(sandbox: Sandbox, call: GitScript): Promise<GitResult> {
  const running = start(sandbox, call);
  running.stdin.end(call.stdin);
  const [stdout, stderr, { exitCode, killedBy, why }] = await Promise.all([
    collectText(running.stdout, call.maxBytes ?? MAX_BYTES, "latin1"),
    collectText(running.stderr),
    running.ended,
  ]);
  if (killedBy === "timeout")
    return { exitCode, stdout, stderr: `${stderr}\n${tookTooLong(call.timeoutMs ?? TIMEOUT_MS)}` };
  if (killedBy === "quota" || killedBy === "disk") {
    const endedFor = { by: killedBy, why: why ?? "" };
    return { exitCode, stdout, stderr: `${stderr}\n${endedFor.why}`, endedFor };
  }
  if (killedBy === "abort") return { exitCode, stdout, stderr: `${stderr}\n${STOPPED}` };
  return { exitCode, stdout, stderr };
}

/**
 * Runs a script that first writes a list, ended by an empty word, and then reads what is to be done
 * with it: one sandbox instead of two. The result is the output after the list. A script that
 * failed before the end of its list gets no input.
 */
export async function runGitWithList(
  sandbox: Sandbox,
  call: Omit<GitScript, "stdin">,
  answer: (list: string[]) => Promise<Buffer>,
): Promise<GitResult> {
  const running = start(sandbox, call);
  const maxChars = call.maxBytes ?? MAX_BYTES;
  const list = new WordList();
  const rest: string[] = [];
  let restChars = 0;
  const keep = (text: string) => {
    if (restChars < maxChars) rest.push(text);
    restChars += text.length;
  };
  const read = async () => {
    running.stdout.setEncoding("latin1");
    for await (const chunk of running.stdout as AsyncIterable<string>) {
      if (list.isComplete) keep(chunk);
      else {
        const after = list.push(chunk);
        if (after === null) continue;
        keep(after);
        running.stdin.end(await answer(list.words()));
      }
    }
    running.stdin.end();
  };
  try {
    const [stderr, { exitCode }] = await Promise.all([
      collectText(running.stderr),
      running.ended,
      read(),
    ]);
    return { exitCode, stdout: rest.join("").slice(0, maxChars), stderr };
  } catch (error) {
    running.kill();
    await running.ended;
    throw error;
  }
}

/** Words that end with a zero byte; an empty one ends the list. */
class WordList {
  isComplete = false;
  readonly #parts: string[] = [];
  #lastChar = "\0";

  /** Returns the text after the end of the list; null if the list has not ended. */
  push(chunk: string): string | null {
    const isAtOnce = this.#lastChar === "\0" && chunk.startsWith("\0");
    const end = isAtOnce ? 0 : chunk.indexOf("\0\0") + 1;
    this.isComplete = isAtOnce || end > 0;
    this.#parts.push(this.isComplete ? chunk.slice(0, end) : chunk);
    this.#lastChar = chunk.at(-1) ?? this.#lastChar;
    return this.isComplete ? chunk.slice(end + 1) : null;
  }

  words(): string[] {
    return this.#parts.join("").split("\0").filter(Boolean);
  }
}

function start(sandbox: Sandbox, call: GitScript): SandboxProcess {
  return sandbox.run({
    argv: ["/bin/sh", "-c", call.script, "sh", ...(call.args ?? [])],
    env: { ...GIT_ENV, ...call.env },
    timeoutMs: call.timeoutMs ?? TIMEOUT_MS,
    ...(call.cwd !== undefined && { cwd: call.cwd }),
    ...(call.signal !== undefined && { signal: call.signal }),
  });
}
