/** Fields of a task as options of `muster tasks add` and `edit`. */
import { type Command, Option } from "commander";
import { TASK_PRIORITIES, type TaskChange, type TaskPriority } from "#features/tasks/contract.ts";
import { repeatable } from "#surfaces/cli/kit/repeatable.ts";
import { instantOf } from "#surfaces/cli/kit/text/instant.ts";
import { NONE } from "./board.ts";

export interface FieldOptions {
  description?: string;
  after?: string[];
  partOf?: string;
  priority?: TaskPriority;
  label?: string[];
  due?: string;
  check?: string;
}

/** Adds the options. `taking`: help text about removing a value. */
export function addFieldOptions(command: Command, taking: string): Command {
  return command
    .option("--description <text>", "what the assignee needs to know; empty removes it")
    .option(
      "--after <task>",
      `a task that must be completed first; can be repeated${taking}`,
      repeatable,
    )
    .option("--part-of <task>", `its parent task${taking}`)
    .addOption(new Option("--priority <priority>", "how urgent it is").choices(TASK_PRIORITIES))
    .option("--label <label>", `a label; can be repeated${taking}`, repeatable)
    .option(
      "--due <when>",
      `when it is due: 2030-01-31 is the end of that day in your time zone; or 2030-01-31T12:00${taking}`,
    )
    .option(
      "--check <command>",
      `command that must pass in the session's workspace before it can be completed${taking}`,
    );
}

/** Reads the options. JSON leaves out fields that were not given. */
export function fieldsOf(options: FieldOptions) {
  const { description, after, partOf, priority, label, due, check } = options;
  return {
    description: description === "" ? null : description,
    blockedBy: listOf(after?.flatMap((ids) => ids.split(","))),
    parentTaskId: unlessNone(partOf, (id) => id),
    priority,
    labels: listOf(label),
    dueAt: unlessNone(due, (text) => instantOf(text, "ends")),
    check: unlessNone(check, (command) => ({ kind: "command" as const, command })),
  } satisfies TaskChange;
}

function unlessNone<T>(text: string | undefined, read: (text: string) => T): T | null | undefined {
  if (text === undefined) return;
  return text === NONE ? null : read(text);
}

function listOf(words: string[] | undefined): string[] | undefined {
  return words?.length === 1 && words[0] === NONE ? [] : words;
}
