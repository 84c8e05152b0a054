/** Transcript rows of messages between parents and children. */
import { clsx } from "clsx";
import { ChevronRight, CornerDownRight, Forward, GitFork, Hourglass, X } from "lucide-react";
import { useState } from "react";
import { Markdown } from "#surfaces/web/kit/text/markdown.tsx";
import { revealLine } from "#surfaces/web/kit/text/reveal.ts";
import { SessionLink } from "../session/session-link.tsx";
import { ToolBody } from "../tools/tool-body.tsx";
import { ToolRow } from "../tools/tool-row.tsx";
import { stateOf, type ToolRowData } from "../tools/tool-view.ts";
import { BOX, Time } from "../transcript/notice-rows.tsx";
import type { Row } from "../transcript/rows.ts";
import { type DelegationWords, delegationWords } from "./delegation-words.ts";

/** Shows a child's own words, forwarded to the reader. */
export function ForwardedRow({ row }: { row: Extract<Row, { type: "forwarded" }> }) {
  return (
    <article
      aria-label={`Forwarded from ${row.author.name}`}
      className="my-1.5 border-l-2 border-accent/50 pl-3.5"
    >
      <p className="flex items-baseline gap-1.5 text-xs">
        <Forward size={13} aria-hidden className="shrink-0 self-center text-ink-faint" />
        <SessionLink sessionId={row.author.id} name={row.author.name} />
        <span className="text-ink-faint">forwarded</span>
        <Time at={row.at} />
      </p>
      <div className="pt-1">
        <Markdown text={row.text} />
      </div>
    </article>
  );
}

/** Shows a delegation call in words; the exact call is one click away. */
export function CallRow({ row }: { row: ToolRowData }) {
  const words = delegationWords(row.use, stateOf(row));
  return words === undefined ? <ToolRow row={row} /> : <DelegationCard row={row} words={words} />;
}

function DelegationCard({ row, words }: { row: ToolRowData; words: DelegationWords }) {
  const [isOpen, setIsOpen] = useState(false);
  const state = stateOf(row);
  const { verb, title, sessionId } = words;
  return (
    <div className="py-1">
      <div className={clsx(BOX, "!p-0")}>
        <div className="flex items-center gap-2 py-1.5 pr-1.5 pl-3">
          <CardIcon row={row} />
          <p className="min-w-0 flex-1 truncate">
            {verb}{" "}
            {sessionId !== null ? (
              <SessionLink sessionId={sessionId} name={title} />
            ) : (
              title !== null && <span className="font-medium">{revealLine(title)}</span>
            )}
          </p>
          {state !== "done" && state !== "running" && (
            <span className={clsx("shrink-0 text-xs", isBad(row) ? "text-bad" : "text-ink-faint")}>
              {state}
            </span>
          )}
          <button
            type="button"
            aria-expanded={isOpen}
            aria-label={`${title === null ? verb : `${verb} ${revealLine(title)}`}: show the call`}
            onClick={() => setIsOpen(!isOpen)}
            className="grid size-7 shrink-0 place-items-center rounded-md text-ink-faint hover:bg-hover hover:text-ink"
          >
            <ChevronRight size={14} aria-hidden className={isOpen ? "rotate-90" : undefined} />
          </button>
        </div>
        {isOpen && (
          <div className="border-t border-line">
            <ToolBody use={row.use} state={state} change={undefined} />
          </div>
        )}
      </div>
    </div>
  );
}

function isBad(row: ToolRowData): boolean {
  const state = stateOf(row);
  return state === "failed" || state === "denied";
}

function CardIcon({ row }: { row: ToolRowData }) {
  const size = { size: 14, "aria-hidden": true } as const;
  if (isBad(row)) return <X {...size} className="shrink-0 text-bad" />;
  if (row.use.name === "wait_for_event")
    return <Hourglass {...size} className="shrink-0 text-ink-faint" />;
  return row.use.name.includes("spawn") ? (
    <GitFork {...size} className="shrink-0 text-accent" />
  ) : (
    <CornerDownRight {...size} className="shrink-0 text-ink-faint" />
  );
}
