import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Worker } from "#features/supervision/contract.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { Confirm } from "#surfaces/web/kit/dialog.tsx";
import { useNow } from "#surfaces/web/kit/hooks/use-now.ts";
import { plural } from "#surfaces/web/kit/text/money-words.ts";
import { revealLine } from "#surfaces/web/kit/text/reveal.ts";
import { ago } from "#surfaces/web/kit/text/time-words.ts";
import { Pill } from "./pill.tsx";
import { useWorkerActions } from "./use-orchestration.ts";

const MINUTE_MS = 60_000;
const STATE_TONES = { streaming: "accent", idle: "plain", cold: "plain" } as const;

export function WorkerItem({ supervisorId, worker }: { supervisorId: string; worker: Worker }) {
  const now = useNow(MINUTE_MS);
  const { workerId, name, state, activity, lifecycle, handoff, doing, messages, lastActivityAt } =
    worker;
  const isPutAway = lifecycle === "archived" || lifecycle === "terminated";
  return (
    <li className="flex flex-wrap items-center gap-x-2.5 gap-y-1.5 py-2">
      <Pill tone={STATE_TONES[state]} className="w-[4.75rem] text-center">
        {state}
      </Pill>
      <div className="min-w-0 flex-1 basis-40">
        <p className="flex min-w-0 items-center gap-1.5">
          <Link
            to="/sessions/$sessionId"
            params={{ sessionId: workerId }}
            search={true}
            className="truncate font-medium hover:underline"
          >
            {revealLine(name)}
          </Link>
          {handoff && <Pill tone="accent">Handoff</Pill>}
          {activity === "failed" && <Pill tone="bad">failed</Pill>}
          {activity === "needs_you" && <Pill tone="warn">needs you</Pill>}
        </p>
        <p className="truncate text-xs text-ink-faint">
          {isPutAway ? lifecycle : plural(messages, "message")} · {ago(lastActivityAt, now)}
          {doing !== null && doing !== "" && ` · ${doing}`}
        </p>
      </div>
      <WorkerButtons supervisorId={supervisorId} worker={worker} isPutAway={isPutAway} />
    </li>
  );
}

interface WorkerButtonsProps {
  supervisorId: string;
  worker: Worker;
  isPutAway: boolean;
}

function WorkerButtons({ supervisorId, worker, isPutAway }: WorkerButtonsProps) {
  const { workerId, name, state, lifecycle } = worker;
  const { resume, detach, kill } = useWorkerActions(supervisorId);
  const [asking, setAsking] = useState<"detach" | "kill" | null>(null);
  const close = () => setAsking(null);
  const isBusy = resume.isPending || detach.isPending || kill.isPending;
  return (
    <div className="ml-auto flex gap-1">
      {state === "cold" && lifecycle !== "terminated" && (
        <Button
          size="small"
          aria-label={`Resume ${name}`}
          disabled={isBusy}
          onClick={() => resume.mutate(workerId)}
        >
          Resume
        </Button>
      )}
      <Button
        size="small"
        look="ghost"
        aria-label={`Detach ${name}`}
        disabled={isBusy}
        onClick={() => setAsking("detach")}
      >
        Detach
      </Button>
      {!isPutAway && (
        <Button
          size="small"
          look="danger"
          aria-label={`Kill ${name}`}
          disabled={isBusy}
          onClick={() => setAsking("kill")}
        >
          Kill
        </Button>
      )}
      <Confirm
        isOpen={asking === "detach"}
        onClose={close}
        title={`Detach ${name}?`}
        text="It continues on its own. Its supervisor is notified once and receives nothing more from it."
        action="Detach"
        isBusy={detach.isPending}
        onConfirm={() => detach.mutate(workerId, { onSettled: close })}
      />
      <Confirm
        isOpen={asking === "kill"}
        onClose={close}
        title={`Kill ${name}?`}
        text="Its turn is stopped and it accepts no more prompts. Its supervisor is notified. It is kept for 7 days."
        action="Kill"
        isBusy={kill.isPending}
        onConfirm={() => kill.mutate(workerId, { onSettled: close })}
      />
    </div>
  );
}
