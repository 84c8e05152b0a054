import type { Command } from "commander";
import type { Repo } from "#features/repos/contract.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, perform } from "#surfaces/cli/kit/invocation.ts";
import { repoPath } from "./path.ts";

export function addReposRmCommand(group: Command, host: CliHost): void {
  group
    .command("rm")
    .description("Takes a repository off the list; the repository itself is not touched.")
    .argument("<name>", "its full name, or its id")
    .action((name: string, _options: object, command: Command) =>
      perform(host, command, async (invocation) => {
        const api = invocation.api();
        const path = await repoPath(api, name);
        const answer = await api.call<{ repo: Repo }>(path, { method: "DELETE" });
        invocation.print(answer, [`${answer.repo.fullName} is removed.`]);
        return DONE;
      }),
    );
}
