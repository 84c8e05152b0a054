/**
 * A folder that memories are exported to repeatedly, such as one kept in git. A list in it records our
 * files and their hashes; no other file is ever changed or removed, and neither is a file of ours that
 * somebody has changed since.
 */
import { createHash } from "node:crypto";
import { lstat, mkdir, readdir, readFile, rename, rm, rmdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Refusal } from "#base/refusal.ts";
import { isRecord } from "#client/index.ts";
import { MEMORY_PATH, type MemoryFile } from "#features/memory/contract.ts";

/** Hidden, so that an import skips it. */
const LIST = ".muster-memory.json";
const NAMED = 5;

export async function refreshFolder(
  folder: string,
  files: readonly MemoryFile[],
  isForced: boolean,
): Promise<{ removed: string[] }> {
  await mkdir(folder, { recursive: true });
  const ours = await readList(folder);
  // Hidden files, such as those of git, say nothing about the purpose of a folder.
  if (!ours && (await readdir(folder)).some((name) => !name.startsWith(".")))
    throw new Refusal(
      "conflict",
      "folder_not_empty",
      `${folder} contains something other than an export. Name a new folder.`,
    );
  const wanted = new Map(files.map(({ path, content }) => [path, content]));
  const removed = [...(ours?.keys() ?? [])].filter((path) => !wanted.has(path)).sort();
  const changed: string[] = [];
  for (const path of [...wanted.keys(), ...removed])
    if (!(await mayReplace(folder, path, ours?.get(path), { isForced, wanted })))
      changed.push(path);
  if (changed.length > 0) throw changedSince(folder, changed);
  for (const [path, content] of wanted) await put(join(folder, ...path.split("/")), content);
  for (const path of removed) await remove(join(folder, ...path.split("/")));
  const list = Object.fromEntries(files.map(({ path, content }) => [path, hashOf(content)]));
  await put(join(folder, LIST), `${JSON.stringify({ files: list }, null, 2)}\n`);
  return { removed };
}

/**
 * Reads the hash of each written file by path.
 * A path that we would not write is not ours, whatever the list says.
 */
async function readList(folder: string): Promise<Map<string, string> | undefined> {
  const at = join(folder, LIST);
  const text = await textAt(at);
  if (text === undefined) return;
  let files: unknown;
  try {
    files = (JSON.parse(text) as { files?: unknown } | null)?.files;
  } catch {
    files = undefined;
  }
  if (!isRecord(files))
    throw new Refusal("conflict", "folder_not_empty", `${at} cannot be read. Name a new folder.`);
  const known = Object.entries(files).filter(
    (entry): entry is [string, string] =>
      MEMORY_PATH.test(entry[0]) && typeof entry[1] === "string",
  );
  return new Map(known);
}

interface ReplaceOptions {
  isForced: boolean;
  wanted: ReadonlyMap<string, string>;
}

async function mayReplace(
  folder: string,
  path: string,
  written: string | undefined,
  { isForced, wanted }: ReplaceOptions,
): Promise<boolean> {
  const at = join(folder, ...path.split("/"));
  // A link would lead out of the folder.
  if (!(await isFolderOrNothing(dirname(at)))) return false;
  const text = await textAt(at);
  if (text === undefined) return !(await isThere(at));
  if (text === wanted.get(path) || hashOf(text) === written) return true;
  return isForced && written !== undefined;
}

async function isFolderOrNothing(path: string): Promise<boolean> {
  const seen = await lstat(path).catch(nothingIfMissing);
  return seen === undefined || seen.isDirectory();
}

async function isThere(path: string): Promise<boolean> {
  return (await lstat(path).catch(nothingIfMissing)) !== undefined;
}

/** Reads a file; undefined if there is no plain file. */
async function textAt(path: string): Promise<string | undefined> {
  const seen = await lstat(path).catch(nothingIfMissing);
  return seen?.isFile() ? await readFile(path, "utf8") : undefined;
}

function nothingIfMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}

/** Writes a file atomically. */
async function put(path: string, content: string): Promise<void> {
  if ((await textAt(path)) === content) return;
  await mkdir(dirname(path), { recursive: true });
  const draft = join(dirname(path), `.muster-${process.pid}.tmp`);
  try {
    await writeFile(draft, content, { flag: "wx" });
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

async function remove(path: string): Promise<void> {
  await rm(path, { force: true });
  const folder = dirname(path);
  const names = await readdir(folder).catch(nothingIfMissing);
  if (names?.length === 0) await rmdir(folder);
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function changedSince(folder: string, paths: readonly string[]): Refusal {
  const named = paths.slice(0, NAMED).join(", ");
  const more = paths.length > NAMED ? ` and ${paths.length - NAMED} more` : "";
  return new Refusal(
    "conflict",
    "export_changed",
    `Changed since the last export, in ${folder}: ${named}${more}. Nothing was written. Import the changes with muster memory import, move the files away, or discard the changes with --force.`,
  );
}
