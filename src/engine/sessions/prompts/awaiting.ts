/** State of a session that has ended its turn to wait for an event, as its row shows it. */
import type { SessionRow } from "#engine/schema.ts";

export interface OpenWait {
  kind: "children" | "time";
  /** Time when the session is woken at the latest; null when none was set. */
  until: number | null;
}

/** Shows the waits of all threads as one: children before time, and the earliest time. */
export function showAwaiting(row: SessionRow, waits: readonly OpenWait[]): void {
  if (waits.length === 0) {
    endAwaiting(row);
    return;
  }
  const times = waits.flatMap(({ until }) => until ?? []);
  row.awaiting = 1;
  row.awaiting_kind = waits.some(({ kind }) => kind === "children") ? "children" : "time";
  row.awaiting_until = times.length === 0 ? null : Math.min(...times);
}

export function endAwaiting(row: SessionRow): void {
  row.awaiting = 0;
  row.awaiting_kind = null;
  row.awaiting_until = null;
}
