import { useQuery } from "@tanstack/react-query";
import { ChevronRight } from "lucide-react";
import { memo, useState } from "react";
import { GateRow } from "#features/approvals/ui/gate-row.tsx";
import type { Prompt } from "#protocol/sessions.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { useNow } from "#surfaces/web/kit/hooks/use-now.ts";
import { Markdown } from "#surfaces/web/kit/text/markdown.tsx";
import { clockTime, dayName, fullTime, until } from "#surfaces/web/kit/text/time-words.ts";
import { Redactable } from "../redaction/redact-entry.tsx";
import { redactableAs } from "../redaction/redactable.ts";
import { SessionLink } from "../session/session-link.tsx";
import { CallRow, ForwardedRow } from "../tree/relative-rows.tsx";
import { AsideRow, WakeRow } from "./notice-rows.tsx";
import { PromptRow } from "./prompt-row.tsx";
import type { Row } from "./rows.ts";

interface TranscriptRowProps {
  row: Row;
  speaker: string;
}

export const TranscriptRow = memo(function TranscriptRow({ row, speaker }: TranscriptRowProps) {
  const what = redactableAs(row);
  if (what === null) return <RowBody row={row} speaker={speaker} />;
  return (
    <Redactable entryId={row.key} what={what}>
      <RowBody row={row} speaker={speaker} />
    </Redactable>
  );
});

function RowBody({ row, speaker }: TranscriptRowProps) {
  switch (row.type) {
    case "welcome":
      return null;
    case "day":
      return <DayLine at={row.at} />;
    case "prompt":
      return <PromptRow entry={row.entry} isFollowed={row.isFollowed} />;
    case "wake":
      return <WakeRow row={row} />;
    case "aside":
      return (
        <AsideRow row={row}>
          {row.rows.map((one) => (
            <TranscriptRow key={one.key} row={one} speaker={speaker} />
          ))}
        </AsideRow>
      );
    case "forwarded":
      return <ForwardedRow row={row} />;
    case "agent":
      return (
        <p className="flex items-baseline gap-2 pt-3 pb-1 text-xs">
          <span className="font-semibold">{speaker}</span>
          {row.at !== "" && <Time at={row.at} />}
        </p>
      );
    case "text":
      return (
        <div className="py-1.5" data-writing={row.isWriting}>
          <Markdown text={row.text} />
          {row.isPartial && <CutMark />}
        </div>
      );
    case "reasoning":
      return <Reasoning row={row} />;
    case "tool":
      return <CallRow row={row} />;
    case "notice":
      return (
        <p className="flex items-baseline justify-center gap-2 py-2 text-center text-xs text-ink-faint">
          <span className="break-words">{row.text}</span>
          <Time at={row.at} />
        </p>
      );
    case "gate":
      return (
        <>
          {row.isChilds && (
            <p className="pt-2 text-xs text-ink-faint">
              Asked by <SessionLink sessionId={row.approval.sessionId} name={null} />, a child
              session
            </p>
          )}
          <GateRow approval={row.approval} />
        </>
      );
    case "pulse":
      return <Pulse promptId={row.promptId} />;
  }
}

/** Shows that the session works; if the turn waits, the reason and the end of the wait. */
function Pulse({ promptId }: { promptId: string | null }) {
  const found = useQuery<{ prompt: Prompt }>({
    queryKey: keys.prompt(promptId ?? ""),
    enabled: false,
  });
  const waiting = found.data?.prompt.outcome === null ? found.data.prompt.waitingFor : null;
  const now = useNow(30_000);
  if (waiting === null)
    return (
      <p className="flex items-center gap-2 py-2 text-xs text-ink-faint">
        <span aria-hidden className="animate-breathe size-2 rounded-full bg-accent" />
        Working…
      </p>
    );
  return (
    <p role="status" className="flex items-start gap-2 py-2 text-xs text-warn">
      <span aria-hidden className="mt-1 size-2 shrink-0 rounded-full border-[1.5px] border-warn" />
      <span className="min-w-0 break-words">
        {waiting.reason === "paused" && <span className="font-medium">Paused. </span>}
        {waiting.message}
        {waiting.until && (
          <time dateTime={waiting.until} title={fullTime(waiting.until)}>
            {" "}
            It resumes at {clockTime(waiting.until)}
            {until(waiting.until, now) && ` (${until(waiting.until, now)})`}.
          </time>
        )}
      </span>
    </p>
  );
}

function DayLine({ at }: { at: string }) {
  return (
    <p className="flex items-center gap-3 py-2 text-2xs font-medium text-ink-faint before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line">
      {dayName(at, Date.now())}
    </p>
  );
}

function Time({ at }: { at: string }) {
  return (
    <time
      dateTime={at}
      title={fullTime(at)}
      className="shrink-0 text-2xs text-ink-faint tabular-nums"
    >
      {clockTime(at)}
    </time>
  );
}

function CutMark() {
  return (
    <p className="mt-1.5 inline-block rounded-md bg-warn-soft px-1.5 py-0.5 text-2xs text-warn">
      Cut off: the turn ended before this was complete
    </p>
  );
}

/** Shows reasoning, open while it is written and folded afterwards. */
function Reasoning({ row }: { row: Extract<Row, { type: "reasoning" }> }) {
  const [choice, setChoice] = useState<boolean | null>(null);
  const isOpen = choice ?? row.isWriting;
  return (
    <div className="py-0.5">
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setChoice(!isOpen)}
        className="-ml-1 flex items-center gap-1 rounded-md px-1 py-0.5 text-xs text-ink-faint hover:text-ink-soft"
      >
        <ChevronRight size={14} aria-hidden className={isOpen ? "rotate-90" : undefined} />
        {row.isWriting ? "Thinking…" : "Reasoning"}
      </button>
      {isOpen && (
        <div className="mt-1 ml-1 border-l-2 border-line pl-3.5 text-[0.8125rem] leading-relaxed break-words whitespace-pre-wrap text-ink-soft">
          {row.text}
        </div>
      )}
      {row.isPartial && <CutMark />}
    </div>
  );
}
