/** Policy's say in a tool call: one look at the rules, then a pure decision. */
import type { SessionRow } from "#engine/index.ts";
import type { Judge } from "#engine/tools/index.ts";
import { factsOf } from "./call-facts.ts";
import { evaluate } from "./evaluate.ts";
import { listRulesForCall } from "./queries.ts";
import { ruleView } from "./rules.ts";

export const judgeCall: Judge = async (work, { session, tool, target, input }) => {
  const { row } = session;
  const rules = await listRulesForCall(work.tx, {
    orgId: row.org_id,
    userId: row.owner_id ?? "",
    sessionId: row.id,
    tool,
  });
  const { effect, reason } = evaluate(
    factsOf(tool, target, isFresh(row), input),
    rules.map(ruleView),
  );
  return { verdict: effect, reason: effect === "allow" ? null : reason };
};

/** It began empty: neither a repository nor somebody's folder. */
export function isFresh(row: SessionRow): boolean {
  return row.repo === null && row.project_dir === null;
}
