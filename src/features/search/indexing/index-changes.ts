/** Indexes changes in batches: deleted things leave the index, the others are written again. */
import type { Tx } from "#base/store/index.ts";
import type { Engine, SearchableRow } from "#engine/index.ts";
import {
  addDocument,
  dropChanges,
  dropCursor,
  dropDocument,
  findDocument,
  isOurTurn,
  listChanges,
  listEntryDocuments,
  mergeIndex,
  noteChange,
} from "../queries.ts";
import type { ChangeRow } from "../schema.ts";
import { documentOf } from "./document.ts";
import { DROP_ROOM, dropCost, droppedAtMost, nextRoom, thatFit } from "./drop-room.ts";
import type { Sources } from "./sources.ts";

/** Maximum of changes in one transaction. */
const MAX_CHANGES = 32;
/** Maximum of characters in one transaction. */
export const MAX_CHARS = 24_000;
export const MERGED_PAGES = 16;

/** Limit in characters on what may leave the index in the next transaction. */
export interface DropLimit {
  room: number;
}

/** Indexes one batch; true if there may be more to do. */
export async function indexChanges(
  { store, clock }: Engine,
  sources: Sources,
  limit: DropLimit = { room: DROP_ROOM },
): Promise<boolean> {
  const steady = () => clock.steady?.() ?? clock.now();
  // Usually there are none; a read shows that without waiting for the writer.
  const [first] = await store.read((reader) => listChanges(reader, 1));
  if (!first) return false;
  return store.transaction(async (tx) => {
    if (!(await isOurTurn(tx))) return false;
    const changes = await listChanges(tx, MAX_CHANGES);
    if (changes.length === 0) return false;
    const present = await readAll(tx, sources, changes);
    const done: ChangeRow[] = [];
    const begunAt = steady();
    const given = limit.room;
    let room = given;
    for (const change of fitting(changes, present)) {
      const { cost, result } = await indexOne(tx, change, present.get(keyOf(change)), room);
      room -= cost;
      if (result !== "stays") done.push(change);
      // The change moves to the end, so that others need not wait until all of it is removed.
      if (result === "goes_on") await noteChange(tx, change.kind, change.ref);
    }
    // A transaction that removed little says nothing about the duration of removals.
    if (room <= 0) limit.room = nextRoom(given, steady() - begunAt);
    await dropChanges(tx, done);
    await mergeIndex(tx, MERGED_PAGES);
    return true;
  });
}

const keyOf = ({ kind, ref }: Pick<ChangeRow, "kind" | "ref">) => `${kind} ${ref}`;

async function readAll(
  tx: Tx,
  sources: Sources,
  changes: readonly ChangeRow[],
): Promise<Map<string, SearchableRow>> {
  const found = new Map<string, SearchableRow>();
  for (const kind of new Set(changes.map((change) => change.kind))) {
    const refs = changes.filter((change) => change.kind === kind).map(({ ref }) => ref);
    const rows = (await sources.get(kind)?.read(tx, [...new Set(refs)])) ?? [];
    for (const row of rows) found.set(keyOf({ kind, ref: row.id }), row);
  }
  return found;
}

/** Returns the first changes, as many as one transaction may split into words. */
function fitting(
  changes: readonly ChangeRow[],
  present: ReadonlyMap<string, SearchableRow>,
): readonly ChangeRow[] {
  let chars = 0;
  const last = changes.findIndex((change) => {
    chars += present.get(keyOf(change))?.text.length ?? 0;
    return chars >= MAX_CHARS;
  });
  return last < 0 ? changes : changes.slice(0, last + 1);
}

interface Outcome {
  /** Cost of the removed documents. */
  cost: number;
  result: "done" | "stays" | "goes_on";
}

async function indexOne(
  tx: Tx,
  { kind, ref }: ChangeRow,
  row: SearchableRow | undefined,
  room: number,
): Promise<Outcome> {
  if (kind === "session" && !row) {
    const cost = await forgetEntries(tx, ref, room);
    if (cost !== undefined) return { cost, result: "goes_on" };
  }
  const known = await findDocument(tx, kind, ref);
  if (known && room <= 0) return { cost: 0, result: "stays" };
  const document = row && documentOf(kind, row);
  const isSame =
    known?.title === document?.title &&
    known?.body === document?.body &&
    known?.marks === document?.marks;
  if (isSame) return { cost: 0, result: "done" };
  if (known) await dropDocument(tx, known.id);
  if (document) await addDocument(tx, document);
  return { cost: known ? dropCost(known) : 0, result: "done" };
}

/** Removes entries of a deleted session. Returns their cost; undefined if none was left. */
export async function forgetEntries(
  tx: Tx,
  sessionId: string,
  room: number,
): Promise<number | undefined> {
  const some = await listEntryDocuments(tx, sessionId, droppedAtMost(room));
  if (some.length === 0) {
    await dropCursor(tx, sessionId);
    return undefined;
  }
  let cost = 0;
  for (const document of thatFit(some, room)) {
    await dropDocument(tx, document.id);
    cost += dropCost(document);
  }
  return cost;
}
