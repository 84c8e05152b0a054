/**
 * Packs the record of a workspace (`keep.git`). Every turn that runs a command adds loose objects and
 * a mark; without packing, the number of files on the disk grows with every turn for ever.
 *
 * Loose objects go into one new pack, whether or not a ref leads to them: the newest state has none
 * until the next mark. When there are many packs, all are written into one. Git renames a finished
 * pack into place before it removes what the pack replaces, so a kill at any point loses nothing.
 */
import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";

/** A record with fewer loose objects, marks and packs is left alone. */
const LOOSE_LIMIT = 256;
const MARK_LIMIT = 32;
const PACK_LIMIT = 16;
/** Larger packs are not joined with others: git's files have a limit in size. */
const LARGE_PACK_BYTES = 512 * 1024 ** 2;

const MARKS = "refs/muster/marks";

export interface SnapshotFiles {
  /** Object ids. */
  loose: string[];
  marks: number;
  /** Packs that are not large. */
  packs: number;
}

export interface PackPlan {
  script: string;
  stdin: Buffer;
}

/** Counts the files of a record; some hundred folders are listed, no file is opened. */
export function listSnapshotFiles(folder: string): SnapshotFiles {
  const objects = join(folder, "objects");
  const loose = namesIn(objects)
    .filter((name) => /^[0-9a-f]{2}$/.test(name))
    .flatMap((name) => namesIn(join(objects, name)).map((rest) => `${name}${rest}`))
    .filter((id) => /^[0-9a-f]{40,64}$/.test(id));
  const packs = namesIn(join(objects, "pack"))
    .filter((name) => name.endsWith(".pack"))
    .filter((name) => sizeOf(join(objects, "pack", name)) < LARGE_PACK_BYTES).length;
  return { loose, packs, marks: namesIn(join(folder, MARKS)).length };
}

/**
 * Quiet, on one core, with little memory; replaced files are removed only after the pack is on the
 * disk.
 */
const GIT =
  "nice -n 19 git -c core.fsync=all -c pack.threads=1 -c pack.windowMemory=64m -c pack.deltaCacheSize=32m -c pack.packSizeLimit=1g";

const PACK_LOOSE = `${GIT} pack-objects -q "$GIT_DIR/objects/pack/pack" >/dev/null || exit
${GIT} prune-packed -q || exit
`;
const JOIN_PACKS = `${GIT} repack -a -d -k -l -q </dev/null || exit
`;
const PACK_MARKS = `${GIT} pack-refs --all --prune || exit
`;

/** Commands that pack a record; null when it is small enough. */
export function planPacking({ loose, marks, packs }: SnapshotFiles): PackPlan | null {
  const packsLoose = loose.length >= LOOSE_LIMIT;
  const packsMarks = marks >= MARK_LIMIT;
  const joinsPacks = packs >= PACK_LIMIT;
  if (!packsLoose && !packsMarks && !joinsPacks) return null;
  return {
    script: `${packsLoose ? PACK_LOOSE : ""}${joinsPacks ? JOIN_PACKS : ""}${packsMarks ? PACK_MARKS : ""}`,
    stdin: Buffer.from(packsLoose ? `${loose.join("\n")}\n` : ""),
  };
}

/** Removes files that a killed packing left behind: drafts of packs, and locks. */
export function clearDrafts(folder: string): void {
  const packs = join(folder, "objects/pack");
  for (const name of namesIn(packs))
    if (name.startsWith("tmp_") || name.startsWith(".tmp-"))
      rmSync(join(packs, name), { force: true });
  rmSync(join(folder, "packed-refs.lock"), { force: true });
  rmSync(join(folder, "packed-refs.new"), { force: true });
  for (const name of namesIn(join(folder, MARKS)))
    if (name.endsWith(".lock")) rmSync(join(folder, MARKS, name), { force: true });
}

/** Commit of a packed ref. */
export function readPackedRef(folder: string, ref: string): string | undefined {
  let text: string;
  try {
    text = readFileSync(join(folder, "packed-refs"), "latin1");
  } catch {
    return undefined; // None is packed yet.
  }
  const at = text.indexOf(` ${ref}\n`);
  return at < 0 ? undefined : text.slice(text.lastIndexOf("\n", at) + 1, at);
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // It does not exist yet.
  }
}
