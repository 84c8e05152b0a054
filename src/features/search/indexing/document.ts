/** Builds the document of a thing. Pure. */
import type { SearchableRow } from "#engine/index.ts";
import { indexText, markOf } from "../matching/words.ts";
import type { NewDocument } from "../queries.ts";

/** Undefined: nobody could find the thing. */
export function documentOf(kind: string, row: SearchableRow): NewDocument | undefined {
  const readers =
    row.readers === "org" ? [{ orgId: row.orgId }] : row.readers.map((userId) => ({ userId }));
  const title = indexText(row.isTitleBorrowed ? "" : row.title);
  const body = indexText(row.text);
  if (readers.length === 0 || (title.words === "" && body.words === "")) return undefined;
  const marks = [...readers.map((reader) => markOf(kind, reader)), ...title.pairs, ...body.pairs];
  return {
    kind,
    ref: row.id,
    at: row.at,
    title: title.words,
    body: body.words,
    marks: ` ${[...new Set(marks)].join(" ")} `,
  };
}
