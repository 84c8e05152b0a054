import { clsx } from "clsx";
import { Check, ChevronRight, CircleSlash, LoaderCircle, X } from "lucide-react";
import { useState } from "react";
import { duration } from "#surfaces/web/kit/time-words.ts";
import type { Row, ToolUse } from "./rows.ts";
import { asText, callLine } from "./tool-words.ts";

type ToolRowData = Extract<Row, { type: "tool" }>;

export function ToolRow({ row }: { row: ToolRowData }) {
  const [isOpen, setIsOpen] = useState(false);
  const { use } = row;
  const state = stateOf(row);
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
          onClick={() => setIsOpen(!isOpen)}
          className="flex h-8 w-full items-center gap-2 rounded-lg bg-panel px-2.5 text-left text-xs -outline-offset-2 hover:bg-hover"
        >
          <StateIcon state={state} />
          <span className="shrink-0 font-mono font-medium">{use.name}</span>
          <span className="min-w-0 flex-1 truncate font-mono text-ink-faint">
            {callLine(use.input)}
          </span>
          {use.exitCode !== null && use.exitCode !== 0 && (
            <span className="shrink-0 text-bad">exit {use.exitCode}</span>
          )}
          {use.durationMs !== null && (
            <span className="shrink-0 text-2xs text-ink-faint tabular-nums">
              {duration(use.durationMs)}
            </span>
          )}
          <ChevronRight
            size={14}
            aria-hidden
            className={clsx("shrink-0 text-ink-faint", isOpen && "rotate-90")}
          />
        </button>
        {isOpen && <ToolParts use={use} />}
      </div>
    </div>
  );
}

type ToolState = "running" | "done" | "failed" | "no result";

function stateOf({ use, isDone, isLive }: ToolRowData): ToolState {
  if (isLive) return "running";
  if (!isDone) return "no result";
  return use.error !== null || (use.exitCode ?? 0) !== 0 ? "failed" : "done";
}

function StateIcon({ state }: { state: ToolState }) {
  const size = { size: 14, "aria-hidden": true } as const;
  if (state === "running")
    return <LoaderCircle {...size} className="shrink-0 animate-spin text-accent" />;
  if (state === "failed") return <X {...size} className="shrink-0 text-bad" />;
  if (state === "no result") return <CircleSlash {...size} className="shrink-0 text-ink-faint" />;
  return <Check {...size} className="shrink-0 text-accent" />;
}

function ToolParts({ use }: { use: ToolUse }) {
  return (
    <div className="space-y-2.5 p-3">
      <Part label="Input" text={asText(use.input)} />
      {use.error !== null && <Part label="Error" text={use.error} isBad />}
      <Part label={use.truncated ? "Output (shortened)" : "Output"} text={asText(use.output)} />
    </div>
  );
}

function Part({ label, text, isBad = false }: { label: string; text: string; isBad?: boolean }) {
  if (text === "") return null;
  return (
    <div>
      <p className="mb-1 text-2xs font-medium text-ink-faint">{label}</p>
      <section
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
        tabIndex={0}
        aria-label={label}
        className={clsx(
          "max-h-80 overflow-auto rounded-md bg-panel p-2.5 font-mono text-xs leading-relaxed break-words whitespace-pre-wrap",
          isBad && "text-bad",
        )}
      >
        {text}
      </section>
    </div>
  );
}
