/** Indexing what has changed, some at a time: what is gone leaves the index, the rest is written anew. */
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

/** Of one transaction. */
const MAX_CHANGES = 32;
/** Of texts that are taken apart. */
export const MAX_CHARS = 24_000;
export const MERGED_PAGES = 16;

/** Number of rows that may leave the index in the next transaction. */
export interface DropLimit {
  room: number;
}

/** True when there may be more to do. */
export async function indexChanges(
  { store, clock }: Engine,
  sources: Sources,
  limit: DropLimit = { room: DROP_ROOM },
): Promise<boolean> {
  const steady = () => clock.steady?.() ?? clock.now();
  // Most of the time there are none, and nobody has to wait to learn that.
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
      const { cost, fate } = await indexOne(tx, change, present.get(keyOf(change)), room);
      room -= cost;
      if (fate !== "stays") done.push(change);
      // It goes to the end: others need not wait until the whole of it is gone.
      if (fate === "goes_on") await noteChange(tx, change.kind, change.ref);
    }
    // One that dropped little says nothing of how long dropping takes.
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

/** The first of them, as many as one transaction may take apart. */
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
  /** Of what went. */
  cost: number;
  fate: "done" | "stays" | "goes_on";
}

async function indexOne(
  tx: Tx,
  { kind, ref }: ChangeRow,
  row: SearchableRow | undefined,
  room: number,
): Promise<Outcome> {
  if (kind === "session" && !row) {
    const cost = await forgetEntries(tx, ref, room);
    if (cost !== undefined) return { cost, fate: "goes_on" };
  }
  const known = await findDocument(tx, kind, ref);
  if (known && room <= 0) return { cost: 0, fate: "stays" };
  const document = row && documentOf(kind, row);
  const isSame =
    known?.title === document?.title &&
    known?.body === document?.body &&
    known?.marks === document?.marks;
  if (isSame) return { cost: 0, fate: "done" };
  if (known) await dropDocument(tx, known.id);
  if (document) await addDocument(tx, document);
  return { cost: known ? dropCost(known) : 0, fate: "done" };
}

/** Of a session that is gone. Returns what it cost; undefined when nothing of it was left. */
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
