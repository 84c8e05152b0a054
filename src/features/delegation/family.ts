/** All that a page shows of a parent's children, however many there were. */
import type { Reader } from "#base/store/index.ts";
import type { SessionRow } from "#engine/index.ts";
import { describeChild } from "./children.ts";
import type { Child, Family } from "./contract.ts";
import { addUpChildren, listChildSessions } from "./queries.ts";

/** As many are described; the rest is counted. */
const DESCRIBED = 100;

export async function readFamily(reader: Reader, parent: SessionRow): Promise<Family> {
  const { count, costMicros, isCostUnknown } = await addUpChildren(reader, parent.id);
  const items: Child[] = [];
  for (const row of await listChildSessions(reader, parent.id, DESCRIBED))
    items.push(await describeChild(reader, row));
  return {
    items,
    more: Math.max(0, count - items.length),
    treeCost: isCostUnknown || parent.cost_unknown === 1 ? null : parent.cost_micros + costMicros,
  };
}
