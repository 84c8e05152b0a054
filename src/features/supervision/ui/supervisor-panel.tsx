import { useState } from "react";
import type { OrchestrationRole } from "#features/supervision/contract.ts";
import { messageOf } from "#surfaces/web/kit/api/api-client.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { Confirm } from "#surfaces/web/kit/dialog.tsx";
import { InlineError } from "#surfaces/web/kit/field.tsx";
import { InboxHistory } from "./inbox-history.tsx";
import { Pill } from "./pill.tsx";
import { useConfig, useSupervisorMode, useWorkers } from "./use-orchestration.ts";
import { WorkerItem } from "./worker-item.tsx";

/** Shows a supervisor's workers, its notices, and the button to leave supervisor mode. */
export function SupervisorPanel({ role }: { role: OrchestrationRole }) {
  const { sessionId, liveWorkers, pending } = role;
  const workers = useWorkers(sessionId);
  const max = useConfig().data?.maxWorkersPerSupervisor;
  const items = workers.data?.items;
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1.5">
        <h2 className="font-semibold">Workers</h2>
        <span className="text-xs text-ink-faint">
          {max === undefined ? `${liveWorkers} active` : `${liveWorkers} of ${max} active`}
        </span>
        {pending > 0 && (
          <Pill tone="warn">{pending === 1 ? "1 pending event" : `${pending} pending events`}</Pill>
        )}
        <SupervisorButtons role={role} />
      </div>
      {workers.isError && items === undefined && (
        <InlineError>{messageOf(workers.error)}</InlineError>
      )}
      {items?.length === 0 && (
        <p className="py-3 text-ink-faint">
          No workers yet. Ask the agent to split the work. It can start workers from its next turn.
        </p>
      )}
      <ul aria-label="Workers" className="divide-y divide-line">
        {items?.map((worker) => (
          <WorkerItem key={worker.workerId} supervisorId={sessionId} worker={worker} />
        ))}
      </ul>
      <InboxHistory sessionId={sessionId} />
    </>
  );
}

function SupervisorButtons({ role }: { role: OrchestrationRole }) {
  const { disable, clearInbox } = useSupervisorMode(role.sessionId);
  const [asking, setAsking] = useState<"disable" | "clear" | null>(null);
  const close = () => setAsking(null);
  return (
    <div className="ml-auto flex gap-1.5">
      <Button
        size="small"
        look="ghost"
        disabled={clearInbox.isPending}
        onClick={() => (role.pending > 0 ? setAsking("clear") : clearInbox.mutate(undefined))}
      >
        Clear inbox
      </Button>
      <Button size="small" onClick={() => setAsking("disable")}>
        <span>
          Disable<span className="max-sm:sr-only"> supervisor mode</span>
        </span>
      </Button>
      <Confirm
        isOpen={asking === "disable"}
        onClose={close}
        title="Disable supervisor mode?"
        text="Its workers are detached and continue as independent sessions. The inbox is cleared, and the agent can no longer start workers."
        action="Disable"
        isBusy={disable.isPending}
        onConfirm={() => disable.mutate(undefined, { onSettled: close })}
      />
      <Confirm
        isOpen={asking === "clear"}
        onClose={close}
        title="Clear the inbox?"
        text="The supervisor has not seen all of these events. They will not be delivered."
        action="Clear inbox"
        isBusy={clearInbox.isPending}
        onConfirm={() => clearInbox.mutate(undefined, { onSettled: close })}
      />
    </div>
  );
}
