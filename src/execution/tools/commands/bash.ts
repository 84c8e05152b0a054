/** The bash tool: runs a command in the session's sandbox, in the folder where the last one ended. */
import { randomBytes } from "node:crypto";
import type { CommandEnd } from "#execution/sandboxes/sandbox.ts";
import { bashInput } from "#protocol/tools.ts";
import { endOfCharacter, OutputBuffer, TailBuffer } from "../output/output-buffer.ts";
import { createSpill, toOutcome } from "../output/spilled-output.ts";
import { createTool, ToolProblem } from "../perform-tool.ts";
import type { RunnerTool, ToolContext, ToolOutcome } from "../tool.ts";
import type { BackgroundProcesses } from "./background-processes.ts";
import { composeScript, readReport } from "./bash-script.ts";
import { readCommand } from "./command-output.ts";

const DEFAULT_TIMEOUT_MS = 120_000;
/** The private channel carries one path; other output written there is cut to this. */
const PRIVATE_BYTES = 16_384;
const PROGRESS_BURST_BYTES = 64_000;
const PROGRESS_BYTES_PER_SECOND = 32_000;

/** Folder in which each session's last command ended, as seen inside. */
export type WorkingDirectories = Map<string, string>;

export function createBashTool(
  background: BackgroundProcesses,
  directories: WorkingDirectories,
): RunnerTool {
  return createTool("bash", bashInput, async (context, input) => {
    const { command, timeoutMs = DEFAULT_TIMEOUT_MS } = input;
    if (command.includes("\0")) throw new ToolProblem("A command cannot contain a NUL character.");
    if (!input.background) return await runCommand(context, directories, command, timeoutMs);
    const { sandbox } = await context.workspace();
    const { argv, stdin } = composeScript(command, bytesOf(context.cwd), null);
    const { id } = background.add(context.sessionId, command, () => ({
      process: sandbox.run({ argv }),
      stdin,
    }));
    return {
      output: `Started in the background as ${id}. Read its output, or kill it, with the processes tool.`,
      error: null,
    };
  });
}

async function runCommand(
  context: ToolContext,
  directories: WorkingDirectories,
  command: string,
  timeoutMs: number,
): Promise<ToolOutcome> {
  const { sessionId, signal, callId } = context;
  const workspace = await context.workspace();
  const nonce = randomBytes(12).toString("hex");
  const script = composeScript(command, bytesOf(context.cwd), nonce);
  const output = new OutputBuffer({ openSpill: createSpill(workspace, callId) });
  const privateLine = new TailBuffer(PRIVATE_BYTES);
  const showProgress = createProgress(context);
  const process = workspace.sandbox.run({ argv: script.argv, signal, timeoutMs });
  const end = await readCommand(
    process,
    {
      stdout(chunk) {
        showProgress(chunk);
        return output.write(chunk);
      },
      stderr: (chunk) => privateLine.push(chunk),
    },
    script.stdin,
  );
  const { cwd, rest } = readReport(privateLine.contents(), nonce);
  if (cwd) keepDirectory(directories, sessionId, cwd, workspace.sandbox.workspacePath);
  await output.write(rest);
  return { ...toOutcome(await output.finish()), ...judge(end, timeoutMs) };
}

function bytesOf(path: string | null): Buffer | null {
  return path === null ? null : Buffer.from(path);
}

/** A folder whose name is no text cannot be shown or judged, so the next command begins at the top. */
function keepDirectory(
  directories: WorkingDirectories,
  sessionId: string,
  cwd: Buffer,
  top: string,
): void {
  const path = cwd.toString("utf8");
  if (path === top || !Buffer.from(path).equals(cwd)) directories.delete(sessionId);
  else directories.set(sessionId, path);
}

function judge(end: CommandEnd, timeoutMs: number): Pick<ToolOutcome, "error" | "exitCode"> {
  const { exitCode, signal, killedBy } = end;
  switch (killedBy) {
    case "timeout":
      return {
        exitCode,
        error: `The command was killed after ${timeoutMs / 1000} s, with everything it had started. Use a longer timeoutMs, or run it with background: true.`,
      };
    case "abort":
      return { exitCode, error: "The command was stopped with its turn." };
    case "memory":
      return {
        exitCode,
        error:
          "The command was killed because it exceeded its memory limit. Work in smaller pieces.",
      };
    case "quota":
    case "disk":
      return { exitCode, error: `The command was ended. ${end.why ?? "The disk is full."}` };
    case null:
      break;
  }
  if (exitCode === 0) return { exitCode, error: null };
  const how = exitCode === null ? `was ended by ${signal}` : `ended with exit code ${exitCode}`;
  return { exitCode, error: `The command ${how}.` };
}

/** Shows output as it comes, but never more than a person could follow, however much there is. */
function createProgress(context: ToolContext): (chunk: Buffer) => void {
  let allowance = PROGRESS_BURST_BYTES;
  let lastAt = performance.now();
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    const now = performance.now();
    const earned = ((now - lastAt) / 1000) * PROGRESS_BYTES_PER_SECOND;
    allowance = Math.min(PROGRESS_BURST_BYTES, allowance + earned);
    lastAt = now;
    if (allowance < chunk.length) {
      rest = Buffer.alloc(0);
      return;
    }
    allowance -= chunk.length;
    const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
    const end = endOfCharacter(bytes);
    rest = Buffer.from(bytes.subarray(end));
    if (end > 0) context.progress(bytes.toString("utf8", 0, end));
  };
}
