/** Makes tasks searchable for everyone who may read their board. */
import type { Searchable } from "#engine/index.ts";
import { findSession } from "#engine/sessions/index.ts";
import { listTasksById } from "../queries.ts";
import type { TaskRow } from "../schema.ts";

export const tasksToFind: Searchable = {
  kind: "task",
  action: "task.read",
  table: "tasks",
  columns: ["title", "description", "result", "labels", "blocked_reason"],
  version: 1,
  async read(reader, ids) {
    const rows = await listTasksById(reader, ids);
    const readers = new Map<string, readonly string[]>();
    for (const { session_id } of rows) {
      if (readers.has(session_id)) continue;
      const owner = (await findSession(reader, session_id))?.owner_id;
      readers.set(session_id, owner == null ? [] : [owner]);
    }
    return rows.map((row) => ({
      id: row.id,
      orgId: row.org_id,
      readers: readers.get(row.session_id) ?? [],
      title: row.title,
      text: textOf(row),
      at: row.updated_at,
      url: `/board/${encodeURIComponent(row.session_id)}/${encodeURIComponent(row.id)}`,
    }));
  },
};

function textOf({ description, result, labels, blocked_reason }: TaskRow): string {
  const parts = [description, result, blocked_reason, labels.trim().replaceAll("\n", " ")];
  return parts.filter((part) => part).join("\n");
}
