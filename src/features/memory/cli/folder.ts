/** `muster memory export` and `import`: memories as a folder of markdown files. */
import { lstat, readdir, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Command } from "commander";
import { Refusal } from "#base/refusal.ts";
import {
  type Imported,
  MAX_FILE_CHARS,
  MAX_IMPORTED,
  MEMORY_PATH,
  type MemoryFile,
} from "#features/memory/contract.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";
import { safeLine } from "#surfaces/cli/kit/text/terminal.ts";
import { refreshFolder } from "./export.ts";
import { REPO_OPTION, type RepoOption } from "./scope.ts";

const MAX_DEPTH = 5;
const MAX_FILES = 5_000;
/** A character takes up to four bytes. */
const MAX_FILE_BYTES = 4 * MAX_FILE_CHARS;

export function addMemoryFolderCommands(group: Command, host: CliHost): void {
  group
    .command("export")
    .description("Export memories to a folder as Markdown; the same memories give the same files.")
    .argument("<folder>", "a new or empty folder, or one with an earlier export")
    .option(...REPO_OPTION)
    .option("--force", "overwrite files of an earlier export that have changed")
    .action((folder: string, options: ExportOptions, command: Command) =>
      perform(host, command, (invocation) => exportTo(invocation, folder, options)),
    );
  group
    .command("import")
    .description(
      "Import a folder of Markdown files. A file with the title or text of a memory updates that memory.",
    )
    .argument("<folder>")
    .option(...REPO_OPTION)
    .action((folder: string, options: RepoOption, command: Command) =>
      perform(host, command, (invocation) => importFrom(invocation, folder, options)),
    );
}

interface ExportOptions extends RepoOption {
  force?: boolean;
}

async function exportTo(
  invocation: Invocation,
  to: string,
  { repo, force = false }: ExportOptions,
): Promise<Ending> {
  const folder = resolve(to);
  const { files } = await invocation.api().memory.export({ query: { repo } });
  // Names come from a server and become paths here, so they are checked here too.
  if (!files.every(({ path }) => MEMORY_PATH.test(path)))
    throw new Refusal(
      "unsupported",
      "export_invalid",
      "Nothing was written: the server sent a file name that is not a memory's.",
    );
  const { removed } = await refreshFolder(folder, files, force);
  const count = files.length === 1 ? "1 memory is" : `${files.length} memories are`;
  const gone = removed.length === 0 ? "" : ` Files of deleted memories removed: ${removed.length}.`;
  invocation.print({ folder, files: files.map(({ path }) => path), removed }, [
    `${count} written to ${folder}.${gone}`,
  ]);
  return DONE;
}

async function importFrom(
  invocation: Invocation,
  from: string,
  { repo }: RepoOption,
): Promise<Ending> {
  const files = await readFolder(resolve(from), "", 0);
  if (files.length === 0)
    throw new Refusal(
      "invalid",
      "folder_invalid",
      `${resolve(from)} has no file that ends in .md.`,
    );
  const api = invocation.api();
  const sum: Imported = { created: 0, replaced: 0, unchanged: 0, pruned: 0, refused: [] };
  for (let at = 0; at < files.length; at += MAX_IMPORTED) {
    const body = { files: files.slice(at, at + MAX_IMPORTED), repo };
    const done = await api.memory.import({ body });
    for (const name of ["created", "replaced", "unchanged", "pruned"] as const)
      sum[name] += done[name];
    sum.refused.push(...done.refused);
  }
  const { created, replaced, unchanged, pruned, refused } = sum;
  invocation.print(sum, [
    `${created} new, ${replaced} replaced, ${unchanged} unchanged${pruned > 0 ? `, ${pruned} removed to make room` : ""}.`,
    ...refused.map(({ path, reason }) => safeLine(`${path} was not imported: ${reason}`)),
  ]);
  return DONE;
}

/** Reads a folder. Links and hidden files are skipped: only files that are visible in the folder are sent. */
async function readFolder(folder: string, prefix: string, depth: number): Promise<MemoryFile[]> {
  if (depth > MAX_DEPTH) throw invalid(folder, "has too many folders");
  const files: MemoryFile[] = [];
  for (const name of await namesIn(folder)) {
    const at = join(folder, name);
    const seen = await lstat(at);
    const path = `${prefix}${name}`;
    if (seen.isDirectory()) files.push(...(await readFolder(at, `${path}/`, depth + 1)));
    else if (seen.isFile() && name.endsWith(".md"))
      files.push({ path, content: await readText(at, seen.size) });
    if (files.length > MAX_FILES) throw invalid(folder, `has more than ${MAX_FILES} files`);
  }
  return files;
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((name) => !name.startsWith(".")).sort();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw invalid(folder, code === "ENOENT" ? "does not exist" : `cannot be read (${code})`, error);
  }
}

async function readText(path: string, bytes: number): Promise<string> {
  if (bytes > MAX_FILE_BYTES) throw invalid(path, "is too large for a memory");
  try {
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    return decoder.decode(await readFile(path));
  } catch (error) {
    throw invalid(path, "is not text in UTF-8", error);
  }
}

function invalid(path: string, what: string, cause?: unknown): Refusal {
  const message = `${path} ${what}. Correct it and try again.`;
  return new Refusal("invalid", "folder_invalid", message, { cause });
}
