/** `muster runners tokens`: lists tokens of runners, also of those that never connected, and revokes them. */
import type { Command } from "commander";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";
import { printTable, timeAgo } from "#surfaces/cli/kit/text/terminal.ts";

export function addRunnersTokensCommands(group: Command, host: CliHost): void {
  const tokens = group.command("tokens").description("List and revoke the tokens of runners.");
  tokens
    .command("ls")
    .description("List your tokens; for admins, everybody's.")
    .action((_options: object, command: Command) => perform(host, command, listTokens));
  tokens
    .command("revoke")
    .description("Revoke a token. Its runners are disconnected at once.")
    .argument("<id>", "the token")
    .action((id: string, _options: object, command: Command) =>
      perform(host, command, async (invocation) => {
        const answer = await invocation.api().runnerTokens.revoke({ id });
        invocation.print(answer, [`${id} is revoked.`]);
        invocation.note(
          "To move their sessions to other machines, remove its runners: muster runners rm",
        );
        return DONE;
      }),
    );
}

async function listTokens(invocation: Invocation): Promise<Ending> {
  const { items } = await invocation.api().runnerTokens.list();
  if (invocation.json) invocation.print({ items, next: null }, []);
  else if (items.length === 0)
    invocation.print(null, ["No tokens. Create one with: muster runners token NAME"]);
  else
    printTable(
      invocation.host,
      ["ID", "NAME", "FOR", "MADE", "USED", "ENDS", "TAGS"],
      items.map((item) => [
        item.id,
        item.name,
        item.scope === "org" ? "everybody" : item.scope.replace(/^user:/, ""),
        timeAgo(item.createdAt),
        item.lastUsedAt === null ? "never" : timeAgo(item.lastUsedAt),
        item.expiresAt?.slice(0, 10) ?? "never",
        item.tags.join(",") || "–",
      ]),
    );
  return DONE;
}
