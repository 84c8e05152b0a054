import type { Page } from "#protocol/page.ts";

/** Limit, so that no answer keeps the page asking for ever. */
const MAX_PAGES = 50;

/** Reads a whole list, page by page: for lists that are short, or searched as a whole. */
export async function readAll<T>(
  readPage: (cursor: string | undefined) => Promise<Page<T>>,
): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const page = await readPage(cursor);
    items.push(...page.items);
    if (page.next === null) break;
    cursor = page.next;
  }
  return items;
}
