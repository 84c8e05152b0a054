import type { Command } from "commander";
import type { Session } from "#protocol/sessions.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";
import { activityWords } from "#surfaces/cli/kit/text/activity-words.ts";
import { printTable, shorten, timeAgo } from "#surfaces/cli/kit/text/terminal.ts";

const TITLE_WIDTH = 60;

export function addSessionsLsCommand(group: Command, host: CliHost): void {
  group
    .command("ls")
    .description("List sessions, newest first.")
    .option("--all", "include archived and terminated ones")
    .action((options: { all?: boolean }, command: Command) =>
      perform(host, command, (invocation) => listSessions(invocation, options.all === true)),
    );
}

async function listSessions(invocation: Invocation, all: boolean): Promise<Ending> {
  const query = all ? {} : { lifecycle: "active,hibernated" };
  const api = invocation.api();
  const items = await api.listAll(api.sessions.list, { query });
  if (invocation.json) {
    invocation.print({ items, next: null }, []);
  } else if (items.length === 0) {
    invocation.print(null, ['No sessions. Start one with: muster run "…"']);
  } else {
    printTable(
      invocation.host,
      ["ID", "ACTIVITY", "QUEUED", "RUNTIME", "CHANGED", "TITLE"],
      items.map(rowOf),
    );
  }
  return DONE;
}

function rowOf(session: Session): string[] {
  return [
    session.id,
    activityWords(session),
    String(session.counts.queued),
    session.runtime,
    timeAgo(session.updatedAt),
    shorten(session.title ?? "–", TITLE_WIDTH),
  ];
}
