/** `muster tasks ls` and `ready`: list the board, or the tasks that could be begun. */
import type { Command } from "commander";
import type { Task } from "#features/tasks/contract.ts";
import { asDefault, BY_DEFAULT } from "#surfaces/cli/kit/default-command.ts";
import { findSessionId } from "#surfaces/cli/kit/find-session.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";
import { localDay } from "#surfaces/cli/kit/text/instant.ts";
import { printTable, shorten } from "#surfaces/cli/kit/text/terminal.ts";
import { BOARD_OPTION, type BoardOptions, NONE, resolveBoard } from "./board.ts";

const TITLE_WIDTH = 70;
const READY_LIMIT = 50;
const NO_TASKS = "No tasks. Add one with: muster tasks add TITLE";

interface LsOptions extends BoardOptions {
  status?: string;
  assigned?: string;
  label?: string;
  partOf?: string;
}

export function addTasksLsCommands(group: Command, host: CliHost): void {
  asDefault(group.command("ls", BY_DEFAULT))
    .description("List the tasks of a board in its order.")
    .option(...BOARD_OPTION)
    .option(
      "--status <status>",
      "pending, in_progress, blocked, completed, failed; separate several with commas",
    )
    .option("--assigned <session>", "only tasks of this session; none: unassigned ones")
    .option("--label <label>", "only tasks with this label")
    .option("--part-of <task>", "only subtasks of this task; none: only top-level tasks")
    .action((options: LsOptions, command: Command) =>
      perform(host, command, async (invocation) => {
        const api = invocation.api();
        const { status, assigned, label, partOf: parentTaskId } = options;
        const isNamed = assigned !== undefined && assigned !== NONE;
        const sessionId = isNamed ? await findSessionId(api, assigned) : assigned;
        const query = { status, sessionId, label, parentTaskId };
        const id = await resolveBoard(api, options);
        const items = await api.listAll(api.tasks.list, { id, query });
        const isAll = Object.values(query).every((value) => value === undefined);
        return print(invocation, items, isAll ? NO_TASKS : "No matching tasks.");
      }),
    );
  group
    .command("ready")
    .description("List unassigned tasks that can start now, most urgent first.")
    .option(...BOARD_OPTION)
    .action((options: BoardOptions, command: Command) =>
      perform(host, command, async (invocation) => {
        const api = invocation.api();
        const id = await resolveBoard(api, options);
        const { items } = await api.again.tasks.ready({ id, query: { limit: READY_LIMIT } });
        return print(
          invocation,
          items,
          "Nothing is ready: every task is done, assigned or blocked.",
        );
      }),
    );
}

function print(invocation: Invocation, items: readonly Task[], nothing: string): Ending {
  if (invocation.json) invocation.print({ items, next: null }, []);
  else if (items.length === 0) invocation.print(null, [nothing]);
  else {
    const headings = ["ID", "STATUS", "PRIORITY", "DUE", "SESSION", "TITLE"];
    printTable(invocation.host, headings, items.map(rowOf));
  }
  return DONE;
}

function rowOf(task: Task): string[] {
  const { id, status, priority, dueAt, isOverdue, sessionId, title } = task;
  const due = dueAt === null ? "–" : `${localDay(dueAt)}${isOverdue ? " !" : ""}`;
  return [id, status, priority, due, sessionId ?? "–", shorten(title, TITLE_WIDTH)];
}
