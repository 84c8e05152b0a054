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
    "Lists the repositories that sessions may work on, with what each is about. Look here before you give out work on a repository, and use the full name as it stands here.",
  roles: LEADERS,
  readOnly: true,
  target: () => null,
  schema: z.strictObject({
    query: z
      .string()
      .max(500)
      .optional()
      .describe("Words to look for in names, descriptions and topics."),
  }),
  async handle(work, { session }, { query }) {
    const { repos, more } = await listKnownRepos(work.tx, session.row.org_id, query);
    if (repos.length > 0)
      return { output: { repos, ...moreOf(more, "repositories") }, error: null };
    const next =
      query === undefined
        ? "No repository is known here. Ask the person for a web address."
        : "None fits. Try fewer words, or none, to see all.";
    return { output: { repos, next }, error: null };
  },
});

export const listPersonas = defineTool({
  name: "list_personas",
  description:
    "Lists the personas a session can work as, with what each is for. Choose one by its slug when the work fits it; without one a session works as the repository or the organisation has settled.",
  roles: LEADERS,
  readOnly: true,
  target: () => null,
  schema: z.strictObject({
    query: z.string().max(200).optional().describe("Text that its name, slug or description has."),
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
  return { more, next: `${more} more ${what} are not listed. Look for others with query.` };
}
