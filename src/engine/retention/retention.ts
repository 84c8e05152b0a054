/**
 * Retention: how long rows of each kind are kept. The kernel and features declare their kinds and
 * remove a few old rows at a time; admins may set the days. Rows without a rule are kept.
 */
import type { Reader, Tx } from "#base/store/index.ts";
import type { Engine } from "../work.ts";
import { listRetentionDays, readHold } from "./retention-queries.ts";

const DAY_MS = 24 * 60 * 60_000;

export interface RetentionRule {
  kind: string;
  /** Sentence for people: what is removed, and when. */
  summary: string;
  /** Days that rows are kept unless an admin sets others; null for good. */
  defaultDays: number | null;
  /** Fewer days are refused. */
  minDays: number;
  /** Counts rows older than `before`, up to `limit`. Runs beside the writes of others. */
  countDue(reader: Reader, before: number, limit: number): Promise<number>;
  /** Reason, for people, why due rows stay all the same; null when they are removed. */
  whyKept?(reader: Reader, before: number): Promise<string | null>;
  /**
   * Finds keys of rows older than `before`, for `prune`: needed where no index leads to old rows,
   * so that a search through all the others never holds up a write. Runs beside the writes of
   * others.
   */
  findDue?(reader: Reader, before: number, limit: number): Promise<readonly string[]>;
  /**
   * Removes, or adds up, at most `rows` rows that are older than `before`. Returns their number; 0
   * means that nothing is due. `keys` come from `findDue`. Undefined when the kernel removes them
   * in another way.
   */
  prune?(tx: Tx, before: number, rows: number, keys: readonly string[]): Promise<number>;
}

/** Days of a kind as they hold now; null for good. Never fewer than the rule allows. */
export function retentionDays(
  rule: Pick<RetentionRule, "kind" | "defaultDays" | "minDays">,
  set: ReadonlyMap<string, number | null>,
): number | null {
  const days = set.get(rule.kind);
  if (days === undefined) return rule.defaultDays;
  // Write access to the table alone must not remove more than an admin could.
  return days === null ? null : Math.max(days, rule.minDays);
}

/** Instant before which rows of a kind are removed; null for none. */
export function retentionCutoff(
  rule: RetentionRule,
  set: ReadonlyMap<string, number | null>,
  now: number,
): number | null {
  const days = retentionDays(rule, set);
  return days === null ? null : now - days * DAY_MS;
}

export interface RetentionSettings {
  /** Days that admins have set, by kind. */
  days: ReadonlyMap<string, number | null>;
  /** Instant before which nothing is removed, because the database was restored. */
  heldUntil: number;
}

export async function readRetention({ store }: Pick<Engine, "store">): Promise<RetentionSettings> {
  return store.read(async (reader) => {
    const rows = await listRetentionDays(reader);
    const days = new Map(rows.map(({ kind, days }) => [kind, days]));
    return { days, heldUntil: await readHold(reader) };
  });
}
