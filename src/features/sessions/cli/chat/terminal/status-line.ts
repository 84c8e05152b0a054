/** Status of a conversation, in one row; pure. */
import { formatCost } from "#surfaces/cli/kit/text/terminal.ts";
import { shortenTo, widthOf } from "#surfaces/cli/kit/text/text-width.ts";

export interface Status {
  name: string;
  /** A session's activity, or its final state. */
  state: string;
  model: string | null;
  working: number;
  waiting: number;
  /** Micro-units of the conversation and its children; null when a part has no price. */
  cost: number | null;
  queued: number;
  asks: number;
  isAway: boolean;
}

const GAP = " · ";

/** Drops the least important parts first when there is not enough room. */
export function statusLine(status: Status, columns: number): string {
  const parts = partsOf(status);
  while (parts.length > 1 && widthOf(textOf(parts)) > columns) {
    const least = parts.reduce((a, b) => (b.weight < a.weight ? b : a));
    parts.splice(parts.indexOf(least), 1);
  }
  return shortenTo(textOf(parts), columns);
}

interface Part {
  text: string;
  weight: number;
}

const textOf = (parts: readonly Part[]) => parts.map(({ text }) => text).join(GAP);

function partsOf(status: Status): Part[] {
  const { working, waiting, queued, asks } = status;
  const children = [
    ...(working > 0 ? [`${working} working`] : []),
    ...(waiting > 0 ? [`${waiting} waiting`] : []),
  ].join(", ");
  const parts: Part[] = [
    { text: status.name, weight: 3 },
    { text: status.isAway ? "server offline" : status.state.replace("_", " "), weight: 9 },
    { text: asks > 0 ? `${asks} to answer` : "", weight: 8 },
    { text: children === "" ? "" : `children: ${children}`, weight: 6 },
    { text: queued > 0 ? `${queued} queued` : "", weight: 5 },
    { text: formatCost(status.cost), weight: 4 },
    { text: status.model ?? "", weight: 2 },
  ];
  return parts.filter(({ text }) => text !== "");
}
