import type { Command } from "commander";
import type { Task, TaskCheckRun, TaskDetail } from "#features/tasks/contract.ts";
import type { CliHost } from "../host.ts";
import { DONE, perform } from "../invocation.ts";
import { safeLine, safeText, styleFor, timeAgo } from "../terminal.ts";
import { BOARD_OPTION, type BoardOptions, taskPath } from "./tasks-path.ts";

const CHANGES_SHOWN = 10;
const OUTPUT_LINES = 20;

export function addTasksShowCommand(group: Command, host: CliHost): void {
  group
    .command("show")
    .description("Shows a task, its last check and who changed what.")
    .argument("<task>", "its id")
    .option(...BOARD_OPTION)
    .action((id: string, options: BoardOptions, command: Command) =>
      perform(host, command, async (invocation) => {
        const detail = await invocation.api().callAgain<TaskDetail>(taskPath(options, id));
        invocation.print(detail, linesOf(invocation.host, detail));
        return DONE;
      }),
    );
}

function linesOf(host: CliHost, { task, checks, changes }: TaskDetail): string[] {
  const style = styleFor(host.stdout, host.env);
  const section = (name: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : ["", style.bold(name), ...lines];
  return [
    ...factLines(task),
    ...section("Description", textLines(task.description)),
    ...section("Result", textLines(task.result)),
    ...section("Last check", checks.slice(0, 1).flatMap(checkLines)),
    ...section(
      "Changes",
      changes
        .slice(0, CHANGES_SHOWN)
        .map(({ at, by, field, from, to }) =>
          safeLine(
            `${timeAgo(at)}, ${by}: ${field}${to === null ? "" : ` ${from ?? "–"} → ${to}`}`,
          ),
        ),
    ),
  ];
}

function factLines(task: Task): string[] {
  const facts: [name: string, value: string | null][] = [
    ["id", task.id],
    ["title", task.title],
    ["status", task.status],
    ["why", task.blockedReason],
    ["note", task.note],
    ["session", task.sessionId],
    ["part of", task.parentTaskId],
    ["waits for", task.openBlockers.join(", ") || null],
    ["priority", task.priority],
    ["labels", task.labels.join(", ") || null],
    ["due", task.dueAt && `${task.dueAt}${task.isOverdue ? " (overdue)" : ""}`],
    ["check", checkText(task)],
    ["created", `${timeAgo(task.createdAt)} by ${task.createdBy}`],
    ["changed", timeAgo(task.updatedAt)],
  ];
  return facts
    .filter((fact): fact is [string, string] => fact[1] !== null)
    .map(([name, value]) => `${name.padEnd(12)}${safeLine(value)}`);
}

function checkText({ check }: Task): string | null {
  if (check === null) return null;
  if (check.kind === "pull_request") return `pull request ${check.state}`;
  const code = check.expectExitCode ?? 0;
  return code === 0 ? check.command : `${check.command} (exit code ${code})`;
}

function textLines(text: string | null): string[] {
  return text === null ? [] : safeText(text).split("\n");
}

function checkLines({ passed, exitCode, at, output }: TaskCheckRun): string[] {
  const how = exitCode === null ? "" : `, exit code ${exitCode}`;
  const shown = textLines(output.trimEnd()).slice(-OUTPUT_LINES);
  return [`${passed ? "passed" : "not passed"}${how}, ${timeAgo(at)}`, ...shown];
}
