/** Details of a task. */
import { ChevronRight, Plus } from "lucide-react";
import { useState } from "react";
import { SessionLink } from "#features/sessions/ui/session/session-link.tsx";
import { Pill } from "#features/supervision/ui/pill.tsx";
import type { TaskCheckRun, TaskPage } from "#features/tasks/contract.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { useNow } from "#surfaces/web/kit/hooks/use-now.ts";
import { Markdown } from "#surfaces/web/kit/text/markdown.tsx";
import { agoWords, fullTime } from "#surfaces/web/kit/text/time-words.ts";
import { Verbatim } from "#surfaces/web/kit/text/verbatim.tsx";
import { NewTaskDialog } from "./new-task-dialog.tsx";
import { By, TaskHistory } from "./task-history.tsx";
import { CheckMark, DueMark, Labels, Part, TaskLinks } from "./task-marks.tsx";
import { useBoard } from "./use-board.ts";

const MINUTE_MS = 60_000;

export function TaskBody({ page }: { page: TaskPage }) {
  const { task, parts, dependents } = page;
  const [isAddingPart, setIsAddingPart] = useState(false);
  return (
    <>
      <Facts page={page} />
      {task.blockedReason !== null && (
        <Part title="Block reason">
          <p className="[overflow-wrap:anywhere] whitespace-pre-wrap text-warn">
            {task.blockedReason}
          </p>
        </Part>
      )}
      {task.note !== null && (
        <Part title="Note">
          <p className="[overflow-wrap:anywhere] text-warn">{task.note}</p>
        </Part>
      )}
      {task.result !== null && (
        <Part title="Result">
          <Markdown text={task.result} />
        </Part>
      )}
      <Part title="Description">
        {task.description === null ? (
          <p className="text-ink-faint">No description. Select “Edit” to add one.</p>
        ) : (
          <Markdown text={task.description} />
        )}
      </Part>
      {task.blockers.length > 0 && (
        <Part title="Blocked by">
          <TaskLinks tasks={task.blockers} />
        </Part>
      )}
      {dependents.length > 0 && (
        <Part title="Blocks">
          <TaskLinks tasks={dependents} />
        </Part>
      )}
      {task.parent && (
        <Part title="Parent task">
          <TaskLinks tasks={[task.parent]} />
        </Part>
      )}
      <Part
        title="Subtasks"
        aside={
          <Button size="small" look="ghost" onClick={() => setIsAddingPart(true)}>
            <Plus size={14} aria-hidden />
            Add subtask
          </Button>
        }
      >
        {parts.length > 0 && <TaskLinks tasks={parts} />}
      </Part>
      <Check page={page} />
      <TaskHistory page={page} />
      {isAddingPart && (
        <NewTaskDialog
          parent={{ id: task.id, title: task.title }}
          onClose={() => setIsAddingPart(false)}
        />
      )}
    </>
  );
}

function Facts({ page: { task } }: { page: TaskPage }) {
  const now = useNow(MINUTE_MS);
  const { boardId, name } = useBoard();
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-ink-faint">
      <Labels labels={task.labels} />
      <DueMark task={task} now={now} />
      {task.sessionId !== null && (
        <span>
          assigned to{" "}
          <SessionLink
            sessionId={task.sessionId}
            name={task.sessionId === boardId ? name : task.sessionTitle}
          />
        </span>
      )}
      <span>
        created by <By by={task.createdBy} />{" "}
        <time dateTime={task.createdAt} title={fullTime(task.createdAt)}>
          {agoWords(task.createdAt, now)}
        </time>
      </span>
      {task.settledAt !== null && (
        <span>
          {task.status}{" "}
          <time dateTime={task.settledAt} title={fullTime(task.settledAt)}>
            {agoWords(task.settledAt, now)}
          </time>
        </span>
      )}
      <span className="select-all">{task.id}</span>
    </div>
  );
}

function Check({ page: { task, checks } }: { page: TaskPage }) {
  const { check } = task;
  if (check === null && checks.length === 0) return null;
  return (
    <Part
      title="Check"
      aside={
        <span className="text-xs">
          <CheckMark task={task} />
        </span>
      }
    >
      <div className="space-y-2">
        {check?.kind === "command" && (
          <>
            <Verbatim label="Command" text={check.command} />
            <p className="text-xs text-ink-faint">
              {task.sessionId === null
                ? "Runs in the assignee's workspace. The task is not assigned yet."
                : "Runs in the root folder of the assignee's workspace, after the last change."}
              {check.expectExitCode !== undefined &&
                ` It must exit with code ${check.expectExitCode}.`}
            </p>
          </>
        )}
        {check?.kind === "pull_request" && <p>A pull request must be open.</p>}
        {checks.map((run, at) => (
          <CheckRun key={run.id} run={run} isNewest={at === 0} />
        ))}
      </div>
    </Part>
  );
}

/** Shows a check run with its output; the newest is open. */
function CheckRun({ run, isNewest }: { run: TaskCheckRun; isNewest: boolean }) {
  const now = useNow(MINUTE_MS);
  return (
    <details open={isNewest} className="group rounded-lg border border-line bg-raised">
      <summary className="flex flex-wrap items-center gap-x-2 gap-y-1 px-2 py-2 text-xs">
        <ChevronRight size={14} aria-hidden className="transition-transform group-open:rotate-90" />
        <Pill tone={run.passed ? "good" : "bad"}>{run.passed ? "passed" : "failed"}</Pill>
        {run.exitCode !== null && <span>exit code {run.exitCode}</span>}
        <span className="text-ink-faint">
          in <SessionLink sessionId={run.sessionId} name={null} /> ·{" "}
          <time dateTime={run.at} title={fullTime(run.at)}>
            {agoWords(run.at, now)}
          </time>
        </span>
      </summary>
      <div className="space-y-2 border-t border-line p-2">
        <p className="px-1 font-mono text-xs [overflow-wrap:anywhere] text-ink-soft">
          {run.subject}
        </p>
        <Verbatim label="Output" text={run.output === "" ? "(nothing)" : run.output} />
      </div>
    </details>
  );
}
