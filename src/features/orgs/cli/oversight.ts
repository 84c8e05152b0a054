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
    .description("List everybody's newest sessions: state and cost, without content.")
    .option("--user <id>", "only this person's")
    .action((options: { user?: string }, command: Command) =>
      perform(host, command, (invocation) => listSessions(invocation, options.user)),
    );
  group
    .command("orchestrators")
    .description("List everybody's orchestrators: state and cost.")
    .action((_options: object, command: Command) => perform(host, command, listOrchestrators));
  group
    .command("open")
    .description("Read somebody's session for an hour. Its owner is notified, with your reason.")
    .argument("<session>", "the session")
    .requiredOption("--reason <text>", "why you need to read it")
    .action((session: string, { reason }: { reason: string }, command: Command) =>
      perform(host, command, (invocation) => openSession(invocation, session, reason)),
    );
  group
    .command("purge")
    .description("Delete all data of a former member, permanently.")
    .argument("<user>", "the former member's id")
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
  else if (page.items.length === 0) invocation.print(null, ["No sessions."]);
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
  if (page.next !== null) invocation.note("There are more. Name a person with --user.");
  return DONE;
}

async function listOrchestrators(invocation: Invocation): Promise<Ending> {
  const api = invocation.api();
  const page = await api.orchestrators.oversee({ orgId: await resolveOrgId(api) });
  if (invocation.json) invocation.print(page, []);
  else if (page.items.length === 0) invocation.print(null, ["Nobody has an orchestrator yet."]);
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
  invocation.print(answer, [`You can read ${id} until ${answer.session.openUntil}.`]);
  invocation.note("Its owner was notified, with your reason. Read it with: muster sessions show");
  return DONE;
}

async function purgeMember(invocation: Invocation, user: string, confirm: string): Promise<Ending> {
  const api = invocation.api();
  const orgId = await resolveOrgId(api);
  const answer = await api.orgs.purgeMember({ orgId, userId: user, body: { confirm } });
  invocation.print(answer, [
    answer.member.state === "purged"
      ? `All data of ${user} is deleted.`
      : `The data of ${user} is being deleted. See: muster members ls --removed`,
  ]);
  return DONE;
}
