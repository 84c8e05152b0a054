/** All that a page shows of a parent's children, however many there were. */
import type { Reader } from "#base/store/index.ts";
import type { SessionRow } from "#engine/index.ts";
import { describeChild } from "./children.ts";
import type { Child, Family } from "./contract.ts";
import { listChildSessions } from "./queries.ts";

/** As many are described; the rest is counted. */
const DESCRIBED = 100;

export async function readFamily(reader: Reader, parent: SessionRow): Promise<Family> {
  const rows = await listChildSessions(reader, parent.id);
  const newest = rows.toReversed();
  const shown = [...newest.filter(isLive), ...newest.filter((row) => !isLive(row))];
  const items: Child[] = [];
  for (const row of shown.slice(0, DESCRIBED)) items.push(await describeChild(reader, row));
  const spent = [parent, ...rows];
  return {
    items,
    more: rows.length - items.length,
    treeCost: spent.some((row) => row.cost_unknown === 1)
      ? null
      : spent.reduce((sum, row) => sum + row.cost_micros, 0),
  };
}

function isLive({ lifecycle }: SessionRow): boolean {
  return lifecycle === "active" || lifecycle === "hibernated";
}
