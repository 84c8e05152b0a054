/** A delivery that has yet to leave the database. */
export interface OutboxRow {
  id: string;
  org_id: string;
  kind: string;
  /** One row per cause: a repeated consequence is the same row. */
  cause_key: string;
  payload: string;
  state: "pending" | "delivered" | "dead" | "held";
  attempts: number;
  due_at: number;
  last_error: string | null;
  created_at: number;
  delivered_at: number | null;
}
