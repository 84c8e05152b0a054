/** `muster runners tokens`: lists tokens of runners, also of those that never connected, and revokes them. */
import type { Command } from "commander";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";
import { printTable, timeAgo } from "#surfaces/cli/kit/text/terminal.ts";

export function addRunnersTokensCommands(group: Command, host: CliHost): void {
  const tokens = group
    .command("tokens")
    .description("List the tokens that let runners in, and revoke them.");
  tokens
    .command("ls")
    .description("Lists your tokens; for admins those of everybody.")
    .action((_options: object, command: Command) => perform(host, command, listTokens));
  tokens
    .command("revoke")
    .description("Revokes a token. Runners that came with it are let go at once.")
    .argument("<id>", "the token")
    .action((id: string, _options: object, command: Command) =>
      perform(host, command, async (invocation) => {
        const answer = await invocation.api().runnerTokens.revoke({ id });
        invocation.print(answer, [`${id} is revoked.`]);
        invocation.note(
          "Remove its runners, so that their sessions go elsewhere: muster runners rm",
        );
        return DONE;
      }),
    );
}

async function listTokens(invocation: Invocation): Promise<Ending> {
  const { items } = await invocation.api().runnerTokens.list();
  if (invocation.json) invocation.print({ items, next: null }, []);
  else if (items.length === 0)
    invocation.print(null, ["No tokens. Make one with: muster runners token NAME"]);
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
