import type { Command } from "commander";
import { GITHUB_TOKEN_SECRET, type RepoSyncResult } from "#features/repos/contract.ts";
import { EXIT } from "#surfaces/cli/kit/exit-codes.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";
import { resolveOrgId } from "#surfaces/cli/kit/who.ts";

interface SyncOptions {
  credential?: string;
  disabled?: boolean;
}

export function addReposSyncCommand(group: Command, host: CliHost): void {
  group
    .command("sync")
    .description(
      `Import repositories from GitHub, with the token in the secret ${GITHUB_TOKEN_SECRET}.`,
    )
    .argument(
      "[owner]",
      "an account or organisation (default: everything the token's owner works on)",
    )
    .option("--credential <secret>", "name of another secret with the token")
    .option("--disabled", "add them disabled: sessions cannot use them until they are enabled")
    .action((owner: string | undefined, options: SyncOptions, command: Command) =>
      perform(host, command, (invocation) => syncRepos(invocation, owner, options)),
    );
}

async function syncRepos(
  invocation: Invocation,
  owner: string | undefined,
  { credential, disabled = false }: SyncOptions,
): Promise<Ending> {
  const api = invocation.api();
  const body = { owner, credential, ...(disabled ? { enabled: false } : {}) };
  const answer = await api.repos.sync({ orgId: await resolveOrgId(api), body });
  invocation.print(answer, linesOf(answer.sync));
  return answer.sync.state === "complete" ? DONE : EXIT.refused;
}

const STOPPED = {
  rate_limit: "GitHub accepts no more requests for now.",
  time: "The sync took too long. Sync one owner at a time.",
  size: "There are too many repositories for one sync. Sync one owner at a time.",
} as const;

function linesOf(sync: RepoSyncResult): string[] {
  const { found, added, updated, missing, skipped, skippedCount, stoppedBy, until } = sync;
  const lines = [
    `${found} found, ${added} added, ${updated} updated, ${missing} missing, ${skippedCount} skipped.`,
    ...skipped.map(({ fullName, reason }) => `  skipped ${fullName} (${reason})`),
  ];
  if (stoppedBy !== null) {
    lines.push(
      `Not everything was read. ${STOPPED[stoppedBy]}${until ? ` Sync again at ${until}.` : ""}`,
    );
  }
  return lines;
}
