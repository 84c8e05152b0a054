/** Compares the end of the trail in the database with the head that this server has kept. */
import type { Reader } from "#base/store/index.ts";
import { listRestores, readHead, readSealedHash } from "../queries.ts";
import type { AuditHeadRow, AuditRestoreRow } from "../schema.ts";
import { findCut } from "./cut.ts";
import type { Head, HeadKeeper, KeptHead } from "./kept-head.ts";

export interface HeadCheck {
  head: AuditHeadRow;
  /** Head to keep from now on, with a note of what was found. */
  kept: KeptHead;
  /** True when `kept` differs from the file. */
  hasChanged: boolean;
  /** Reason why the trail does not continue from the kept head; undefined when it does. */
  broken: { seq: number; why: string } | undefined;
}

const NEW: KeptHead = { version: 1, seq: 0, hash: "", at: 0, breaks: [], restores: [] };

/** Returns undefined when the trail has no head, which only a deleted row explains. */
export async function checkHead(
  reader: Reader,
  keeper: HeadKeeper,
  now: number,
): Promise<HeadCheck | undefined> {
  // The file is read first: it never runs ahead of the database, which may continue meanwhile.
  const loaded = keeper.load();
  const head = await readHead(reader);
  if (!head) return undefined;
  const known = loaded === undefined || loaded === "changed" ? NEW : loaded;
  const unheard = await listUnrecordedRestores(reader, keeper, known);
  const restore = unheard.at(-1);
  const why = await findBreak(reader, keeper, loaded, head, restore);
  const isNew = loaded === undefined || known.seq !== head.seq || known.hash !== head.hash;
  const kept = {
    ...known,
    seq: head.seq,
    hash: head.hash,
    at: isNew ? now : known.at,
    breaks: why === undefined ? known.breaks : [...known.breaks, { at: now, seq: head.seq, why }],
    restores: [...known.restores, ...unheard.map(({ id, at, seq }) => ({ id, at, seq }))],
  };
  const broken = why === undefined ? undefined : { seq: head.seq, why };
  return { head, kept, hasChanged: isNew || restore !== undefined || why !== undefined, broken };
}

async function findBreak(
  reader: Reader,
  keeper: HeadKeeper,
  loaded: ReturnType<HeadKeeper["load"]>,
  head: AuditHeadRow,
  restore: AuditRestoreRow | undefined,
): Promise<string | undefined> {
  // A trail of an earlier version has no signature; this server has kept nothing of it either.
  const isFromBefore = head.mac === "" && loaded === undefined;
  if (!isFromBefore && !keeper.isSigned(head))
    return "the end of the trail was not written by this server's key";
  if (loaded === undefined) return undefined;
  if (loaded === "changed") return "the copy of the trail's end in the data folder was changed";
  const from: Head = restore ?? loaded;
  // Read before the cut: a row that housekeeping removes between the two reads is then behind the cut.
  const hash = from.seq <= head.seq ? await readSealedHash(reader, from.seq) : undefined;
  const cut = await findCut(reader, keeper);
  if (cut === "forged") return "the record of removed rows was not written by this server's key";
  // Rows up to the cut are removed, by a record that only this server's key can have made.
  if (from.seq === 0 || from.seq < cut.seq || isSame(from, cut)) return undefined;
  if (hash === from.hash) return undefined;
  return head.seq < from.seq
    ? `rows ${head.seq + 1} to ${from.seq} are gone; if the database was restored from a backup, record it with: muster restore`
    : `row ${from.seq} is not the one that this server sealed`;
}

function isSame(a: Head, b: Head): boolean {
  return a.seq === b.seq && a.hash === b.hash;
}

/**
 * Lists restores that this server has not yet recorded, oldest first. The newest excuses one step back, once.
 */
async function listUnrecordedRestores(
  reader: Reader,
  keeper: HeadKeeper,
  known: KeptHead,
): Promise<AuditRestoreRow[]> {
  const heard = new Set(known.restores.map(({ id }) => id));
  return (await listRestores(reader)).filter(
    (row) => !heard.has(row.id) && keeper.isSignedRestore(row),
  );
}
