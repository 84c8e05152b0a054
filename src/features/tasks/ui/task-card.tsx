import { Hourglass, ListTree, OctagonPause, User } from "lucide-react";
import type { ReactNode } from "react";
import { SessionLink } from "#features/sessions/ui/session/session-link.tsx";
import type { TaskCard as Card } from "#features/tasks/contract.ts";
import { revealLine } from "#surfaces/web/kit/text/reveal.ts";
import { partsWords, shortTitle } from "./board-words.ts";
import { CheckMark, DueMark, Labels, PriorityPill, TaskAnchor } from "./task-marks.tsx";
import { useBoard } from "./use-board.ts";

const NAMED = 2;

/** The whole card links to the task; the assignee links to the session. */
export function TaskCard({ task, now }: { task: Card; now: number }) {
  const { boardId, name } = useBoard();
  const { sessionId, sessionTitle, labels, priority, parts, parent } = task;
  const hasPills = priority !== "normal" || labels.length > 0;
  return (
    <li className="relative rounded-xl border border-line bg-raised px-3 py-2.5 hover:border-line-strong has-[a:focus-visible]:border-line-strong">
      {parent && (
        <p className="truncate text-2xs text-ink-faint">
          subtask of <bdi>{revealLine(parent.title)}</bdi>
        </p>
      )}
      <TaskAnchor
        taskId={task.id}
        className="line-clamp-4 font-medium [overflow-wrap:anywhere] after:absolute after:inset-0 after:rounded-xl"
      >
        {revealLine(task.title)}
      </TaskAnchor>
      {hasPills && (
        <div className="mt-1.5 flex flex-wrap gap-1">
          <PriorityPill priority={priority} />
          <Labels labels={labels} />
        </div>
      )}
      <BlockedReason task={task} />
      <div className="mt-1.5 flex flex-wrap items-center gap-x-2.5 gap-y-1 text-xs text-ink-faint empty:hidden">
        {sessionId !== null && (
          <span className="relative inline-flex max-w-full min-w-0 items-center gap-1">
            <User size={13} aria-hidden className="shrink-0" />
            <SessionLink
              sessionId={sessionId}
              name={sessionId === boardId ? name : sessionTitle}
              className="truncate"
            />
          </span>
        )}
        <DueMark task={task} now={now} />
        <CheckMark task={task} />
        {parts.total > 0 && (
          <span className="inline-flex items-center gap-1">
            <ListTree size={13} aria-hidden className="shrink-0" />
            {partsWords(parts)}
          </span>
        )}
      </div>
    </li>
  );
}

/** Shows why the task is blocked. */
function BlockedReason({ task }: { task: Card }) {
  const open = task.blockers.filter(({ id }) => task.openBlockers.includes(id));
  const more = open.length - NAMED;
  return (
    <>
      {task.blockedReason !== null && (
        <Reason Icon={OctagonPause}>
          <bdi>{task.blockedReason}</bdi>
        </Reason>
      )}
      {open.length > 0 && (
        <Reason Icon={Hourglass}>
          blocked by{" "}
          {open.slice(0, NAMED).map(({ id, title }, at) => (
            <span key={id}>
              {at > 0 && ", "}
              <bdi>“{revealLine(shortTitle(title))}”</bdi>
            </span>
          ))}
          {more > 0 && ` and ${more} more`}
        </Reason>
      )}
      {task.note !== null && <p className="mt-1.5 line-clamp-3 text-xs text-warn">{task.note}</p>}
    </>
  );
}

function Reason({ Icon, children }: { Icon: typeof Hourglass; children: ReactNode }) {
  return (
    <p className="mt-1.5 flex gap-1 text-xs text-warn">
      <Icon size={13} aria-hidden className="mt-0.5 shrink-0" />
      <span className="line-clamp-3 min-w-0 [overflow-wrap:anywhere]">{children}</span>
    </p>
  );
}
