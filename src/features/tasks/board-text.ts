/**
 * Text for an agent's model about its tasks; pure.
 * Titles are user input: they stand in quotes, on one line.
 */
import { inQuotes } from "#features/delegation/index.ts";
import type { BoardEvent, NamedTask, NoticeOf } from "#protocol/notices/notices.ts";

const HEAD = "[tasks] Updates from the task board:";
const MORE = "There is more: task_list shows the board.";

export function boardText({ items, hasMore }: NoticeOf<"board">): string {
  const lines = [...items.map(eventText), ...(hasMore ? [MORE] : [])];
  return [HEAD, ...lines.map((line) => `- ${line}`)].join("\n");
}

/** A task as a notice names it. */
export function namedTask({ id, title }: NamedTask): NamedTask {
  return { id, title };
}

export function nameOf({ id, title }: NamedTask): string {
  return `${inQuotes(title)} (${id})`;
}

function eventText(event: BoardEvent): string {
  return event.event === "note" ? event.text : `Task ${nameOf(event.task)} ${predicateOf(event)}`;
}

function predicateOf(event: Exclude<BoardEvent, { event: "note" }>): string {
  switch (event.event) {
    case "assigned":
      return "was assigned to you. Read it with my_tasks, set it to in_progress with task_update, and do it.";
    case "overdue":
      return `was due ${event.due} and is ${event.status}. Finish it, set another dueAt, or say what delays it.`;
    case "unblocked":
      return `is no longer blocked: ${nameOf(event.by)} is completed. ${
        event.isAssigned
          ? "It can start: set it to in_progress with task_update when you do. my_tasks shows it."
          : "It is unassigned: assign it to a session, or do it."
      }`;
    case "blocker_failed":
      return `waits for ${nameOf(event.blocker)}, which has failed. Have that done in another way, or change what the task waits for.`;
    case "blocker_deleted":
      return `depended on ${event.blockers.map(nameOf).join(", ")}, which was deleted. ${
        event.isFree
          ? "It is no longer blocked: check if it is still needed."
          : "Check if it is still needed as it is."
      }`;
  }
}
