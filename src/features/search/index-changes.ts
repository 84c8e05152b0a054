/** Indexing what has changed, some at a time: what is gone leaves the index, the rest is written anew. */
import type { Tx } from "#base/store/index.ts";
import type { Engine, SearchableRow } from "#engine/index.ts";
import { documentOf } from "./document.ts";
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
} from "./queries.ts";
import type { ChangeRow } from "./schema.ts";
import type { Sources } from "./sources.ts";

/** Of one transaction. To take a document out of a large index needs some milliseconds. */
const MAX_CHANGES = 32;
export const MAX_DROPPED = 4;
export const MERGED_PAGES = 16;

/** True when there may be more to do. */
export async function indexChanges({ store }: Engine, sources: Sources): Promise<boolean> {
  // Most of the time there are none, and nobody has to wait to learn that.
  const [first] = await store.read((reader) => listChanges(reader, 1));
  if (!first) return false;
  return store.transaction(async (tx) => {
    if (!(await isOurTurn(tx))) return false;
    const changes = await listChanges(tx, MAX_CHANGES);
    if (changes.length === 0) return false;
    const present = await readAll(tx, sources, changes);
    const done: ChangeRow[] = [];
    let room = MAX_DROPPED;
    for (const change of changes) {
      const { dropped, fate } = await indexOne(tx, change, present.get(keyOf(change)), room);
      room -= dropped;
      if (fate !== "stays") done.push(change);
      // It goes to the end: others need not wait until the whole of it is gone.
      if (fate === "goes_on") await noteChange(tx, change.kind, change.ref);
    }
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

interface Outcome {
  /** How many documents went. */
  dropped: number;
  fate: "done" | "stays" | "goes_on";
}

async function indexOne(
  tx: Tx,
  { kind, ref }: ChangeRow,
  row: SearchableRow | undefined,
  room: number,
): Promise<Outcome> {
  if (kind === "session" && !row) {
    const dropped = await forgetEntries(tx, ref, room);
    if (dropped !== undefined) return { dropped, fate: "goes_on" };
  }
  const known = await findDocument(tx, kind, ref);
  if (known && room <= 0) return { dropped: 0, fate: "stays" };
  const document = row && documentOf(kind, row);
  const isSame =
    known?.title === document?.title &&
    known?.body === document?.body &&
    known?.marks === document?.marks;
  if (isSame) return { dropped: 0, fate: "done" };
  if (known) await dropDocument(tx, known.id);
  if (document) await addDocument(tx, document);
  return { dropped: known ? 1 : 0, fate: "done" };
}

/** Of a session that is gone. Returns how many went; undefined when nothing of it was left. */
export async function forgetEntries(
  tx: Tx,
  sessionId: string,
  room: number,
): Promise<number | undefined> {
  const some = await listEntryDocuments(tx, sessionId, Math.max(1, room));
  if (some.length === 0) {
    await dropCursor(tx, sessionId);
    return undefined;
  }
  for (const id of some.slice(0, room)) await dropDocument(tx, id);
  return Math.min(room, some.length);
}
