/** Makes memories searchable beside everything else. A hit does not count as reading the memory. */
import type { Searchable } from "#engine/index.ts";
import { listByIds } from "./queries.ts";

/** A memory without a title is named by its beginning. */
const TITLE_CHARS = 80;

export const memoriesToFind: Searchable = {
  kind: "memory",
  action: "memory.read",
  table: "memories",
  columns: ["title", "content", "category"],
  version: 1,
  async read(reader, ids) {
    const rows = await listByIds(reader, ids);
    return rows.map((row) => ({
      id: row.id,
      orgId: row.org_id,
      readers: row.user_id === "" ? [] : [row.user_id],
      title: row.title ?? beginningOf(row.content),
      isTitleBorrowed: row.title === null,
      text: row.content,
      at: row.updated_at,
      url: row.kind === "session" ? "/memory/repositories" : "/memory",
    }));
  },
};

function beginningOf(content: string): string {
  const line = content.trim().split(/\r\n|[\n\r\u2028\u2029]/, 1)[0] ?? "";
  if (line.length <= TITLE_CHARS) return line;
  return `${line
    .slice(0, TITLE_CHARS)
    .toWellFormed()
    .replace(/\ufffd$/, "")}…`;
}
