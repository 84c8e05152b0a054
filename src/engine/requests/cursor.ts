/** Opaque cursors of lists: a place in an order, not a promise. A foreign or damaged one is refused. */
import { Refusal } from "#base/refusal.ts";
import { cleanText } from "#base/text/clean-text.ts";
import type { Page } from "#protocol/page.ts";

export interface CursorPosition {
  at: number;
  id: string;
}

export function encodeCursor(list: string, { at, id }: CursorPosition): string {
  return Buffer.from(JSON.stringify([list, at, id])).toString("base64url");
}

/** Decodes a cursor. `isFraction`: the list is ordered by something else than instants and counts. */
export function decodeCursor(
  list: string,
  cursor: string | undefined,
  { isFraction = false } = {},
): CursorPosition | undefined {
  if (cursor === undefined) return undefined;
  try {
    const [name, at, id] = JSON.parse(
      Buffer.from(cursor, "base64url").toString("utf8"),
    ) as unknown[];
    if (
      name === list &&
      typeof at === "number" &&
      (isFraction ? Number.isFinite(at) : Number.isSafeInteger(at)) &&
      typeof id === "string" &&
      id.length <= 200 &&
      // A database may refuse text that no id can contain, even as a parameter.
      cleanText(id) === id
    )
      return { at, id };
  } catch {
    // Refused below, like every other text that is not a cursor of this list.
  }
  throw new Refusal(
    "invalid",
    "cursor_invalid",
    "This cursor does not belong to this list. Start without a cursor and follow `next`.",
  );
}

/** Makes a page; `rows` holds one more than the page when there is a next one. */
export function pageOf<Row, Item>(
  list: string,
  rows: readonly Row[],
  limit: number,
  positionOf: (row: Row) => CursorPosition,
  view: (row: Row) => Item,
): Page<Item> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    items: shown.map(view),
    next: rows.length > limit && last ? encodeCursor(list, positionOf(last)) : null,
  };
}
