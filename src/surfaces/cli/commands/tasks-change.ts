/** `muster tasks done|fail|block|unblock|assign`: how a task stands, and who has it. */
import type { Command } from "commander";
import type { Task, TaskChange } from "#features/tasks/contract.ts";
import type { CliHost } from "../host.ts";
import { DONE, type Ending, type Invocation, perform } from "../invocation.ts";
import { safeLine } from "../terminal.ts";
import { BOARD_OPTION, type BoardOptions, taskPath } from "./tasks-path.ts";

interface SettleOptions extends BoardOptions {
  result?: string;
}

export function addTasksChangeCommands(group: Command, host: CliHost): void {
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
  group
    .command("assign")
    .description("Gives a task to a session, which is told, or takes it away with none.")
    .argument("<task>", "its id")
    .argument("<to>", "the session, or none")
    .option(...BOARD_OPTION)
    .action((id: string, to: string, options: BoardOptions, command: Command) =>
      perform(host, command, (invocation) =>
        change(invocation, options, id, { sessionId: to === "none" ? null : to }),
      ),
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
  const path = taskPath(options, id);
  const answer = await invocation
    .api()
    .callAgain<{ task: Task; unblocked: Task[] }>(path, { method: "PUT", body });
  const { task, unblocked } = answer;
  const who = task.sessionId === null ? "" : `, ${task.sessionId} has it`;
  invocation.print(answer, [
    `${task.id} is ${task.status}${who}.`,
    ...unblocked.map((one) => safeLine(`${one.id} is not blocked any more: ${one.title}`)),
  ]);
  return DONE;
}
