/** Of which sessions something may still come: those at work, at rest and asleep. */
import type { SessionRow } from "#engine/index.ts";

type Life = Pick<SessionRow, "lifecycle">;

export function isLive({ lifecycle }: Life): boolean {
  return lifecycle === "active" || lifecycle === "hibernated";
}

/** Put away, or ended. */
export function isGone(row: Life): boolean {
  return !isLive(row);
}
