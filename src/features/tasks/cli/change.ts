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
    .description("Start a task, or reopen one that is settled.")
    .argument("<task>", "the task's id")
    .option(...BOARD_OPTION)
    .action((id: string, options: BoardOptions, command: Command) =>
      perform(host, command, (invocation) =>
        change(invocation, options, id, { status: "in_progress" }),
      ),
    );
  addSettle(
    group,
    host,
    "done",
    "completed",
    "Complete a task. Tasks that waited for it are unblocked.",
  );
  addSettle(
    group,
    host,
    "fail",
    "failed",
    "Mark a task as failed. Tasks that wait for it are notified.",
  );
  group
    .command("block")
    .description("Block a task by hand, until somebody unblocks it.")
    .argument("<task>", "the task's id")
    .argument("<reason...>", "the reason")
    .option(...BOARD_OPTION)
    .action((id: string, reason: string[], options: BoardOptions, command: Command) =>
      perform(host, command, (invocation) =>
        change(invocation, options, id, { status: "blocked", blockedReason: reason.join(" ") }),
      ),
    );
  group
    .command("unblock")
    .description("Unblock a task that was blocked by hand. Open dependencies still block it.")
    .argument("<task>", "the task's id")
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
    .description("Assign a task to a session, which is notified; none unassigns it.")
    .argument("<task>", "the task's id")
    .argument("<to>", "the session: its id, the end of its id, or its title; or none")
    .option(...BOARD_OPTION)
    .action((id: string, to: string, options: BoardOptions, command: Command) =>
      perform(host, command, async (invocation) => {
        const sessionId = to === NONE ? null : await findSessionId(invocation.api(), to);
        return change(invocation, options, id, { sessionId });
      }),
    );
}

function addEdit(group: Command, host: CliHost): void {
  addFieldOptions(group.command("edit"), "; none removes it")
    .description("Change a task's text and dependencies. Fields you leave out stay as they are.")
    .argument("<task>", "the task's id")
    .option(...BOARD_OPTION)
    .option("--title <title>", "the task, in one line")
    .action((id: string, options: EditOptions, command: Command) =>
      perform(host, command, (invocation) => {
        const body = { title: options.title, ...fieldsOf(options) };
        if (Object.values(body).every((value) => value === undefined))
          throw new Refusal(
            "invalid",
            "wrong_usage",
            "Say what to change, such as --title; --help lists the options.",
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
    .argument("<task>", "the task's id")
    .option(...BOARD_OPTION)
    .option("--result <text>", "its result")
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
  const who = task.sessionId === null ? "" : `, assigned to ${task.sessionId}`;
  invocation.print(response, [
    `${task.id} is ${task.status}${who}.`,
    ...unblocked.map((one) => safeLine(`${one.id} is no longer blocked: ${one.title}`)),
  ]);
  return DONE;
}
