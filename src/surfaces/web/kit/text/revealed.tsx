import { Fragment, useMemo } from "react";
import { reveal, type VisibleSegment } from "#base/text/visible-text.ts";

/** Right-to-left letters, with the spaces between them. */
const RIGHT_TO_LEFT =
  /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]+(?: [\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]+)*/gu;

/**
 * Shows text with every hidden character named. Right-to-left words are isolated, so that they cannot
 * move the digits, signs and words around them.
 */
export function Revealed({ text }: { text: string }) {
  const pieces = useMemo(() => reveal(text).map((piece, at) => ({ piece, at })), [text]);
  return pieces.map(({ piece, at }) =>
    "text" in piece ? <Fragment key={at}>{isolated(piece.text)}</Fragment> : named(piece, at),
  );
}

function named(piece: Extract<VisibleSegment, { name: string }>, at: number) {
  const isHost = !piece.code.startsWith("U+");
  return (
    <mark
      key={at}
      title={isHost ? `Actual host: ${piece.name}` : `Invisible character: ${piece.name}`}
      className="mx-px rounded bg-warn-soft px-1 text-2xs font-semibold text-warn"
    >
      {piece.name}
    </mark>
  );
}

function isolated(text: string) {
  const runs = [...text.matchAll(RIGHT_TO_LEFT)];
  if (runs.length === 0) return text;
  let from = 0;
  const parts = runs.map(({ 0: run, index }) => {
    const before = text.slice(from, index);
    from = index + run.length;
    return (
      <Fragment key={index}>
        {before}
        <bdi>{run}</bdi>
      </Fragment>
    );
  });
  return [...parts, text.slice(from)];
}
