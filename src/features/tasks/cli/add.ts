import { randomUUID } from "node:crypto";
import type { Command } from "commander";
import type { NewTask } from "#features/tasks/contract.ts";
import { findSessionId } from "#surfaces/cli/kit/find-session.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";
import { BOARD_OPTION, type BoardOptions, NONE, resolveBoard } from "./board.ts";
import { addFieldOptions, type FieldOptions, fieldsOf } from "./fields.ts";

interface AddOptions extends BoardOptions, FieldOptions {
  for?: string;
}

export function addTasksAddCommand(group: Command, host: CliHost): void {
  addFieldOptions(group.command("add"), "")
    .description("Add a task to a board.")
    .argument("<title...>", "the task, in one line")
    .option(...BOARD_OPTION)
    .option("--for <session>", "the session to assign it to; it is notified")
    .action((title: string[], options: AddOptions, command: Command) =>
      perform(host, command, (invocation) => addTask(invocation, title.join(" "), options)),
    );
}

async function addTask(
  invocation: Invocation,
  title: string,
  options: AddOptions,
): Promise<Ending> {
  const api = invocation.api();
  const wanted = options.for;
  const isFree = wanted === undefined || wanted === NONE;
  const body: NewTask = {
    title,
    sessionId: isFree ? undefined : await findSessionId(api, wanted),
    ...fieldsOf(options),
  };
  const board = await resolveBoard(api, options);
  const response = await api.again.tasks.create(
    { id: board, body },
    { idempotencyKey: randomUUID() },
  );
  const { id, status } = response.task;
  invocation.print(response, [`${id} was added: ${status}.`]);
  return DONE;
}
