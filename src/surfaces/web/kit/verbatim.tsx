import { clsx } from "clsx";
import { useMemo } from "react";
import { reveal } from "#base/visible-text.ts";
import { plural } from "./money-words.ts";

/** More than this is never drawn at once: a page that hangs helps nobody to decide. */
const DRAWN_CHARS = 400_000;

interface VerbatimProps {
  text: string;
  /** Said by screen readers. */
  label: string;
  tone?: "plain" | "bad" | "added" | "removed";
  tall?: boolean;
  className?: string;
}

const TONES = {
  plain: "bg-panel",
  bad: "bg-panel text-bad",
  added: "bg-add",
  removed: "bg-del",
};

/** Text exactly as it is: no markdown, nothing hidden, wrapped so that nothing stands out of sight. */
export function Verbatim({ text, label, tone = "plain", tall = false, className }: VerbatimProps) {
  const drawn = text.length > DRAWN_CHARS ? text.slice(0, DRAWN_CHARS) : text;
  const pieces = useMemo(() => withPlaces(drawn), [drawn]);
  return (
    <section
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
      tabIndex={0}
      aria-label={label}
      className={clsx(
        "overflow-auto rounded-md px-2.5 py-2 font-mono text-xs leading-relaxed [overflow-wrap:anywhere] whitespace-pre-wrap [tab-size:4]",
        tall ? "max-h-[45dvh]" : "max-h-72",
        TONES[tone],
        className,
      )}
    >
      {pieces.map(({ piece, at }) =>
        "text" in piece ? (
          piece.text
        ) : (
          <mark
            key={at}
            title={`A character that is not seen: ${piece.name}`}
            className="mx-px rounded bg-warn-soft px-1 text-2xs font-semibold text-warn"
          >
            {piece.name}
          </mark>
        ),
      )}
      {drawn.length < text.length && (
        <span className="mt-2 block font-sans text-warn">
          {plural(text.length - drawn.length, "more character")} not shown here
        </span>
      )}
    </section>
  );
}

function withPlaces(text: string) {
  return reveal(text).map((piece, at) => ({ piece, at }));
}
