/** The hash chain, as pure functions: each sealed row's hash covers the row and the hash before it. */
import { createHash } from "node:crypto";
import type { AuditRow } from "../schema.ts";

/** Hash before the first row. */
export const CHAIN_START = "";

type Sealable = Omit<AuditRow, "prev_hash" | "hash">;

export function hashOf(previous: string, row: Sealable): string {
  return createHash("sha256")
    .update(previous + canonical(row))
    .digest("hex");
}

/** Serialises a row to one text, whatever the order of its columns. */
function canonical(row: Sealable): string {
  return JSON.stringify([
    row.seq,
    row.id,
    row.org_id,
    row.at,
    row.category,
    row.action,
    row.severity,
    row.session_id,
    row.user_id,
    row.run_id,
    row.metadata,
  ]);
}

export interface Seal {
  id: string;
  seq: number;
  prev_hash: string;
  hash: string;
}

/** Returns the seals of rows that follow `head`, in their order. */
export function sealRows(
  head: { seq: number; hash: string },
  rows: readonly AuditRow[],
): { seals: Seal[]; head: { seq: number; hash: string } } {
  let { seq, hash } = head;
  const seals = rows.map((row) => {
    seq += 1;
    const prev_hash = hash;
    hash = hashOf(prev_hash, { ...row, seq });
    return { id: row.id, seq, prev_hash, hash };
  });
  return { seals, head: { seq, hash } };
}

/** Explains why a row cannot follow `head`; undefined when it can. */
export function brokenLink(
  head: { seq: number; hash: string },
  row: AuditRow,
): { seq: number; why: string } | undefined {
  const seq = head.seq + 1;
  if (row.seq !== seq) return { seq, why: `row ${seq} is missing` };
  if (row.prev_hash !== head.hash)
    return { seq, why: `row ${seq} does not follow the one before it` };
  if (row.hash !== hashOf(head.hash, row)) return { seq, why: `row ${seq} was changed` };
  return undefined;
}
