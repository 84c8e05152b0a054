/** Full-text search of messages, for the owners of both sides. */
import type { Searchable, SearchableRow } from "#engine/index.ts";
import { findMessage } from "../queries.ts";
import type { MessageRow } from "../schema.ts";

export const searchableMessages: Searchable = {
  kind: "message",
  action: "mail.read",
  table: "messages",
  columns: ["content", "from_name", "to_name", "from_owner_id", "to_owner_id"],
  version: 1,
  formerly: { kind: "letter", version: 1 },
  async read(reader, ids) {
    const found: SearchableRow[] = [];
    for (const id of ids) {
      const row = await findMessage(reader, id);
      if (row) found.push(messageFound(row));
    }
    return found;
  },
};

function messageFound(row: MessageRow): SearchableRow {
  const owners = [row.from_owner_id, row.to_owner_id].filter((owner) => owner !== null);
  return {
    id: row.id,
    orgId: row.org_id,
    readers: [...new Set(owners)],
    title: `${row.from_name} → ${row.to_name}`,
    // A platform message about a session must not rank above the session itself.
    isTitleBorrowed: row.event_type !== null,
    text: row.content,
    at: row.created_at,
    url: `/inbox/${encodeURIComponent(row.thread_id)}`,
  };
}
