import { clsx } from "clsx";
import { Tabs } from "radix-ui";
import { useState } from "react";
import type { TaskStatus } from "#features/tasks/contract.ts";
import { messageOf } from "#surfaces/web/kit/api/api-client.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { InlineError } from "#surfaces/web/kit/field.tsx";
import { useMedia } from "#surfaces/web/kit/hooks/use-media.ts";
import { useNow } from "#surfaces/web/kit/hooks/use-now.ts";
import { COLUMNS, firstWithTasks } from "./board-words.ts";
import { TaskCard } from "./task-card.tsx";
import type { Column } from "./use-board.ts";

const MINUTE_MS = 60_000;
/** Media query for the width of two columns and the session list. */
const WIDE_SCREEN = "(min-width: 56rem)";

/** Shows columns side by side where there is room, and one at a time on a phone. */
export function BoardColumns({ columns }: { columns: readonly Column[] }) {
  return useMedia(WIDE_SCREEN) ? (
    <SideBySide columns={columns} />
  ) : (
    <OneAtATime columns={columns} />
  );
}

function SideBySide({ columns }: { columns: readonly Column[] }) {
  return (
    <div className="flex min-h-0 flex-1 gap-2.5 overflow-x-auto px-4 pt-3 pb-4 md:px-6">
      {columns.map((column) => (
        <section
          key={column.status}
          aria-label={nameOf(column.status)}
          className={clsx(
            "flex min-h-0 flex-col rounded-xl bg-panel",
            // Empty columns are narrow, so that the others have room.
            column.tasks.length > 0 ? "min-w-43 flex-1" : "min-w-32 basis-32",
          )}
        >
          <h2 className="flex shrink-0 items-baseline gap-2 px-3 pt-2.5 pb-2 text-xs font-semibold">
            {nameOf(column.status)}
            <Count column={column} />
          </h2>
          <div className="min-h-0 flex-1 overflow-y-auto px-2 pb-2">
            <Tasks column={column} />
          </div>
        </section>
      ))}
    </div>
  );
}

function OneAtATime({ columns }: { columns: readonly Column[] }) {
  const [chosen, setChosen] = useState<TaskStatus>();
  const shown = chosen ?? firstWithTasks(columns);
  return (
    <Tabs.Root
      value={shown}
      onValueChange={(status) => setChosen(status as TaskStatus)}
      className="flex min-h-0 flex-1 flex-col"
    >
      <Tabs.List
        aria-label="Columns"
        className="flex shrink-0 gap-1 overflow-x-auto border-b border-line px-3 py-2"
      >
        {columns.map((column) => (
          <Tabs.Trigger
            key={column.status}
            value={column.status}
            className="flex h-9 shrink-0 items-center gap-1.5 rounded-lg px-2.5 text-xs font-medium text-ink-soft data-[state=active]:bg-hover data-[state=active]:text-ink"
          >
            {nameOf(column.status)}
            <Count column={column} />
          </Tabs.Trigger>
        ))}
      </Tabs.List>
      {columns.map((column) => (
        <Tabs.Content
          key={column.status}
          value={column.status}
          className="min-h-0 flex-1 overflow-y-auto px-3 pt-3 pb-6 outline-none"
        >
          <Tasks column={column} />
        </Tabs.Content>
      ))}
    </Tabs.Root>
  );
}

function nameOf(status: TaskStatus): string {
  return COLUMNS.find((column) => column.status === status)?.name ?? status;
}

function Count({ column: { found, tasks } }: { column: Column }) {
  if (found.data === undefined) return null;
  return (
    <span className="font-normal text-ink-faint tabular-nums">
      {tasks.length}
      {found.hasNextPage && "+"}
    </span>
  );
}

function Tasks({ column: { status, found, tasks } }: { column: Column }) {
  const now = useNow(MINUTE_MS);
  if (found.isError && found.data === undefined)
    return (
      <div className="space-y-2">
        <InlineError>{messageOf(found.error)}</InlineError>
        <Button size="small" onClick={() => void found.refetch()}>
          Try again
        </Button>
      </div>
    );
  if (found.data === undefined)
    return <div role="status" aria-label="Loading tasks" className="h-16" />;
  if (tasks.length === 0)
    return (
      <p className="px-1 py-2 text-xs text-ink-faint">
        {COLUMNS.find((column) => column.status === status)?.empty}
      </p>
    );
  return (
    <>
      <ul aria-label={nameOf(status)} className="space-y-2">
        {tasks.map((task) => (
          <TaskCard key={task.id} task={task} now={now} />
        ))}
      </ul>
      {found.hasNextPage && (
        <Button
          size="small"
          look="ghost"
          className="mt-2 w-full max-md:h-10"
          disabled={found.isFetchingNextPage}
          onClick={() => void found.fetchNextPage()}
        >
          {found.isFetchingNextPage ? "Loading…" : "Show more"}
        </Button>
      )}
    </>
  );
}
