/** Board texts about tasks. Pure. */
import type { Tone } from "#features/supervision/ui/event-words.ts";
import type { TaskCard, TaskPage, TaskStatus } from "#features/tasks/contract.ts";
import { plural } from "#surfaces/web/kit/text/money-words.ts";
import { startOfDay } from "#surfaces/web/kit/text/time-words.ts";

/** Columns in the order in which a task passes through them. */
export const COLUMNS: readonly { status: TaskStatus; name: string; empty: string }[] = [
  { status: "pending", name: "Pending", empty: "No pending tasks." },
  { status: "in_progress", name: "In progress", empty: "No tasks in progress." },
  { status: "blocked", name: "Blocked", empty: "No blocked tasks." },
  { status: "completed", name: "Completed", empty: "No completed tasks." },
  { status: "failed", name: "Failed", empty: "No failed tasks." },
];

const STATUS_WORDS: Record<TaskStatus, { name: string; tone: Tone | "accent" }> = {
  pending: { name: "Pending", tone: "plain" },
  in_progress: { name: "In progress", tone: "accent" },
  blocked: { name: "Blocked", tone: "warn" },
  completed: { name: "Completed", tone: "good" },
  failed: { name: "Failed", tone: "bad" },
};

export function statusWords(status: TaskStatus) {
  return STATUS_WORDS[status];
}

export function isSettled(status: TaskStatus): boolean {
  return status === "completed" || status === "failed";
}

export type CheckState = "passed" | "failed" | "not run";

/** Returns null if the task has no check. */
export function checkState({
  check,
  lastCheck,
}: Pick<TaskCard, "check" | "lastCheck">): CheckState | null {
  if (check === null) return null;
  if (lastCheck === null) return "not run";
  return lastCheck.passed ? "passed" : "failed";
}

const DAY_MS = 86_400_000;

/** Formats a due date; the time of day only when it is today. */
export function dueWords(dueAt: string, now: number): string {
  const due = new Date(dueAt);
  // Counts from noon to noon, because not every day has 24 hours.
  const noon = (ms: number) => startOfDay(ms) + DAY_MS / 2;
  const days = Math.round((noon(due.getTime()) - noon(now)) / DAY_MS);
  if (days === 0) {
    const time = due.toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });
    return `today ${time}`;
  }
  if (days === 1) return "tomorrow";
  if (days === -1) return "yesterday";
  const isThisYear = due.getFullYear() === new Date(now).getFullYear();
  return due.toLocaleDateString(undefined, {
    day: "numeric",
    month: "short",
    ...(isThisYear ? {} : { year: "numeric" }),
  });
}

export function partsWords({ total, completed }: TaskCard["parts"]): string {
  return `${completed} of ${plural(total, "subtask")} done`;
}

const SHORT_CHARS = 40;

/** Shortens a title where several share little room. */
export function shortTitle(title: string, chars = SHORT_CHARS): string {
  if (title.length <= chars) return title;
  const cut = title.slice(0, chars).toWellFormed();
  const word = cut.lastIndexOf(" ");
  // Cuts between words, unless the last word is very long.
  return `${cut.slice(0, word > chars / 2 ? word : chars).trimEnd()}…`;
}

/** Describes what is deleted together with a task, and the effect on its dependents. */
export function deletionWords({ parts, dependents }: Pick<TaskPage, "parts" | "dependents">) {
  const waiting = dependents.filter(({ status }) => !isSettled(status)).length;
  return [
    "This cannot be undone.",
    parts.length > 0 &&
      `${plural(parts.length, "subtask")} and everything below ${parts.length === 1 ? "it" : "them"} are deleted too.`,
    waiting > 0 && `It no longer blocks ${plural(waiting, "task")}; assignees are notified.`,
  ]
    .filter(Boolean)
    .join(" ");
}

/** Names the tasks that a change has unblocked; empty if there are none. */
export function unblockedWords(unblocked: readonly { title: string }[]): string {
  if (unblocked.length === 0) return "";
  const titles = unblocked.map(({ title }) => `“${shortTitle(title)}”`).join(", ");
  return `${plural(unblocked.length, "task")} unblocked: ${titles}`;
}

/** Replaces the ids of tasks and sessions in a sentence by their names. */
export function withNames(sentence: string, names: ReadonlyMap<string, string>): string {
  return sentence.replaceAll(/\b(?:tsk|ses)_\w+|\borchestrator:[\w:.-]*\w/g, (id) => {
    const name = names.get(id);
    return name === undefined ? id : `“${name}”`;
  });
}

const FIELD_WORDS: Readonly<Record<string, string>> = {
  title: "the title",
  description: "the description",
  result: "the result",
  check: "the check",
  status: "the status",
  sessionId: "the assignee",
  parentTaskId: "the parent task",
  priority: "the priority",
  labels: "the labels",
  dueAt: "the due date",
  blockedReason: "the block reason",
  blockedBy: "the blockers",
  note: "the note",
};

export interface ChangeWords {
  /** Verb phrase, such as "changed the title". */
  did: string;
  from: string | null;
  to: string | null;
}

/** Events that are not a change of one field. */
const EVENT_WORDS: Readonly<Record<string, string>> = {
  created: "created the task",
  overdue: "marked it as overdue",
  position: "moved it",
};

/** Describes one entry of a task's history. */
export function changeWords(
  { field, from, to }: { field: string; from: string | null; to: string | null },
  names: ReadonlyMap<string, string>,
): ChangeWords {
  const event = EVENT_WORDS[field];
  if (event !== undefined) return { did: event, from: null, to: null };
  const show = (value: string | null) => {
    if (value === null || value === "") return null;
    if (field === "status") return STATUS_WORDS[value as TaskStatus]?.name ?? value;
    if (field === "dueAt") return new Date(value).toLocaleString();
    return withNames(value, names);
  };
  return { did: `changed ${FIELD_WORDS[field] ?? field}`, from: show(from), to: show(to) };
}

/** Returns the column in progress, or else the first column that has tasks. */
export function firstWithTasks(
  columns: readonly { status: TaskStatus; tasks: readonly unknown[] }[],
): TaskStatus {
  const full = columns.filter(({ tasks }) => tasks.length > 0).map(({ status }) => status);
  return full.includes("in_progress") ? "in_progress" : (full[0] ?? "pending");
}
