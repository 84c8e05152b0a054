/**
 * Retention of usage: rows of removed sessions are aggregated by day, person, model, persona and tree. Every
 * total stays the same; only the id of the removed session is lost. Rows of existing sessions stay as they
 * are.
 */
import type { RetentionRule } from "#engine/index.ts";
import { addToDays, countOldRows, findGoneSessions, lockOldRows } from "./queries.ts";

const dayOf = (at: number) => new Date(at).toISOString().slice(0, "YYYY-MM-DD".length);

export const usageRetention: RetentionRule = {
  kind: "usage",
  summary: "Usage of deleted sessions: summed up by day, with every total kept",
  defaultDays: 90,
  minDays: 1,
  countDue: (reader, before, limit) => countOldRows(reader, dayOf(before), limit),
  findDue: (reader, before, limit) => findGoneSessions(reader, dayOf(before), limit),
  async prune(tx, before, limit, sessionIds) {
    const rows = await lockOldRows(tx, sessionIds, dayOf(before), limit);
    await addToDays(tx, rows);
    return rows.length;
  },
};
