/** `muster members sessions|orchestrators|open|purge`: oversight of other people's work, for admins. */

import type { Command } from "commander";
import { PAGE_LIMIT_MAX } from "#protocol/page-limits.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";
import { formatCost, printTable, timeAgo } from "#surfaces/cli/kit/text/terminal.ts";
import { resolveOrgId } from "#surfaces/cli/kit/who.ts";

export function addOversightCommands(group: Command, host: CliHost): void {
  group
    .command("sessions")
    .description("Lists everybody's newest sessions: what they are and cost, not what is in them.")
    .option("--user <id>", "only of this person")
    .action((options: { user?: string }, command: Command) =>
      perform(host, command, (invocation) => listSessions(invocation, options.user)),
    );
  group
    .command("orchestrators")
    .description("Lists everybody's orchestrator: how it is and what it cost.")
    .action((_options: object, command: Command) => perform(host, command, listOrchestrators));
  group
    .command("open")
    .description("Lets you read somebody's session for an hour. Its owner is told, and why.")
    .argument("<session>", "the session")
    .requiredOption("--reason <text>", "why you have to")
    .action((session: string, { reason }: { reason: string }, command: Command) =>
      perform(host, command, (invocation) => openSession(invocation, session, reason)),
    );
  group
    .command("purge")
    .description("Removes everything of somebody who has left, for good.")
    .argument("<user>", "their id")
    .requiredOption("--confirm <who>", "their name or e-mail address")
    .action((user: string, { confirm }: { confirm: string }, command: Command) =>
      perform(host, command, (invocation) => purgeMember(invocation, user, confirm)),
    );
}

async function listSessions(invocation: Invocation, user: string | undefined): Promise<Ending> {
  const api = invocation.api();
  const query = { user, limit: PAGE_LIMIT_MAX };
  const page = await api.orgs.listSessions({ orgId: await resolveOrgId(api), query });
  if (invocation.json) invocation.print(page, []);
  else if (page.items.length === 0) invocation.print(null, ["There are none."]);
  else
    printTable(
      invocation.host,
      ["ID", "OWNER", "KIND", "ACTIVITY", "UPDATED", "OPEN UNTIL"],
      page.items.map((item) => [
        item.id,
        item.ownerId ?? "–",
        item.kind,
        item.activity,
        timeAgo(item.updatedAt),
        item.openUntil ?? "–",
      ]),
    );
  if (page.next !== null) invocation.note("There are more; name a person with --user.");
  return DONE;
}

async function listOrchestrators(invocation: Invocation): Promise<Ending> {
  const api = invocation.api();
  const page = await api.orchestrators.oversee({ orgId: await resolveOrgId(api) });
  if (invocation.json) invocation.print(page, []);
  else if (page.items.length === 0) invocation.print(null, ["Nobody has one yet."]);
  else
    printTable(
      invocation.host,
      ["PERSON", "HANDLE", "NAME", "STATE", "MODEL", "COST", "UPDATED"],
      page.items.map(({ identity, session, needsRestart }) => [
        identity.userId,
        `@${identity.handle}`,
        identity.name,
        session === null ? "never started" : needsRestart ? session.lifecycle : session.activity,
        session?.model ?? "–",
        session ? formatCost(session.cost) : "–",
        session ? timeAgo(session.updatedAt) : "–",
      ]),
    );
  return DONE;
}

async function openSession(invocation: Invocation, id: string, reason: string): Promise<Ending> {
  const api = invocation.api();
  const orgId = await resolveOrgId(api);
  const answer = await api.orgs.openSession({ orgId, sessionId: id, body: { reason } });
  invocation.print(answer, [`${id} is open to you until ${answer.session.openUntil}.`]);
  invocation.note("Its owner was told, with your reason. Read it with: muster sessions show");
  return DONE;
}

async function purgeMember(invocation: Invocation, user: string, confirm: string): Promise<Ending> {
  const api = invocation.api();
  const orgId = await resolveOrgId(api);
  const answer = await api.orgs.purgeMember({ orgId, userId: user, body: { confirm } });
  invocation.print(answer, [
    answer.member.state === "purged"
      ? `Nothing of ${user} is left.`
      : `What belongs to ${user} is being removed. See: muster members ls --removed`,
  ]);
  return DONE;
}
