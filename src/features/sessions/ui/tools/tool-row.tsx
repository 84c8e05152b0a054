import { clsx } from "clsx";
import {
  Ban,
  Check,
  ChevronRight,
  CircleSlash,
  Hourglass,
  LoaderCircle,
  Unplug,
  X,
} from "lucide-react";
import { useMemo, useState } from "react";
import { countChanges } from "#surfaces/web/kit/text/diff.ts";
import { ChangeCount } from "#surfaces/web/kit/text/diff-view.tsx";
import { revealLine } from "#surfaces/web/kit/text/reveal.ts";
import { duration } from "#surfaces/web/kit/text/time-words.ts";
import type { ToolUse } from "../transcript/entry-from-event.ts";
import { ToolBody } from "./tool-body.tsx";
import { changeOf, headline, stateOf, type ToolRowData, type ToolState } from "./tool-view.ts";

/** Tools whose calls are expanded at first. */
const EXPANDED_TOOLS = new Set(["edit", "write", "todo"]);

const MARKS: Partial<Record<ToolState, { word: string; tone: string }>> = {
  denied: { word: "denied", tone: "text-bad" },
  interrupted: { word: "interrupted", tone: "text-warn" },
  waiting: { word: "waiting", tone: "text-warn" },
};

export function ToolRow({ row }: { row: ToolRowData }) {
  const { use } = row;
  const state = stateOf(row);
  const isDone = state === "done" || state === "running";
  const [choice, setChoice] = useState<boolean | null>(null);
  const isOpen = choice ?? (EXPANDED_TOOLS.has(use.name) && isDone);
  const change = useMemo(() => changeOf(use), [use]);
  return (
    <div className="py-0.5">
      <div
        className={clsx(
          "overflow-hidden rounded-lg border",
          isOpen ? "border-line" : "border-transparent",
        )}
      >
        <button
          type="button"
          aria-expanded={isOpen}
          aria-label={`Tool ${use.name}: ${state}`}
          onClick={() => setChoice(!isOpen)}
          className="flex h-8 w-full items-center gap-2 rounded-lg bg-panel px-2.5 text-left text-xs -outline-offset-2 hover:bg-hover"
        >
          <StateIcon state={state} />
          <span className="shrink-0 font-mono font-medium">{use.name}</span>
          <span className="min-w-0 flex-1 truncate font-mono text-ink-faint">
            {revealLine(headline(use))}
          </span>
          {change && state === "done" && <ChangeCount {...countChanges(change)} />}
          <Outcome use={use} state={state} />
          <ChevronRight
            size={14}
            aria-hidden
            className={clsx("shrink-0 text-ink-faint", isOpen && "rotate-90")}
          />
        </button>
        {isOpen && <ToolBody use={use} state={state} change={change} />}
      </div>
    </div>
  );
}

function Outcome({ use, state }: { use: ToolUse; state: ToolState }) {
  const mark = MARKS[state];
  return (
    <>
      {mark && <span className={clsx("shrink-0", mark.tone)}>{mark.word}</span>}
      {use.exitCode !== null && use.exitCode !== 0 && (
        <span className="shrink-0 text-bad">exit {use.exitCode}</span>
      )}
      {use.durationMs !== null && (
        <span className="shrink-0 text-2xs text-ink-faint tabular-nums max-sm:hidden">
          {duration(use.durationMs)}
        </span>
      )}
    </>
  );
}

function StateIcon({ state }: { state: ToolState }) {
  const size = { size: 14, "aria-hidden": true } as const;
  switch (state) {
    case "running":
    case "preparing":
      return <LoaderCircle {...size} className="shrink-0 animate-spin text-accent" />;
    case "waiting":
      return <Hourglass {...size} className="shrink-0 text-warn" />;
    case "failed":
      return <X {...size} className="shrink-0 text-bad" />;
    case "denied":
      return <Ban {...size} className="shrink-0 text-bad" />;
    case "interrupted":
      return <Unplug {...size} className="shrink-0 text-warn" />;
    case "no result":
      return <CircleSlash {...size} className="shrink-0 text-ink-faint" />;
    default:
      return <Check {...size} className="shrink-0 text-accent" />;
  }
}
