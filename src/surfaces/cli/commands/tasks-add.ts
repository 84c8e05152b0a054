import { randomUUID } from "node:crypto";
import { type Command, Option } from "commander";
import {
  type NewTask,
  TASK_PRIORITIES,
  type Task,
  type TaskPriority,
} from "#features/tasks/contract.ts";
import type { CliHost } from "../host.ts";
import { DONE, type Ending, type Invocation, perform } from "../invocation.ts";
import { BOARD_OPTION, type BoardOptions, tasksPath } from "./tasks-path.ts";

interface AddOptions extends BoardOptions {
  description?: string;
  for?: string;
  after?: string[];
  partOf?: string;
  priority?: TaskPriority;
  label?: string[];
  due?: string;
  check?: string;
}

export function addTasksAddCommand(group: Command, host: CliHost): void {
  group
    .command("add")
    .description("Puts a task on a board.")
    .argument("<title...>", "what is to be done")
    .option(...BOARD_OPTION)
    .option("--description <text>", "what whoever takes it has to know")
    .option("--for <session>", "the session that is to do it; it is told")
    .option("--after <task...>", "tasks that must be completed first")
    .option("--part-of <task>", "the task it is a part of")
    .addOption(new Option("--priority <priority>", "normal if not said").choices(TASK_PRIORITIES))
    .option("--label <label...>", "labels to find it by")
    .option("--due <instant>", "until when, such as 2030-01-31 or 2030-01-31T12:00:00Z")
    .option("--check <command>", "what must pass in the session's workspace before it is completed")
    .action((title: string[], options: AddOptions, command: Command) =>
      perform(host, command, (invocation) => addTask(invocation, title.join(" "), options)),
    );
}

async function addTask(
  invocation: Invocation,
  title: string,
  options: AddOptions,
): Promise<Ending> {
  const answer = await invocation.api().callAgain<{ task: Task }>(tasksPath(options), {
    method: "POST",
    body: bodyOf(title, options),
    idempotencyKey: randomUUID(),
  });
  const { id, status } = answer.task;
  invocation.print(answer, [`${id} is on the board, ${status}.`]);
  return DONE;
}

/** JSON leaves out what was not said. */
function bodyOf(title: string, options: AddOptions): NewTask {
  const { description, after, partOf, priority, label, due, check } = options;
  return {
    title,
    description,
    sessionId: options.for,
    blockedBy: after,
    parentTaskId: partOf,
    priority,
    labels: label,
    dueAt: due === undefined ? undefined : instantOf(due),
    check: check === undefined ? undefined : { kind: "command", command: check },
  };
}

/** What is no instant goes as it is: the server says what is wrong with it. */
function instantOf(text: string): string {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? text : at.toISOString();
}
