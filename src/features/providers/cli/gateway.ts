import { type Command, Option } from "commander";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";
import { resolveOrgId } from "#surfaces/cli/kit/who.ts";

interface GatewayOptions {
  members?: "open" | "closed";
  environmentKeys?: "on" | "off";
}

export function addProvidersGatewayCommand(group: Command, host: CliHost): void {
  group
    .command("gateway")
    .description("Show or change which machines reach the organisation's models (changes: admins).")
    .addOption(
      new Option("--members <state>", "let members' own machines use the models").choices([
        "open",
        "closed",
      ]),
    )
    .addOption(
      new Option(
        "--environment-keys <state>",
        "also offer the keys in the server's environment",
      ).choices(["on", "off"]),
    )
    .action((options: GatewayOptions, command: Command) =>
      perform(host, command, (invocation) => gateway(invocation, options)),
    );
}

async function gateway(
  invocation: Invocation,
  { members, environmentKeys }: GatewayOptions,
): Promise<Ending> {
  const api = invocation.api();
  const orgId = await resolveOrgId(api);
  const body = {
    ...(members === undefined ? {} : { personalRunners: members === "open" }),
    ...(environmentKeys === undefined ? {} : { environmentKeys: environmentKeys === "on" }),
  };
  const isChange = Object.keys(body).length > 0;
  const answer = isChange
    ? await api.gateway.update({ orgId, body })
    : await api.gateway.get({ orgId });
  const { personalRunners, environmentKeys: offersOwn } = answer.gateway;
  invocation.print(answer, [
    `Members' own machines: ${personalRunners ? "open" : "closed"}`,
    `Keys in the server's environment: ${offersOwn ? "offered to runners" : "used on this machine only"}`,
  ]);
  return DONE;
}
