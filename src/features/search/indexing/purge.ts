/** Removes the documents of a removed person from the index. */
import type { Person, Work } from "#engine/index.ts";
import { listDocumentsFor } from "../matching/match-queries.ts";
import { markOf } from "../matching/words.ts";
import { dropDocument, noteChange } from "../queries.ts";
import { MAX_DROPPED, thatFit } from "./drop-room.ts";
import type { Sources } from "./sources.ts";

/**
 * Removes documents and marks them as changed: those that others may find too, such as a message to
 * them, are indexed again for their present readers.
 */
export async function purgeDocuments(
  { tx }: Work,
  sources: Sources,
  { userId }: Person,
): Promise<boolean> {
  const marks = [...sources.keys()].map((kind) => markOf(kind, { userId }));
  const some = await listDocumentsFor(tx, marks, MAX_DROPPED);
  const fit = thatFit(some);
  for (const { id, kind, ref } of fit) {
    await dropDocument(tx, id);
    await noteChange(tx, kind, ref);
  }
  return fit.length === some.length && some.length < MAX_DROPPED;
}
