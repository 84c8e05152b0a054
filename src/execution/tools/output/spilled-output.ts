/**
 * Stores output that is too long to show in a file in the scratch folder, readable by the agent.
 * The latest files are kept, within a limit per session.
 */
import { randomBytes } from "node:crypto";
import { lstat, unlink } from "node:fs/promises";
import { posix } from "node:path";
import type { Workspace } from "#execution/workspaces/workspace.ts";
import {
  type ConfinedFiles,
  childPath,
  type Folder,
  filesOf,
  listFolder,
} from "../files/confined-files.ts";
import { errnoOf } from "../perform-tool.ts";
import type { ToolContext, ToolOutcome } from "../tool.ts";
import { type BufferedOutput, OutputBuffer, type Spill } from "./output-buffer.ts";

const FOLDER = "muster-output";
/** Limit of earlier output. The next may be 64 MB, which makes a quarter of a gigabyte. */
const KEPT_BYTES = 192 * 1024 ** 2;
const MAX_LISTED = 5000;
const BLOCK_BYTES = 512;

export function createSpill(
  workspace: Workspace,
  callId: string,
  keptBytes = KEPT_BYTES,
): () => Promise<Spill> {
  const files = filesOf(workspace);
  const name = callId.replaceAll(/[^\w-]/g, "_").slice(0, 100) || "output";
  const pathOf = (file: string) => posix.join(workspace.scratchPath, FOLDER, `${file}.txt`);
  return async () => {
    await prune(files, posix.join(workspace.scratchPath, FOLDER), keptBytes);
    try {
      return { file: await files.create(pathOf(name)), path: pathOf(name) };
    } catch (error) {
      if (errnoOf(error) !== "EEXIST") throw error;
    }
    // A model may use an id twice.
    const path = pathOf(`${name}-${randomBytes(6).toString("hex")}`);
    return { file: await files.create(path), path };
  };
}

/** Deletes the oldest files. An entry that is no plain file is not ours, and stays. */
async function prune(files: ConfinedFiles, path: string, keptBytes: number): Promise<void> {
  const opened = await files.open(path).catch(() => null);
  if (opened === null) return;
  const { handle } = opened.kind === "file" ? opened : opened.folder;
  try {
    if (opened.kind === "folder") await pruneFolder(opened.folder, keptBytes);
  } finally {
    await handle.close();
  }
}

async function pruneFolder(folder: Folder, keptBytes: number): Promise<void> {
  const found: { path: string; bytes: number; at: number }[] = [];
  for (const { name } of await listFolder(folder, MAX_LISTED)) {
    const path = childPath(folder, name);
    const stats = await lstat(path).catch(() => null);
    if (!stats?.isFile()) continue;
    found.push({ path, bytes: stats.blocks * BLOCK_BYTES, at: stats.mtimeMs });
  }
  let left = keptBytes;
  for (const { path, bytes } of found.sort((a, b) => b.at - a.at)) {
    left -= bytes;
    if (left < 0) await unlink(path).catch(() => {});
  }
}

/** Makes an outcome of text of any length. The workspace is opened only if the text is too long. */
export async function boundText(context: ToolContext, text: string): Promise<ToolOutcome> {
  const buffer = new OutputBuffer({
    openSpill: async () => await createSpill(await context.workspace(), context.callId)(),
  });
  await buffer.write(Buffer.from(text));
  return toOutcome(await buffer.finish());
}

export function toOutcome({ text, spilled }: BufferedOutput): ToolOutcome {
  return { output: text, error: null, ...(spilled ? { spilled } : {}) };
}
