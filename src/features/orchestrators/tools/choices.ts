/** Tools that list the repositories and personas an agent can choose for its children. */
import * as z from "zod";
import { defineTool } from "#engine/tools/index.ts";
import { listUsablePersonas } from "#features/personas/index.ts";
import { listKnownRepos } from "#features/repos/index.ts";
import type { AgentRole } from "#protocol/tools.ts";
import { ORCHESTRATORS } from "./own-child.ts";

const LEADERS: readonly AgentRole[] = [...ORCHESTRATORS, "supervisor"];

export const listRepos = defineTool({
  name: "list_repos",
  description:
    "Lists the repositories that sessions can work on, with a description of each. Look here before you delegate work on a repository, and use its full name.",
  roles: LEADERS,
  readOnly: true,
  target: () => null,
  schema: z.strictObject({
    query: z
      .string()
      .max(500)
      .optional()
      .describe("Words to search for in names, descriptions and topics."),
  }),
  async handle(work, { session }, { query }) {
    const { repos, more } = await listKnownRepos(work.tx, session.row.org_id, query);
    if (repos.length > 0)
      return { output: { repos, ...moreOf(more, "repositories") }, error: null };
    const next =
      query === undefined
        ? "There are no repositories here. Ask the person for a web address."
        : "No match. Try fewer words, or none to see all.";
    return { output: { repos, next }, error: null };
  },
});

export const listPersonas = defineTool({
  name: "list_personas",
  description:
    "Lists the personas that a session can work as, with what each is for. Choose one by its slug when it fits the work; without one, the repository's or the organisation's default applies.",
  roles: LEADERS,
  readOnly: true,
  target: () => null,
  schema: z.strictObject({
    query: z.string().max(200).optional().describe("Text in its name, slug or description."),
  }),
  async handle(work, { session }, { query }) {
    const { org_id, owner_id } = session.row;
    const { personas, more } = await listUsablePersonas(work.tx, org_id, owner_id, query);
    return { output: { personas, ...moreOf(more, "personas") }, error: null };
  },
});

/** Reports the number of unlisted items, because an agent takes a list for complete. */
function moreOf(more: number, what: string): { more?: number; next?: string } {
  if (more <= 0) return {};
  return { more, next: `${more} more ${what} are not listed. Search for them with query.` };
}
