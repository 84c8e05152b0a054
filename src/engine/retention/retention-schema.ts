/** Tables of retention. */

/** Retention that an admin has set for a kind of rows; without a row the rule's default holds. */
export interface RetentionSettingRow {
  kind: string;
  /** Null keeps rows for good. */
  days: number | null;
  set_by: string;
  set_at: number;
}

/** One row, written by `muster restore`: nothing is removed by retention before this instant. */
export interface RetentionHoldRow {
  id: number;
  until: number;
}
