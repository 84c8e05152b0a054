import type { Command } from "commander";
import type { NewRepo } from "#features/repos/contract.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";
import { resolveOrgId } from "#surfaces/cli/kit/who.ts";

interface AddOptions {
  name?: string;
  branch?: string;
  description?: string;
  persona?: string;
  setup?: string;
  credential?: string;
}

export function addReposAddCommand(group: Command, host: CliHost): void {
  group
    .command("add")
    .description("Add a repository, so that sessions can use it by name.")
    .argument("<place>", "its address, its path on the runner's machine, or owner/name on GitHub")
    .option("--name <name>", "its name (default: taken from its address)")
    .option("--branch <branch>", "the branch that sessions start from")
    .option("--description <text>", "what it is, for people and agents")
    .option("--persona <slug>", "the default persona of its sessions")
    .option("--setup <command>", "command to run once in each new workspace, in the sandbox")
    .option(
      "--credential <secret>",
      "name of the organisation's secret with its credential: a token, or user:password",
    )
    .action((place: string, options: AddOptions, command: Command) =>
      perform(host, command, (invocation) => addRepo(invocation, place, options)),
    );
}

async function addRepo(
  invocation: Invocation,
  place: string,
  options: AddOptions,
): Promise<Ending> {
  const api = invocation.api();
  const orgId = await resolveOrgId(api);
  const answer = await api.repos.create({ orgId, body: bodyOf(place, options) });
  const { fullName, url, problem } = answer.repo;
  if (problem !== null) invocation.note(problem);
  invocation.print(answer, [`Added ${fullName}: ${url}`]);
  return DONE;
}

/** JSON leaves out undefined options. */
function bodyOf(place: string, options: AddOptions): NewRepo {
  const isName = options.name === undefined && /^[\w-]+\/[\w.-]+$/.test(place);
  return {
    fullName: isName ? place : options.name,
    url: isName ? undefined : place,
    defaultBranch: options.branch,
    description: options.description,
    personaSlug: options.persona,
    setupCommand: options.setup,
    credential: options.credential,
  };
}
