/** Lifecycle checks: a live session, active or hibernated, may still produce events. */
import type { SessionRow } from "#engine/index.ts";

type LifecycleRow = Pick<SessionRow, "lifecycle">;

export function isLive({ lifecycle }: LifecycleRow): boolean {
  return lifecycle === "active" || lifecycle === "hibernated";
}

/** True for an archived or terminated session. */
export function isEnded(row: LifecycleRow): boolean {
  return !isLive(row);
}
