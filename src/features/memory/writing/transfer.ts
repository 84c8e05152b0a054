/** Exports a scope as a folder of markdown files, and imports a folder into a scope. */
import type { Reader } from "#base/store/index.ts";
import type { Work } from "#engine/index.ts";
import type { Imported, ImportRequest, MemoryFile } from "../contract.ts";
import {
  findByTitle,
  listMemories,
  listScopes,
  lockOrCreateScope,
  type MemoryScopeKey,
} from "../queries.ts";
import { FIRST_RELEVANCE, fadesAt, MAX_RELEVANCE } from "../ranking/relevance.ts";
import { termsOfText, titleKey } from "../ranking/topic.ts";
import type { MemoryRow, MemoryScopeRow } from "../schema.ts";
import { MAX_PINNED, MAX_UNPINNED } from "../scope.ts";
import { type FileMemory, fromFile, toFile } from "./markdown.ts";
import { addMemory, changeMemory, type Writer } from "./write-memory.ts";

export async function exportScope(reader: Reader, key: MemoryScopeKey): Promise<MemoryFile[]> {
  const files = (await rowsOn(reader, key)).map((row) => toFile(fileMemory(row)));
  return files.sort((one, other) => (one.path < other.path ? -1 : 1));
}

/**
 * Imports files. A file with the title or exactly the text of a memory is that memory. Nothing is
 * guessed from words here: two exported memories come back as two.
 */
export async function importFiles(
  work: Work,
  key: MemoryScopeKey,
  { files }: ImportRequest,
  writer: Writer,
): Promise<Imported> {
  const scope = await lockOrCreateScope(work.tx, key, work.ids.mint("shf"));
  const known = new Map((await rowsOn(work.tx, key)).map((row) => [identityOf(row), row]));
  const done: Imported = { created: 0, replaced: 0, unchanged: 0, pruned: 0, refused: [] };
  const inOrder = files.toSorted((one, other) => (one.path < other.path ? -1 : 1));
  for (const file of inOrder) {
    const memory = fromFile(file);
    if ("reason" in memory) done.refused.push({ path: file.path, reason: memory.reason });
    else await importFile(work, scope, { memory, known, writer, done });
  }
  return done;
}

interface FileImport {
  memory: FileMemory;
  /** Memories that are in the scope already. */
  known: Map<string, MemoryRow>;
  writer: Writer;
  done: Imported;
}

async function importFile(
  work: Work,
  scope: MemoryScopeRow,
  { memory, known, writer, done }: FileImport,
) {
  const { category, title } = memory;
  const titled =
    title === null ? undefined : await findByTitle(work.tx, scope.id, category, titleKey(title));
  const same = titled ?? known.get(identityOf(memory));
  if (same && same.content === memory.content && same.title === title) {
    done.unchanged += 1;
    return;
  }
  // A folder may have more pins than the limit; the text is kept without its pin.
  const pinned = memory.pinned && scope.pinned < MAX_PINNED;
  if (same) {
    await changeMemory(
      work,
      scope,
      same,
      { ...memory, pinned: pinned || undefined },
      writer.source,
    );
    done.replaced += 1;
    return;
  }
  const draft = { ...memory, pinned };
  const times = timesOf(memory, work.now);
  const added = await addMemory(work, scope, { draft, words: termsOfText(memory), writer, times });
  known.set(identityOf(memory), added.row);
  for (const row of added.pruned) known.delete(identityOf(row));
  done.created += 1;
  done.pruned += added.pruned.length;
}

/**
 * Limits the times of a file: an old folder must not fade on arrival,
 * and no file can claim more relevance than allowed.
 */
function timesOf({ createdAt, updatedAt, fadesAt: fades }: FileMemory, now: number) {
  const created_at = Math.min(createdAt ?? now, now);
  const isFresh = fades !== null && fades > now;
  return {
    created_at,
    updated_at: Math.min(Math.max(updatedAt ?? created_at, created_at), now),
    fades_at: isFresh
      ? Math.min(fades, fadesAt(MAX_RELEVANCE, now))
      : fadesAt(FIRST_RELEVANCE, now),
  };
}

const identityOf = ({ category, content }: Pick<FileMemory, "category" | "content">) =>
  JSON.stringify([category, content]);

function fileMemory(row: MemoryRow): FileMemory {
  return {
    category: row.category,
    title: row.title,
    content: row.content,
    pinned: row.pinned === 1,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    fadesAt: row.fades_at,
  };
}

/** Reads all memories of a scope, whose number is limited. */
async function rowsOn(reader: Reader, key: MemoryScopeKey): Promise<MemoryRow[]> {
  const { kind, repo } = key;
  const scope = (await listScopes(reader, key, kind)).find((one) => one.repo === repo);
  if (!scope) return [];
  const limit = MAX_UNPINNED[kind] + MAX_PINNED;
  return listMemories(reader, { ...key, scopes: [scope.id], limit });
}
