/** View of a parent's children for a page. */
import type { Reader } from "#base/store/index.ts";
import type { SessionRow } from "#engine/index.ts";
import type { Family } from "../contract.ts";
import { addUpChildren, listChildSessions } from "../queries.ts";
import { describeChildren } from "./children.ts";

/** Number of children that are described; the rest is only counted. */
const DESCRIBED = 100;

export async function readFamily(reader: Reader, parent: SessionRow, now: number): Promise<Family> {
  const { count, costMicros, isCostUnknown } = await addUpChildren(reader, parent.id);
  const rows = await listChildSessions(reader, parent.id, DESCRIBED);
  const items = await describeChildren(reader, rows, now);
  return {
    items,
    more: Math.max(0, count - items.length),
    treeCost: isCostUnknown || parent.cost_unknown === 1 ? null : parent.cost_micros + costMicros,
  };
}
