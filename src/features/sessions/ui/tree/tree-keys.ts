/** Keyboard navigation of a tree: the next row, and folding. Pure. */
import type { TreeRow } from "./tree-rows.ts";

export type TreeMove = { to: string } | { fold: string } | { unfold: string };

type Step = (rows: readonly TreeRow[], at: number) => TreeMove | undefined;

const STEPS: Readonly<Record<string, Step>> = {
  ArrowDown: (rows, at) => goTo(rows[at + 1]),
  ArrowUp: (rows, at) => goTo(rows[at - 1]),
  Home: (rows) => goTo(rows[0]),
  End: (rows) => goTo(rows.at(-1)),
  ArrowRight: (rows, at) => {
    const row = rows[at];
    if (!row || row.children === 0) return undefined;
    return row.isExpanded ? goTo(rows[at + 1]) : { unfold: row.session.id };
  },
  ArrowLeft: (rows, at) => {
    const row = rows[at];
    if (!row) return undefined;
    if (row.isExpanded) return { fold: row.session.id };
    return goTo(rows.slice(0, at).findLast(({ level }) => level < row.level));
  },
};

export function moveBy(
  key: string,
  rows: readonly TreeRow[],
  focusedId: string | undefined,
): TreeMove | undefined {
  const at = rows.findIndex(({ session }) => session.id === focusedId);
  return Object.hasOwn(STEPS, key) ? STEPS[key]?.(rows, at) : undefined;
}

function goTo(row: TreeRow | undefined): TreeMove | undefined {
  return row && { to: row.session.id };
}
