import type { Command } from "commander";
import type { Worker } from "#features/supervision/contract.ts";
import { findSessionId } from "#surfaces/cli/kit/find-session.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";
import { printTable, shorten, timeAgo } from "#surfaces/cli/kit/text/terminal.ts";

const DOING_WIDTH = 60;

export function addOrchestrationWorkersCommand(group: Command, host: CliHost): void {
  group
    .command("workers")
    .description("List the workers of a supervisor.")
    .argument("<session>", "the supervisor")
    .action((which: string, _options: object, command: Command) =>
      perform(host, command, async (invocation) =>
        listWorkers(invocation, await findSessionId(invocation.api(), which)),
      ),
    );
}

async function listWorkers(invocation: Invocation, id: string): Promise<Ending> {
  const { items } = await invocation.api().again.supervision.listWorkers({ id });
  if (invocation.json) {
    invocation.print({ items }, []);
  } else if (items.length === 0) {
    invocation.print(null, ["No workers. The supervisor's agent spawns them."]);
  } else {
    printTable(
      invocation.host,
      ["ID", "NAME", "STATE", "MESSAGES", "ACTIVE", "DOING"],
      items.map(rowOf),
    );
  }
  return DONE;
}

/**
 * Adds the activity if the state alone does not tell it, as for an open turn that waits for an
 * answer.
 */
function stateCell({ state, lifecycle, activity }: Worker): string {
  if (state === "cold") return `cold (${lifecycle})`;
  const says = { streaming: "working", idle: "done" }[state];
  return activity === says || activity === "idle" ? state : `${state} (${activity})`;
}

function rowOf(worker: Worker): string[] {
  return [
    worker.workerId,
    worker.name,
    stateCell(worker),
    String(worker.messages),
    timeAgo(worker.lastActivityAt),
    shorten((worker.doing ?? "–").replaceAll(/\s+/g, " "), DOING_WIDTH),
  ];
}
