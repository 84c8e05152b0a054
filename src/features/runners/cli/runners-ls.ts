import type { Command } from "commander";
import { isIsolated } from "#protocol/reports/sandboxes.ts";
import type { Runner } from "#protocol/runs.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";
import { printTable, timeAgo } from "#surfaces/cli/kit/text/terminal.ts";
import { sandboxSentence, sandboxWord } from "./runners-sandbox.ts";

export function addRunnersLsCommand(group: Command, host: CliHost): void {
  group
    .command("ls")
    .description("List runners.")
    .action((_options: object, command: Command) => perform(host, command, listRunners));
}

async function listRunners(invocation: Invocation): Promise<Ending> {
  const api = invocation.api();
  const items = await api.listAll(api.runners.list, {});
  if (invocation.json) {
    invocation.print({ items, next: null }, []);
  } else if (items.length === 0) {
    invocation.print(null, ["No runners. Add one with: muster runners token NAME"]);
  } else {
    printTable(
      invocation.host,
      ["ID", "NAME", "STATE", "RUNS", "MACHINE", "SANDBOX", "SEEN", "RUNTIMES", "TAGS"],
      items.map(rowOf),
    );
    for (const runner of items)
      if (runner.state !== "offline" && !isIsolated(runner.sandbox))
        invocation.note(sandboxSentence(runner));
  }
  return DONE;
}

function rowOf(runner: Runner): string[] {
  return [
    runner.id,
    runner.name,
    runner.state === "online" && runner.ready === false ? "starting" : runner.state,
    `${runner.running}/${runner.capacity}`,
    runner.hostname,
    sandboxWord(runner),
    timeAgo(runner.lastSeenAt),
    runner.runtimes.join(","),
    runner.tags.join(",") || "–",
  ];
}
