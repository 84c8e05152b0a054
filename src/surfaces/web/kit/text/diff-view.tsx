import { clsx } from "clsx";
import { memo, useState } from "react";
import type { DiffLine } from "./diff.ts";
import { plural } from "./money-words.ts";
import { revealLine } from "./reveal.ts";

const KIND_SIGNS: Record<DiffLine["kind"], string> = {
  add: "+",
  del: "−",
  same: " ",
  hunk: "",
  note: "",
};
const SCREEN_READER_WORDS: Partial<Record<DiffLine["kind"], string>> = {
  add: "added",
  del: "removed",
};
const LOOKS: Record<DiffLine["kind"], string> = {
  add: "bg-add",
  del: "bg-del",
  same: "",
  hunk: "bg-panel text-ink-faint",
  note: "text-ink-faint italic",
};

interface DiffViewProps {
  lines: readonly DiffLine[];
  label: string;
  /** Number of lines drawn at first; the rest is drawn in parts, on demand. */
  first?: number;
  hasNumbers?: boolean;
}

const MORE = 1000;

/** Shows a unified diff. Long diffs are drawn in parts, so that opening one never stalls the page. */
export const DiffView = memo(function DiffView({
  lines,
  label,
  first = 300,
  hasNumbers = true,
}: DiffViewProps) {
  const [shown, setShown] = useState(first);
  const rest = lines.length - shown;
  return (
    <div>
      <section
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
        tabIndex={0}
        aria-label={label}
        className="overflow-x-auto font-mono text-xs leading-5 -outline-offset-2"
      >
        <div className="min-w-fit">
          {lines.slice(0, shown).map((line, at) =>
            // Nothing is left out before the first line, so it needs no mark.
            at === 0 && line.kind === "hunk" && line.text === "" ? null : (
              // biome-ignore lint/suspicious/noArrayIndexKey: lines have no id, only a position
              <DiffRow key={at} line={line} hasNumbers={hasNumbers} />
            ),
          )}
        </div>
      </section>
      {rest > 0 && (
        <button
          type="button"
          onClick={() => setShown(shown + MORE)}
          className="h-8 w-full border-t border-line text-xs font-medium text-accent hover:bg-hover"
        >
          Show {plural(Math.min(rest, MORE), "more line")}
          {rest > MORE && ` of ${rest.toLocaleString("en-US")}`}
        </button>
      )}
    </div>
  );
});

const DiffRow = memo(function DiffRow({
  line,
  hasNumbers,
}: {
  line: DiffLine;
  hasNumbers: boolean;
}) {
  const isMarker = line.kind === "hunk" || line.kind === "note";
  return (
    <div className={clsx("flex whitespace-pre", LOOKS[line.kind])}>
      {hasNumbers && (
        <>
          <LineNumber value={line.old} />
          <LineNumber value={line.new} />
        </>
      )}
      <span
        aria-hidden
        className={clsx(
          "w-5 shrink-0 text-center select-none",
          line.kind === "add" && "text-good",
          line.kind === "del" && "text-bad",
        )}
      >
        {KIND_SIGNS[line.kind]}
      </span>
      {SCREEN_READER_WORDS[line.kind] && (
        <span className="sr-only">{SCREEN_READER_WORDS[line.kind]}: </span>
      )}
      <span className="pr-3 [tab-size:4]">
        {isMarker ? line.text || "⋯" : shownText(line.text)}
      </span>
    </div>
  );
});

const LONGEST_LINE = 2000;

/** Reveals characters that hide or reorder text; only the \r of a Windows line end is dropped. */
function shownText(text: string): string {
  const line = text.endsWith("\r") ? text.slice(0, -1) : text;
  if (line === "") return " ";
  return revealLine(line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)}…` : line);
}

function LineNumber({ value }: { value: number | null }) {
  return (
    <span
      aria-hidden
      className="w-9 shrink-0 pr-1.5 text-right text-2xs leading-5 text-ink-faint tabular-nums select-none"
    >
      {value}
    </span>
  );
}

export function ChangeCount({ additions, deletions }: { additions: number; deletions: number }) {
  return (
    <span className="shrink-0 space-x-1.5 text-xs tabular-nums">
      <span className="text-good">
        <span className="sr-only">added </span>+{additions}
      </span>
      <span className="text-bad">
        <span className="sr-only">removed </span>−{deletions}
      </span>
    </span>
  );
}
