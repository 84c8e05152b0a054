/**
 * Retention of the trail: sealed rows are cut off from the oldest, each checked against the chain before its
 * removal, and a signed record names the last removed one. The rest verifies from there. A trail that does
 * not verify is left alone, because its faults are evidence.
 */
import type { Reader, Tx } from "#base/store/index.ts";
import type { RetentionRule } from "#engine/index.ts";
import { countOld, dropSealed, listSealed, lockHead, saveCut } from "../queries.ts";
import { brokenLink } from "./chain.ts";
import { checkHead } from "./check-head.ts";
import { findCut } from "./cut.ts";
import type { Cut, HeadKeeper } from "./kept-head.ts";

export function auditRetention(keeper: HeadKeeper): RetentionRule {
  return {
    kind: "audit",
    summary:
      "Rows of the audit trail, counted from when they were written; the rest stays verifiable",
    defaultDays: 400,
    minDays: 30,
    countDue: countOld,
    whyKept: (reader, before) => reasonKept(reader, keeper, before),
    prune: (tx, before, rows) => cutTrail(tx, keeper, before, rows),
  };
}

async function cutTrail(
  tx: Tx,
  keeper: HeadKeeper,
  before: number,
  limit: number,
): Promise<number> {
  // Locked before anything is read: sealing, and cuts by other servers, lock the same row.
  const head = await lockHead(tx);
  if (!head) return 0;
  const from = await findCut(tx, keeper);
  if (from === "forged") return 0;
  const rows = await listSealed(tx, from.seq, limit);
  if ((rows[0]?.at ?? before) >= before) return 0;
  const check = await checkHead(tx, keeper, tx.now);
  if (!check || check.broken || check.kept.breaks.length > 0) return 0;
  let cut: Cut = from;
  for (const row of rows) {
    // The last row stays, because the end of the trail is compared with it.
    if (row.at >= before || row.seq === null || row.seq >= check.head.seq) break;
    if (brokenLink(cut, row)) return 0;
    cut = { seq: row.seq, hash: row.hash as string, throughAt: row.at, at: tx.now };
  }
  if (cut.seq === from.seq) return 0;
  const { throughAt: through_at, ...place } = cut;
  const saved = await saveCut(tx, { ...place, through_at, mac: keeper.signCut(cut) });
  if (saved !== 1) throw new Error(`the trail is already cut beyond row ${cut.seq}`);
  return dropSealed(tx, from.seq, cut.seq);
}

const NOT_VERIFIED =
  "The trail does not verify, so nothing is removed from it: npx muster audit verify";

/** Rows are cut strictly in their order, so one with a date in the future keeps all behind it. */
async function reasonKept(
  reader: Reader,
  keeper: HeadKeeper,
  before: number,
): Promise<string | null> {
  const from = await findCut(reader, keeper);
  const known = keeper.load();
  if (from === "forged" || known === "changed" || (known?.breaks.length ?? 0) > 0)
    return NOT_VERIFIED;
  const [first] = await listSealed(reader, from.seq, 1);
  if (!first || first.at < before) return null;
  const at = new Date(first.at).toISOString();
  return `Row ${first.seq} is dated ${at}, later than the rows after it; they stay until it is removed.`;
}
