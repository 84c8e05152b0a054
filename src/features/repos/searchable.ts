/** Search over repositories, for every member of the organisation. */
import type { Searchable } from "#engine/index.ts";
import { listReposById } from "./queries.ts";
import { topicsOf } from "./view.ts";

export const reposToFind: Searchable = {
  kind: "repo",
  action: "repo.read",
  table: "repos",
  columns: ["full_name", "url", "description", "language", "topics", "archived_at"],
  version: 1,
  async read(reader, ids) {
    const rows = await listReposById(reader, ids);
    return rows.map((row) => ({
      id: row.id,
      orgId: row.org_id,
      readers: "org",
      title: row.full_name,
      text: [row.description, row.language, ...topicsOf(row), row.url].filter(Boolean).join("\n"),
      at: row.updated_at,
      url: "/settings/repositories",
    }));
  },
};
