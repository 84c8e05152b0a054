/** View of a parent's children for a page. */
import type { SessionRow } from "#engine/index.ts";
import type { ReadContext } from "#engine/sessions/index.ts";
import type { ChildrenOverview } from "../contract.ts";
import { addUpChildren, listChildSessions } from "../queries.ts";
import { describeChildren } from "./children.ts";

/** Number of children that are described; the rest is only counted. */
const DESCRIBED = 100;

export async function readChildren(
  context: ReadContext,
  parent: SessionRow,
): Promise<ChildrenOverview> {
  const { reader } = context;
  const { count, costMicros, isCostUnknown } = await addUpChildren(reader, parent.id);
  const rows = await listChildSessions(reader, parent.id, DESCRIBED);
  const items = await describeChildren(context, rows);
  return {
    items,
    more: Math.max(0, count - items.length),
    treeCost: isCostUnknown || parent.cost_unknown === 1 ? null : parent.cost_micros + costMicros,
  };
}
