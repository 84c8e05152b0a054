/** `muster members`: members and invitations of the organisation. */
import { Argument, type Command } from "commander";
import type { Member } from "#features/orgs/contract.ts";
import { confirm } from "#surfaces/cli/kit/confirm.ts";
import { EXIT } from "#surfaces/cli/kit/exit-codes.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";
import { printTable, timeAgo } from "#surfaces/cli/kit/text/terminal.ts";
import { resolveOrgId } from "#surfaces/cli/kit/who.ts";
import { addOversightCommands } from "./oversight.ts";

type Role = Member["role"];

export function addMembersCommands(program: Command, host: CliHost): void {
  const group = program
    .command("members")
    .description("List members, invite people, change roles, remove members, oversee.");
  group
    .command("ls")
    .description("List members.")
    .option("--removed", "include former members, and show if their data was purged (admins)")
    .action((options: { removed?: boolean }, command: Command) =>
      perform(host, command, (invocation) => listMembers(invocation, options.removed === true)),
    );
  group
    .command("role")
    .description("Make somebody an admin or a member. They must sign in again.")
    .argument("<user>", "the member's id")
    .addArgument(new Argument("<role>", "the new role").choices(["admin", "member"]))
    .action((user: string, role: Role, _options: object, command: Command) =>
      perform(host, command, async (invocation) => {
        const api = invocation.api();
        const orgId = await resolveOrgId(api);
        const answer = await api.orgs.updateMember({ orgId, userId: user, body: { role } });
        invocation.print(answer, [`${user} is now ${role === "admin" ? "an admin" : "a member"}.`]);
        return DONE;
      }),
    );
  group
    .command("rm")
    .description("Remove a member: their work stops, their data stays.")
    .argument("<user>", "the member's id")
    .option("--yes", "skip the question")
    .action((user: string, options: { yes?: boolean }, command: Command) =>
      perform(host, command, (invocation) => removeMember(invocation, user, options.yes === true)),
    );
  addInvitationCommands(group, host);
  addOversightCommands(group, host);
}

function addInvitationCommands(group: Command, host: CliHost): void {
  group
    .command("invite")
    .description("Create a link with which one person can join, within 7 days. It is shown once.")
    .option("--email <address>", "only for this address")
    .option("--admin", "as an admin")
    .option("--user <id>", "invite a former member again, with all their data")
    .action((options: { email?: string; admin?: boolean; user?: string }, command: Command) =>
      perform(host, command, async (invocation) => {
        const api = invocation.api();
        const body = {
          role: (options.admin ? "admin" : "member") as Role,
          ...(options.email ? { email: options.email } : {}),
          ...(options.user ? { userId: options.user } : {}),
        };
        const answer = await api.orgs.invite({ orgId: await resolveOrgId(api), body });
        invocation.print(answer, [answer.link]);
        invocation.note("Send it to one person: whoever opens it first joins.");
        return DONE;
      }),
    );
  group
    .command("invitations")
    .description("List pending invitations.")
    .action((_options: object, command: Command) => perform(host, command, listInvitations));
  group
    .command("withdraw")
    .description("Withdraw an invitation.")
    .argument("<id>", "the invitation")
    .action((id: string, _options: object, command: Command) =>
      perform(host, command, async (invocation) => {
        const api = invocation.api();
        const orgId = await resolveOrgId(api);
        invocation.print(await api.orgs.withdrawInvitation({ orgId, id }), [`${id} is withdrawn.`]);
        return DONE;
      }),
    );
}

async function listMembers(invocation: Invocation, withRemoved: boolean): Promise<Ending> {
  const api = invocation.api();
  const query = withRemoved ? ({ removed: "true" } as const) : {};
  const { items } = await api.orgs.listMembers({ orgId: await resolveOrgId(api), query });
  if (invocation.json) invocation.print({ items, next: null }, []);
  else
    printTable(
      invocation.host,
      ["ID", withRemoved ? "STATE" : "ROLE", "JOINED", "E-MAIL", "NAME"],
      items.map((item) => [
        item.userId,
        withRemoved && item.state !== "here" ? item.state : item.role,
        timeAgo(item.joinedAt),
        item.email ?? "–",
        item.name,
      ]),
    );
  return DONE;
}

async function listInvitations(invocation: Invocation): Promise<Ending> {
  const api = invocation.api();
  const { items } = await api.orgs.listInvitations({ orgId: await resolveOrgId(api) });
  if (invocation.json) invocation.print({ items, next: null }, []);
  else if (items.length === 0) invocation.print(null, ["No pending invitations."]);
  else
    printTable(
      invocation.host,
      ["ID", "ROLE", "MADE", "ENDS", "E-MAIL"],
      items.map((item) => [
        item.id,
        item.role,
        timeAgo(item.createdAt),
        item.expiresAt.slice(0, 10),
        item.email ?? "anybody",
      ]),
    );
  return DONE;
}

async function removeMember(invocation: Invocation, user: string, isSure: boolean) {
  const { host } = invocation;
  const api = invocation.api();
  const mustAsk = host.stdin.isTTY === true && !isSure;
  if (mustAsk && !(await confirm(host, `Remove ${user}? Their work stops. Their data stays.`))) {
    invocation.note("Nothing was changed.");
    return EXIT.failed;
  }
  const orgId = await resolveOrgId(api);
  invocation.print(await api.orgs.removeMember({ orgId, userId: user }), [`${user} is removed.`]);
  return DONE;
}
