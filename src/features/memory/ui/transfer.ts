/** Export of memories as a file, and import of files. */
import type { Imported, MemoryFile } from "#features/memory/contract.ts";
import { type MemoryScopeChoice, readScope } from "#surfaces/web/kit/api/memory-scope.ts";
import { type ReadFile, readText, readZip, TOO_LONG, writeZip } from "./zip.ts";

/** Same limits as the server's. */
const FILES_AT_ONCE = 200;
const MAX_FILE_CHARS = 16_000;
const MAX_FILES = 2_000;
/** Larger files cannot be memories. */
const MAX_FILE_BYTES = 4 * MAX_FILE_CHARS + 4;
const MAX_ARCHIVE_BYTES = 50_000_000;
const MARKDOWN = /\.(md|markdown)$/i;
/** Files that some programs add to every archive. */
const JUNK = /(^|\/)(__MACOSX|\.)/;

export async function exportScope(scope: MemoryScopeChoice): Promise<{ name: string; blob: Blob }> {
  const { files } = await readScope(scope);
  const of = typeof scope === "object" ? (scope.repo ?? "no-repository") : "orchestrator";
  const name = `muster-memory-${of.replaceAll(/[^\w.-]+/g, "-")}.zip`;
  return { name, blob: new Blob([writeZip(files)], { type: "application/zip" }) };
}

/** Reads markdown files, and archives of them. */
export async function readFiles(chosen: readonly File[]): Promise<ReadFile[]> {
  const files: ReadFile[] = [];
  for (const file of chosen) {
    if (/\.zip$/i.test(file.name)) files.push(...(await readArchive(file)));
    else files.push(await readOne(file));
    if (files.length > MAX_FILES) throw new Error(`Choose at most ${MAX_FILES} files.`);
  }
  return files;
}

async function readOne(file: File): Promise<ReadFile> {
  const path = file.name;
  if (!MARKDOWN.test(path)) return { path, reason: "Not a Markdown file or a ZIP archive." };
  if (file.size > MAX_FILE_BYTES) return { path, reason: TOO_LONG };
  return readText(path, new Uint8Array(await file.arrayBuffer()));
}

async function readArchive(file: File): Promise<ReadFile[]> {
  if (file.size > MAX_ARCHIVE_BYTES) throw new Error(`${file.name} is too large.`);
  return readZip(new Uint8Array(await file.arrayBuffer()), {
    isWanted: (path) => MARKDOWN.test(path) && !JUNK.test(path),
    maxFiles: MAX_FILES,
    maxBytes: MAX_FILE_BYTES,
  });
}

type Send = (files: MemoryFile[]) => Promise<Imported>;

/** Imports in batches. Files that were not sent are reported with those that the server refused. */
export async function importFiles(files: readonly ReadFile[], send: Send): Promise<Imported> {
  const done: Imported = { created: 0, replaced: 0, unchanged: 0, pruned: 0, refused: [] };
  const sent: MemoryFile[] = [];
  for (const file of files) {
    const { path } = file;
    if ("reason" in file) done.refused.push({ path, reason: file.reason });
    else if (file.content.length > MAX_FILE_CHARS) done.refused.push({ path, reason: TOO_LONG });
    else sent.push({ path: path.slice(-500), content: file.content });
  }
  for (let from = 0; from < sent.length; from += FILES_AT_ONCE) {
    const part = await send(sent.slice(from, from + FILES_AT_ONCE));
    done.created += part.created;
    done.replaced += part.replaced;
    done.unchanged += part.unchanged;
    done.pruned += part.pruned;
    done.refused.push(...part.refused);
  }
  return done;
}
