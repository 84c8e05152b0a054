/** Task draft of a form, and the fields to send. Pure. */
import type {
  NewTask,
  TaskCard,
  TaskChange,
  TaskCheck,
  TaskLink,
  TaskPriority,
} from "#features/tasks/contract.ts";

export interface TaskDraft {
  title: string;
  description: string;
  /** Empty for an unassigned task. */
  sessionId: string;
  priority: TaskPriority;
  /** Separated by commas. */
  labels: string;
  /** Local time in the format of the browser's field; empty for no due date. */
  due: string;
  blockers: readonly Pick<TaskLink, "id" | "title">[];
  parent: Pick<TaskLink, "id" | "title"> | null;
  check: "none" | TaskCheck["kind"];
  command: string;
  /** Empty means 0. */
  exitCode: string;
}

export const EMPTY_DRAFT: TaskDraft = {
  title: "",
  description: "",
  sessionId: "",
  priority: "normal",
  labels: "",
  due: "",
  blockers: [],
  parent: null,
  check: "none",
  command: "",
  exitCode: "",
};

export function draftOf(task: TaskCard): TaskDraft {
  const { check } = task;
  const command = check?.kind === "command" ? check : null;
  return {
    title: task.title,
    description: task.description ?? "",
    sessionId: task.sessionId ?? "",
    priority: task.priority,
    labels: task.labels.join(", "),
    due: task.dueAt === null ? "" : localTime(task.dueAt),
    blockers: task.blockers,
    parent: task.parent,
    check: check?.kind ?? "none",
    command: command?.command ?? "",
    exitCode: command?.expectExitCode === undefined ? "" : String(command.expectExitCode),
  };
}

/** Formats a time for the browser's field: local, to the minute. */
export function localTime(iso: string): string {
  const at = new Date(iso);
  const pad = (value: number, digits = 2) => String(value).padStart(digits, "0");
  const day = `${pad(at.getFullYear(), 4)}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}`;
  return `${day}T${pad(at.getHours())}:${pad(at.getMinutes())}`;
}

function labelsOf(text: string): string[] {
  const labels = text.split(",").map((label) => label.trim());
  return [...new Set(labels.filter((label) => label !== ""))];
}

function checkOf({ check, command, exitCode }: TaskDraft): TaskCheck | null {
  if (check === "none") return null;
  if (check === "pull_request") return { kind: "pull_request", state: "open" };
  const expectExitCode = exitCode.trim() === "" ? undefined : Number(exitCode);
  return { kind: "command", command, ...(expectExitCode === undefined ? {} : { expectExitCode }) };
}

/** Returns the missing field without which nothing can be sent; the server checks the rest. */
export function missingIn(draft: TaskDraft): "title" | "command" | null {
  if (draft.title.trim() === "") return "title";
  return draft.check === "command" && draft.command.trim() === "" ? "command" : null;
}

function fieldsOf(draft: TaskDraft) {
  return {
    title: draft.title.trim(),
    description: draft.description.trim() === "" ? null : draft.description,
    sessionId: draft.sessionId === "" ? null : draft.sessionId,
    parentTaskId: draft.parent?.id ?? null,
    blockedBy: draft.blockers.map(({ id }) => id),
    priority: draft.priority,
    labels: labelsOf(draft.labels),
    dueAt: draft.due === "" ? null : new Date(draft.due).toISOString(),
    check: checkOf(draft),
  };
}

export function newTaskOf(draft: TaskDraft): NewTask {
  return fieldsOf(draft);
}

/** Returns only the fields that the form has changed: an agent may have changed others meanwhile. */
export function changeOf(before: TaskDraft, after: TaskDraft): TaskChange {
  const was: Record<string, unknown> = fieldsOf(before);
  const changed = Object.entries(fieldsOf(after)).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(was[name]),
  );
  return Object.fromEntries(changed);
}
