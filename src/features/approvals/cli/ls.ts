import type { Command } from "commander";
import type { Approval } from "#features/approvals/contract.ts";
import { asDefault, BY_DEFAULT } from "#surfaces/cli/kit/default-command.ts";
import { findSessionId } from "#surfaces/cli/kit/find-session.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";
import { exactText, printTable, shorten, timeAgo } from "#surfaces/cli/kit/text/terminal.ts";

const TARGET_WIDTH = 70;

export function addApprovalsLsCommand(group: Command, host: CliHost): void {
  asDefault(group.command("ls", BY_DEFAULT))
    .description("List what needs your answer, newest first.")
    .option("--all", "include decided, expired and withdrawn ones")
    .option("--session <session>", "only for this session")
    .action((options: { all?: boolean; session?: string }, command: Command) =>
      perform(host, command, (invocation) => listApprovals(invocation, options)),
    );
}

async function listApprovals(
  invocation: Invocation,
  { all, session: which }: { all?: boolean; session?: string },
): Promise<Ending> {
  const api = invocation.api();
  const session = which === undefined ? undefined : await findSessionId(api, which);
  const query = { state: all ? undefined : ("pending" as const), session };
  const items = await api.listAll(api.approvals.list, { query });
  if (invocation.json) {
    invocation.print({ items, next: null }, []);
  } else if (items.length === 0) {
    invocation.print(null, ["Nothing needs your answer."]);
  } else {
    printTable(
      invocation.host,
      ["ID", "STATE", "ASKED", "SESSION", "TOOL", "WHAT"],
      items.map(rowOf),
    );
    if (items.some((item) => [...describeCall(item)].length > TARGET_WIDTH))
      invocation.note("Some are shortened. To see one in full: muster approvals show ID");
  }
  return DONE;
}

function rowOf(approval: Approval): string[] {
  return [
    approval.id,
    approval.decision ?? approval.state,
    timeAgo(approval.askedAt),
    approval.sessionId,
    approval.tool,
    shorten(describeCall(approval), TARGET_WIDTH),
  ];
}

/** Shows the call on one line, with hidden characters spelled out. */
function describeCall({ target, shown }: Approval): string {
  return exactText(target ?? firstWords(shown)).replaceAll(/\s+/g, " ");
}

interface ShownInput {
  questions?: { question?: unknown }[];
  plan?: unknown;
}

function firstWords(shown: unknown): string {
  const { input } = (shown ?? {}) as { input?: ShownInput };
  return String(input?.questions?.[0]?.question ?? input?.plan ?? "–");
}
