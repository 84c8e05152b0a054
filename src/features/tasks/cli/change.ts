/**
 * `muster tasks begin|done|fail|block|unblock|assign|edit`:
 * change the status, assignee and text of a task.
 */
import type { Command } from "commander";
import { Refusal } from "#base/refusal.ts";
import type { TaskChange } from "#features/tasks/contract.ts";
import { findSessionId } from "#surfaces/cli/kit/find-session.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";
import { safeLine } from "#surfaces/cli/kit/text/terminal.ts";
import { BOARD_OPTION, type BoardOptions, NONE, resolveBoard } from "./board.ts";
import { addFieldOptions, type FieldOptions, fieldsOf } from "./fields.ts";

interface SettleOptions extends BoardOptions {
  result?: string;
}
interface EditOptions extends BoardOptions, FieldOptions {
  title?: string;
}

export function addTasksChangeCommands(group: Command, host: CliHost): void {
  group
    .command("begin")
    .description("Begins a task, or takes up again one that is over.")
    .argument("<task>", "its id")
    .option(...BOARD_OPTION)
    .action((id: string, options: BoardOptions, command: Command) =>
      perform(host, command, (invocation) =>
        change(invocation, options, id, { status: "in_progress" }),
      ),
    );
  addSettle(group, host, "done", "completed", "Completes a task; what waited for it is unblocked.");
  addSettle(
    group,
    host,
    "fail",
    "failed",
    "Says that a task cannot be done; what waits for it is told.",
  );
  group
    .command("block")
    .description("Blocks a task by hand, until somebody unblocks it.")
    .argument("<task>", "its id")
    .argument("<reason...>", "what it waits for")
    .option(...BOARD_OPTION)
    .action((id: string, reason: string[], options: BoardOptions, command: Command) =>
      perform(host, command, (invocation) =>
        change(invocation, options, id, { status: "blocked", blockedReason: reason.join(" ") }),
      ),
    );
  group
    .command("unblock")
    .description("Lifts a block by hand; tasks it waits for still block it.")
    .argument("<task>", "its id")
    .option(...BOARD_OPTION)
    .action((id: string, options: BoardOptions, command: Command) =>
      perform(host, command, (invocation) =>
        change(invocation, options, id, { status: "pending" }),
      ),
    );
  addAssign(group, host);
  addEdit(group, host);
}

function addAssign(group: Command, host: CliHost): void {
  group
    .command("assign")
    .description("Gives a task to a session, which is told, or takes it away with none.")
    .argument("<task>", "its id")
    .argument("<to>", "the session: its id, the end of it, or its title; or none")
    .option(...BOARD_OPTION)
    .action((id: string, to: string, options: BoardOptions, command: Command) =>
      perform(host, command, async (invocation) => {
        const sessionId = to === NONE ? null : await findSessionId(invocation.api(), to);
        return change(invocation, options, id, { sessionId });
      }),
    );
}

function addEdit(group: Command, host: CliHost): void {
  addFieldOptions(group.command("edit"), "; none takes it away")
    .description("Changes what a task says and waits for. What is not said stays.")
    .argument("<task>", "its id")
    .option(...BOARD_OPTION)
    .option("--title <title>", "what is to be done")
    .action((id: string, options: EditOptions, command: Command) =>
      perform(host, command, (invocation) => {
        const body = { title: options.title, ...fieldsOf(options) };
        if (Object.values(body).every((value) => value === undefined))
          throw new Refusal(
            "invalid",
            "wrong_usage",
            "Say what to change, such as --title; --help lists what there is.",
          );
        return change(invocation, options, id, body);
      }),
    );
}

function addSettle(
  group: Command,
  host: CliHost,
  name: string,
  status: "completed" | "failed",
  description: string,
): void {
  group
    .command(name)
    .description(description)
    .argument("<task>", "its id")
    .option(...BOARD_OPTION)
    .option("--result <text>", "what came of it")
    .action((id: string, options: SettleOptions, command: Command) =>
      perform(host, command, (invocation) =>
        change(invocation, options, id, { status, result: options.result }),
      ),
    );
}

async function change(
  invocation: Invocation,
  options: BoardOptions,
  id: string,
  body: TaskChange,
): Promise<Ending> {
  const api = invocation.api();
  const board = await resolveBoard(api, options);
  const response = await api.again.tasks.update({ id: board, taskId: id, body });
  const { task, unblocked } = response;
  const who = task.sessionId === null ? "" : `, ${task.sessionId} has it`;
  invocation.print(response, [
    `${task.id} is ${task.status}${who}.`,
    ...unblocked.map((one) => safeLine(`${one.id} is not blocked any more: ${one.title}`)),
  ]);
  return DONE;
}
