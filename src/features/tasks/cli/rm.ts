import type { Command } from "commander";
import { confirm } from "#surfaces/cli/kit/confirm.ts";
import { EXIT } from "#surfaces/cli/kit/exit-codes.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";
import { BOARD_OPTION, type BoardOptions, resolveBoard } from "./board.ts";

interface RmOptions extends BoardOptions {
  yes?: boolean;
}

export function addTasksRmCommand(group: Command, host: CliHost): void {
  group
    .command("rm")
    .description("Delete a task with all its subtasks. Tasks that wait for it are notified.")
    .argument("<task>", "the task's id")
    .option(...BOARD_OPTION)
    .option("--yes", "skip the question")
    .action((id: string, options: RmOptions, command: Command) =>
      perform(host, command, (invocation) => remove(invocation, id, options)),
    );
}

async function remove(invocation: Invocation, id: string, options: RmOptions): Promise<Ending> {
  const { host } = invocation;
  const mustAsk = host.stdin.isTTY === true && options.yes !== true;
  if (mustAsk && !(await confirm(host, `Delete ${id} and all its subtasks permanently?`))) {
    invocation.note("Nothing was changed.");
    return EXIT.failed;
  }
  const api = invocation.api();
  const response = await api.tasks.delete({ id: await resolveBoard(api, options), taskId: id });
  const more = response.deleted.length - 1;
  invocation.print(response, [
    more === 0 ? `${id} is deleted.` : `${id} is deleted, with its subtasks (${more}).`,
  ]);
  return DONE;
}
