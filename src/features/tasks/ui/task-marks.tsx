/** Small parts shared by task cards and the task sheet. */
import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import { CalendarClock, CircleCheck, CircleDashed, CircleX } from "lucide-react";
import type { ReactNode } from "react";
import { Pill } from "#features/supervision/ui/pill.tsx";
import type { TaskCard, TaskLink, TaskPriority, TaskStatus } from "#features/tasks/contract.ts";
import { fullTime } from "#surfaces/web/kit/text/time-words.ts";
import { type CheckState, checkState, dueWords, statusWords } from "./board-words.ts";
import { useBoard } from "./use-board.ts";

export function StatusPill({ status }: { status: TaskStatus }) {
  const { name, tone } = statusWords(status);
  return <Pill tone={tone}>{name}</Pill>;
}

const PRIORITY_TONES: Record<TaskPriority, "bad" | "warn" | "plain"> = {
  urgent: "bad",
  high: "warn",
  normal: "plain",
  low: "plain",
};

/** Shows the priority unless it is normal. */
export function PriorityPill({ priority }: { priority: TaskPriority }) {
  if (priority === "normal") return null;
  return <Pill tone={PRIORITY_TONES[priority]}>{priority}</Pill>;
}

export function Labels({ labels }: { labels: readonly string[] }) {
  return labels.map((label) => (
    <span
      key={label}
      className="max-w-full truncate rounded-full border border-line px-2 text-2xs leading-[1.15rem] text-ink-soft"
    >
      <bdi>{label}</bdi>
    </span>
  ));
}

interface DueMarkProps {
  task: Pick<TaskCard, "dueAt" | "isOverdue">;
  now: number;
}

export function DueMark({ task: { dueAt, isOverdue }, now }: DueMarkProps) {
  if (dueAt === null) return null;
  return (
    <time
      dateTime={dueAt}
      title={`Due ${fullTime(dueAt)}`}
      className={clsx("inline-flex items-center gap-1", isOverdue && "font-medium text-bad")}
    >
      <CalendarClock size={13} aria-hidden className="shrink-0" />
      {isOverdue ? "overdue, " : "due "}
      {dueWords(dueAt, now)}
    </time>
  );
}

const CHECKS: Record<CheckState, { Icon: typeof CircleX; words: string; tone: string }> = {
  passed: { Icon: CircleCheck, words: "check passed", tone: "text-good" },
  failed: { Icon: CircleX, words: "check failed", tone: "text-bad" },
  "not run": { Icon: CircleDashed, words: "check not run", tone: "" },
};

export function CheckMark({ task }: { task: Pick<TaskCard, "check" | "lastCheck"> }) {
  const state = checkState(task);
  if (state === null) return null;
  const { Icon, words, tone } = CHECKS[state];
  return (
    <span className={clsx("inline-flex items-center gap-1", tone)}>
      <Icon size={13} aria-hidden className="shrink-0" />
      {words}
    </span>
  );
}

interface TaskAnchorProps {
  taskId: string;
  className?: string;
  children: ReactNode;
}

/** Opens a task over its board. */
export function TaskAnchor({ taskId, className, children }: TaskAnchorProps) {
  const { param } = useBoard();
  return (
    <Link
      to="/board/$sessionId/$taskId"
      params={{ sessionId: param, taskId }}
      search={true}
      className={className}
    >
      {children}
    </Link>
  );
}

/** Links to other tasks, each with its status. */
export function TaskLinks({ tasks }: { tasks: readonly TaskLink[] }) {
  return (
    <ul className="divide-y divide-line overflow-hidden rounded-lg border border-line bg-raised">
      {tasks.map(({ id, title, status }) => (
        <li key={id} className="flex items-center gap-2 px-3 py-2">
          <TaskAnchor
            taskId={id}
            className="min-w-0 flex-1 [overflow-wrap:anywhere] underline-offset-2 hover:underline"
          >
            {title}
          </TaskAnchor>
          <StatusPill status={status} />
        </li>
      ))}
    </ul>
  );
}

interface PartProps {
  title: string;
  aside?: ReactNode;
  children: ReactNode;
}

export function Part({ title, aside, children }: PartProps) {
  return (
    <section aria-label={title}>
      <div className="mb-1 flex min-h-7 items-center justify-between gap-2">
        <h3 className="text-xs font-semibold text-ink-soft">{title}</h3>
        {aside}
      </div>
      {children}
    </section>
  );
}
