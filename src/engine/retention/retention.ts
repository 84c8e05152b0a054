/**
 * Retention: how long rows of each kind are kept. The kernel and features say what their kinds are and
 * how a few old rows of them go; admins may set the days. What has no rule is kept.
 */
import type { Reader, Tx } from "#base/store/index.ts";
import type { Engine } from "../work.ts";
import { listRetentionDays, readHold } from "./retention-queries.ts";

const DAY_MS = 24 * 60 * 60_000;

export interface RetentionRule {
  kind: string;
  /** Says what goes, and when: for people. */
  summary: string;
  /** Days that rows are kept where nobody has set others; null: for good. */
  defaultDays: number | null;
  /** Fewer days are refused. */
  minDays: number;
  /** Counts what is older than `before`, up to `limit`. Runs aside of the writes of others. */
  countDue(reader: Reader, before: number, limit: number): Promise<number>;
  /** Says why rows that are due stay all the same; null when they go. For people. */
  whyKept?(reader: Reader, before: number): Promise<string | null>;
  /**
   * Finds keys of what is older than `before`, for `prune`: needed where no index leads to old rows, so
   * that a search through all the others never holds up a write. Runs aside of the writes of others.
   */
  findDue?(reader: Reader, before: number, limit: number): Promise<readonly string[]>;
  /**
   * Removes, or adds up, at most `rows` rows that are older than `before`. Returns how many; 0 means
   * that nothing is due. `keys`: found by `findDue`. Undefined: the kernel does it in another way.
   */
  prune?(tx: Tx, before: number, rows: number, keys: readonly string[]): Promise<number>;
}

/** The days of a kind as they hold now; null: kept for good. Never fewer than the rule allows. */
export function keptDays(
  rule: Pick<RetentionRule, "kind" | "defaultDays" | "minDays">,
  set: ReadonlyMap<string, number | null>,
): number | null {
  const days = set.get(rule.kind);
  if (days === undefined) return rule.defaultDays;
  // Somebody who can only write to the table must not have the server remove more than an admin could.
  return days === null ? null : Math.max(days, rule.minDays);
}

/** The instant before which rows of a kind go; null: none do. */
export function keptSince(
  rule: RetentionRule,
  set: ReadonlyMap<string, number | null>,
  now: number,
): number | null {
  const days = keptDays(rule, set);
  return days === null ? null : now - days * DAY_MS;
}

export interface RetentionSettings {
  /** Days that admins have set, by kind. */
  days: ReadonlyMap<string, number | null>;
  /** Nothing goes before this instant, because the database was restored. */
  heldUntil: number;
}

export async function readRetention({ store }: Pick<Engine, "store">): Promise<RetentionSettings> {
  return store.read(async (reader) => {
    const rows = await listRetentionDays(reader);
    const days = new Map(rows.map(({ kind, days }) => [kind, days]));
    return { days, heldUntil: await readHold(reader) };
  });
}
