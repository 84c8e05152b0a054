import { notFound, Refusal } from "#base/refusal.ts";
import type { Tx } from "#base/store/index.ts";
import {
  command,
  forgetRetentionDays,
  listRetentionDays,
  type Principal,
  principalKey,
  type RetentionRule,
  type Route,
  requireMay,
  requireSignedIn,
  retentionDays,
  saveRetentionDays,
  serve,
} from "#engine/index.ts";
import { type RetentionChange, storageApi } from "./contract.ts";
import { createStorageReads } from "./read-storage.ts";

export function storageRoutes(rules: readonly RetentionRule[]): readonly Route[] {
  const reads = createStorageReads(rules);
  return [
    serve(storageApi.get, async ({ engine, principal }) => {
      requireOperator(principal);
      return reads.storage(engine, principal.orgId);
    }),
    serve(storageApi.listRetention, async ({ engine, principal }) => {
      requireOperator(principal);
      return { items: await reads.retention(engine) };
    }),
    serve(storageApi.setRetention, async ({ engine, principal, params, body: { days } }) => {
      requireOperator(principal);
      requireSignedIn(principal, "Changing the retention time");
      const rule = findRule(rules, params.name);
      refuseTooShort(rule, days);
      await command(engine, async (work) => {
        const by = principalKey(principal);
        const before = await daysIn(work.tx, rule);
        if (days === "default") await forgetRetentionDays(work.tx, rule.kind);
        else
          await saveRetentionDays(work.tx, { kind: rule.kind, days, set_by: by, set_at: work.now });
        const change = days === "default" ? "default" : days === null ? "forever" : "days";
        await work.reportChange({
          orgId: principal.orgId,
          by,
          area: "retention",
          action: change,
          subjectId: null,
          detail: `${rule.kind}_${before}_to_${await daysIn(work.tx, rule)}`,
        });
      });
      return { items: await reads.retention(engine) };
    }),
  ];
}

/** Days of a kind in this transaction, as a word that the trail accepts. */
async function daysIn(tx: Tx, rule: RetentionRule): Promise<string> {
  const set = await listRetentionDays(tx);
  const days = retentionDays(rule, new Map(set.map((row) => [row.kind, row.days])));
  return days === null ? "forever" : String(days);
}

function requireOperator(principal: Principal): void {
  requireMay(principal, "operate");
}

function findRule(rules: readonly RetentionRule[], kind: string): RetentionRule {
  const rule = rules.find((one) => one.kind === kind);
  if (!rule) throw notFound("retention kind");
  return rule;
}

function refuseTooShort({ kind, minDays }: RetentionRule, days: RetentionChange["days"]): void {
  if (typeof days !== "number" || days >= minDays) return;
  throw new Refusal(
    "invalid",
    "retention_too_short",
    `Rows of ${kind} are kept for at least ${minDays} days. Send ${minDays} or more, or null to keep them forever.`,
  );
}
