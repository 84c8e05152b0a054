import { clsx } from "clsx";
import { useMemo, useState } from "react";
import { reveal } from "#base/text/visible-text.ts";
import { Button } from "../button.tsx";
import { useSeenToEnd } from "../read-gate.tsx";
import { plural } from "./money-words.ts";
import { Revealed } from "./revealed.tsx";

/** Limit of what is drawn at once: a frozen page helps nobody to decide. */
const DRAWN_CHARS = 200_000;
const DRAWN_NAMES = 5_000;

interface VerbatimProps {
  text: string;
  /** Label for screen readers. */
  label: string;
  tone?: "plain" | "bad" | "added" | "removed";
  tall?: boolean;
  /** True for prose, whose direction follows its own letters; code is always left to right. */
  isProse?: boolean;
  className?: string;
}

const TONES = {
  plain: "bg-panel",
  bad: "bg-panel text-bad",
  added: "bg-add",
  removed: "bg-del",
};

/** Shows text exactly as it is: no markdown, nothing hidden, wrapped so that nothing is cut off. */
export function Verbatim({
  text,
  label,
  tone = "plain",
  tall = false,
  isProse = false,
  className,
}: VerbatimProps) {
  const step = useMemo(() => drawnAtOnce(text), [text]);
  const [limit, setLimit] = useState(step);
  const drawn = text.slice(0, limit);
  const isWhole = drawn.length === text.length;
  const marks = useSeenToEnd(`${label}\0${text}`, isWhole);
  return (
    <div className={clsx("relative", className)}>
      <section
        ref={marks.region}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
        tabIndex={0}
        aria-label={label}
        dir="ltr"
        className={clsx(
          "overflow-auto rounded-md px-2.5 py-2 font-mono text-xs leading-relaxed [overflow-wrap:anywhere] whitespace-pre-wrap [tab-size:4]",
          isProse ? "[unicode-bidi:plaintext]" : "[unicode-bidi:isolate]",
          tall ? "max-h-[45dvh]" : "max-h-72",
          TONES[tone],
        )}
      >
        <Mark at={marks.start} />
        <Revealed text={drawn} />
        <Mark at={marks.end} />
        {!isWhole && (
          <span className="mt-2 block font-sans text-warn">
            {plural(text.length - drawn.length, "more character")} hidden{" "}
            <Button onClick={() => setLimit(limit + step)}>Show more</Button>
          </span>
        )}
      </section>
      {!marks.isSeen && (
        // Overlaid, so that nothing moves when it goes.
        <p className="animate-late pointer-events-none absolute right-2 bottom-1 rounded bg-warn-soft px-1.5 py-0.5 text-2xs font-medium text-warn">
          more below; scroll to the end
        </p>
      )}
    </div>
  );
}

/** Limits the drawn length: named characters are separate elements, which cost much more than letters. */
function drawnAtOnce(text: string): number {
  const isCostly = reveal(text.slice(0, DRAWN_CHARS)).length > DRAWN_NAMES;
  return isCostly ? DRAWN_NAMES : DRAWN_CHARS;
}

/** Mark whose visibility is observed. */
export function Mark({ at }: { at: { current: HTMLElement | null } }) {
  return <span ref={at} aria-hidden className="inline-block h-px w-px align-bottom" />;
}
