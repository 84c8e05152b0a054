/** Makes personas searchable: shared ones for everybody, private ones for their creator. */
import type { Searchable } from "#engine/index.ts";
import { listPersonasById } from "./queries.ts";

export const personasToFind: Searchable = {
  kind: "persona",
  action: "persona.read",
  table: "personas",
  columns: ["name", "slug", "description", "visibility", "archived_at"],
  version: 1,
  async read(reader, ids) {
    const rows = await listPersonasById(reader, ids);
    return rows.map((row) => ({
      id: row.id,
      orgId: row.org_id,
      readers: row.visibility === "shared" ? "org" : [row.created_by],
      title: row.name,
      text: [row.description, row.slug].filter((text) => text !== "").join("\n"),
      at: row.updated_at,
      url: `/settings/personas/${encodeURIComponent(row.id)}`,
    }));
  },
};
