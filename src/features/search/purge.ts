/** Of a removed person nothing is found any more, by anybody, and no word of it stays. */
import type { Person, Work } from "#engine/index.ts";
import { listDocumentsFor } from "./match-queries.ts";
import { dropDocument, noteChange } from "./queries.ts";
import type { Sources } from "./sources.ts";
import { markOf } from "./words.ts";

const AT_ONCE = 10;

/** What others may find too, such as a letter to them, is read anew: it says who may still see it. */
export async function purgeDocuments(
  { tx }: Work,
  sources: Sources,
  { userId }: Person,
): Promise<boolean> {
  const marks = [...sources.keys()].map((kind) => markOf(kind, { userId }));
  const some = await listDocumentsFor(tx, marks, AT_ONCE);
  for (const { id, kind, ref } of some) {
    await dropDocument(tx, id);
    await noteChange(tx, kind, ref);
  }
  return some.length < AT_ONCE;
}
