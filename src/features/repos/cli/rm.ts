import type { Command } from "commander";
import { notFound } from "#base/refusal.ts";
import type { Api } from "#surfaces/cli/client/api.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, perform } from "#surfaces/cli/kit/invocation.ts";
import { resolveOrgId } from "#surfaces/cli/kit/who.ts";

export function addReposRmCommand(group: Command, host: CliHost): void {
  group
    .command("rm")
    .description("Remove a repository from the list. The repository itself is not changed.")
    .argument("<name>", "its full name or its id")
    .action((name: string, _options: object, command: Command) =>
      perform(host, command, async (invocation) => {
        const api = invocation.api();
        const orgId = await resolveOrgId(api);
        const answer = await api.repos.delete({
          orgId,
          repoId: await resolveRepo(api, orgId, name),
        });
        invocation.print(answer, [`${answer.repo.fullName} is removed.`]);
        return DONE;
      }),
    );
}

/** Resolves a repository by its full name, in any case, or by its id. */
async function resolveRepo(api: Api, orgId: string, nameOrId: string): Promise<string> {
  if (/^rep_[0-9a-z]{26}$/.test(nameOrId)) return nameOrId;
  const name = nameOrId.toLowerCase();
  const found = await api.listAll(api.repos.list, { orgId, query: { q: nameOrId } });
  const repo = found.find(({ fullName }) => fullName.toLowerCase() === name);
  if (!repo) throw notFound("repository");
  return repo.id;
}
