/** Runs the command that prepares a new workspace, as its repository asks for: once, in the sandbox. */

import { readCommand } from "#execution/tools/commands/command-output.ts";
import { filesOf } from "#execution/tools/files/confined-files.ts";
import { TailBuffer } from "#execution/tools/output/output-buffer.ts";
import type { Redactor } from "#execution/tools/output/redact.ts";
import type { Workspace } from "#execution/workspaces/workspace.ts";
import type { Turn } from "../runtime.ts";

/** Marks that the command was run, however it ended; git does not see this folder. */
const DONE = ".muster/setup-done";
const TIMEOUT_MS = 10 * 60_000;
const SHOWN_BYTES = 2_000;

export interface SetUpCommand {
  command: string;
  /** Removes secrets from the output of the command, which is shown. */
  redact: Redactor;
}

export async function setUp(
  turn: Turn,
  workspace: Workspace,
  { command, redact }: SetUpCommand,
): Promise<void> {
  const isDone = await filesOf(workspace)
    .open(DONE)
    .then(
      async (opened) => {
        await (opened.kind === "file" ? opened.handle : opened.folder.handle).close();
        return true;
      },
      () => false,
    );
  if (isDone) return;
  await turn.step();
  const output = new TailBuffer(SHOWN_BYTES);
  const process = workspace.sandbox.run({
    argv: ["bash", "-c", command],
    signal: AbortSignal.any([turn.signal, turn.killed]),
    timeoutMs: TIMEOUT_MS,
  });
  const { exitCode, killedBy, why } = await readCommand(process, {
    stdout: (chunk) => output.push(chunk),
    stderr: (chunk) => output.push(chunk),
  });
  // Stopped with the turn: the next one tries again.
  if (killedBy === "abort") return;
  // The next turn tries again, too, when there is room on the disk.
  if (killedBy !== "disk") await markDone(workspace, exitCode);
  if (exitCode === 0) return;
  const how = killedBy === null ? `with exit code ${exitCode}` : `by force (${killedBy})`;
  const reason = why === undefined ? "" : ` ${why}`;
  await turn.append({
    type: "notice",
    entryId: turn.entryId(),
    text: `The repository's setup command ended ${how}.${reason} Its last output: ${redact(output.contents().toString("utf8").trim())}`,
  });
}

/** Two files of a few bytes are written to a full workspace too: otherwise no turn could ever begin. */
async function markDone(workspace: Workspace, exitCode: number | null): Promise<void> {
  const files = filesOf({ ...workspace, meter: undefined });
  await files.replace(".muster/.gitignore", "*\n");
  await files.replace(DONE, `${exitCode}\n`);
}
