import type { Command } from "commander";
import type { TaskCard, TaskCheckRun, TaskLink, TaskPage } from "#features/tasks/contract.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, perform } from "#surfaces/cli/kit/invocation.ts";
import { localTime } from "#surfaces/cli/kit/text/instant.ts";
import { safeLine, safeText, styleFor, timeAgo } from "#surfaces/cli/kit/text/terminal.ts";
import { namesOf } from "#surfaces/cli/kit/who.ts";
import { BOARD_OPTION, type BoardOptions, resolveBoard } from "./board.ts";

const CHANGES_SHOWN = 10;
const OUTPUT_LINES = 20;

export function addTasksShowCommand(group: Command, host: CliHost): void {
  group
    .command("show")
    .description("Show a task, its last check and its changes.")
    .argument("<task>", "the task's id")
    .option(...BOARD_OPTION)
    .action((id: string, options: BoardOptions, command: Command) =>
      perform(host, command, async (invocation) => {
        const api = invocation.api();
        const board = await resolveBoard(api, options);
        const page = await api.again.tasks.get({ id: board, taskId: id });
        const names = invocation.json ? new Map<string, string>() : await namesOf(api, whoIn(page));
        invocation.print(page, linesOf(invocation.host, page, names));
        return DONE;
      }),
    );
}

function whoIn({ task, changes }: TaskPage): string[] {
  const shown = changes.slice(0, CHANGES_SHOWN);
  const holders = shown
    .filter(({ field }) => field === "sessionId")
    .flatMap(({ from, to }) => [from, to])
    .filter((id) => id !== null && id !== "");
  return [task.createdBy, ...shown.map(({ by }) => by), ...holders.map((id) => `session:${id}`)];
}

type Names = ReadonlyMap<string, string>;

function linesOf(host: CliHost, page: TaskPage, names: Names): string[] {
  const { task, checks, changes, parts, dependents } = page;
  const style = styleFor(host.stdout, host.env);
  const section = (name: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : ["", style.bold(name), ...lines];
  return [
    ...factLines(task, names),
    ...section("Description", textLines(task.description)),
    ...section("Result", textLines(task.result)),
    ...section("Parts", parts.map(linkLine)),
    ...section("Tasks that wait for it", dependents.map(linkLine)),
    ...section("Last check", checks.slice(0, 1).flatMap(checkLines)),
    ...section(
      "Changes",
      changes.slice(0, CHANGES_SHOWN).map((change) => changeLine(change, names)),
    ),
  ];
}

function linkLine({ id, title, status }: TaskLink): string {
  return safeLine(`${title} (${id}), ${status}`);
}

const FIELD_WORDS: Readonly<Record<string, string>> = {
  created: "created it",
  overdue: "noticed that it is overdue",
  position: "moved it",
  sessionId: "assignee",
  parentTaskId: "part of",
  dueAt: "due",
  blockedBy: "waits for",
  blockedReason: "why",
};
const HAPPENED = new Set(["created", "overdue", "position"]);

function changeLine(
  { at, by, field, from, to }: TaskPage["changes"][number],
  names: Names,
): string {
  const show = (value: string | null) => {
    if (value === null || value === "") return "–";
    if (field === "dueAt") return localTime(value);
    return (field === "sessionId" ? names.get(`session:${value}`) : undefined) ?? value;
  };
  const values =
    (from === null && to === null) || HAPPENED.has(field) ? "" : ` ${show(from)} → ${show(to)}`;
  return safeLine(
    `${timeAgo(at)}, ${names.get(by) ?? by}: ${FIELD_WORDS[field] ?? field}${values}`,
  );
}

function factLines(task: TaskCard, names: Names): string[] {
  const facts: [name: string, value: string | null][] = [
    ["id", task.id],
    ["title", task.title],
    ["status", task.status],
    ["why", task.blockedReason],
    ["note", task.note],
    ["session", named(task.sessionId, task.sessionTitle)],
    ["part of", named(task.parentTaskId, task.parent?.title)],
    ["waits for", task.openBlockers.map((id) => blockerName(task, id)).join(", ") || null],
    ["priority", task.priority],
    ["labels", task.labels.join(", ") || null],
    ["due", task.dueAt && `${localTime(task.dueAt)}${task.isOverdue ? " (overdue)" : ""}`],
    ["check", checkText(task)],
    ["created", `${timeAgo(task.createdAt)} by ${names.get(task.createdBy) ?? task.createdBy}`],
    ["changed", timeAgo(task.updatedAt)],
  ];
  return facts
    .filter((fact): fact is [string, string] => fact[1] !== null)
    .map(([name, value]) => `${name.padEnd(12)}${safeLine(value)}`);
}

function named(id: string | null, name: string | null | undefined): string | null {
  return id === null || !name ? id : `${name} (${id})`;
}

function blockerName({ blockers }: TaskCard, id: string): string {
  return named(id, blockers.find((blocker) => blocker.id === id)?.title) ?? id;
}

function checkText({ check }: TaskCard): string | null {
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
