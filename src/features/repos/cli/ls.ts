import type { Command } from "commander";
import type { Repo } from "#features/repos/contract.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";
import { printTable, shorten } from "#surfaces/cli/kit/text/terminal.ts";
import { resolveOrgId } from "#surfaces/cli/kit/who.ts";

const ABOUT_WIDTH = 70;

interface LsOptions {
  enabled?: boolean;
}

export function addReposLsCommand(group: Command, host: CliHost): void {
  group
    .command("ls")
    .description("List repositories by name.")
    .argument("[words...]", "only those with all these words in the name, description or topics")
    .option("--enabled", "only those that sessions may use")
    .action((words: string[], options: LsOptions, command: Command) =>
      perform(host, command, (invocation) => listRepos(invocation, words, options)),
    );
}

async function listRepos(
  invocation: Invocation,
  words: readonly string[],
  { enabled }: LsOptions,
): Promise<Ending> {
  const api = invocation.api();
  const query = { q: words.join(" "), ...(enabled && { enabled: "true" as const }) };
  const items = await api.listAll(api.repos.list, { orgId: await resolveOrgId(api), query });
  if (invocation.json) {
    invocation.print({ items, next: null }, []);
  } else if (items.length === 0) {
    invocation.print(null, [
      words.length === 0
        ? "No repositories. Add one with: muster repos add URL, or import them with: muster repos sync"
        : "No repository has all these words.",
    ]);
  } else {
    printTable(
      invocation.host,
      ["NAME", "USE", "BRANCH", "LANGUAGE", "PERSONA", "ABOUT"],
      items.map(rowOf),
    );
  }
  return DONE;
}

function rowOf(repo: Repo): string[] {
  return [
    repo.fullName,
    repo.enabled ? "on" : "off",
    repo.defaultBranch ?? "–",
    repo.language ?? "–",
    repo.personaSlug ?? "–",
    repo.problem ?? shorten(repo.description ?? repo.url, ABOUT_WIDTH),
  ];
}
