/** Policy's say in a tool call: one look at the rules, then a pure decision. */
import type { SessionRow, Work } from "#engine/index.ts";
import { isIsolatedRunner } from "#engine/runs/index.ts";
import type { CallToJudge, Judge } from "#engine/tools/index.ts";
import { type CallFacts, factsOf, isPathTool } from "./call-facts.ts";
import { evaluate } from "./evaluate.ts";
import { listRulesForCall } from "./queries.ts";
import { refuseInAdvance } from "./refuse-in-advance.ts";
import { ruleView } from "./rules.ts";

export const judgeCall: Judge = async (work, call) => {
  const { row } = call.session;
  const refusal = refuseInAdvance(call, await isConfined(work, call));
  if (refusal !== undefined) return { verdict: "deny", reason: refusal };
  const rules = await listRulesForCall(work.tx, {
    orgId: row.org_id,
    userId: row.owner_id ?? "",
    sessionId: row.id,
    tool: call.tool,
  });
  const { effect, reason } = evaluate(await factsFor(work, call), rules.map(ruleView));
  return { verdict: effect, reason: effect === "allow" ? null : reason };
};

/** True if the call is kept to a sandbox; only looked up where it decides something. */
async function isConfined(work: Work, { tool, target, run }: CallToJudge): Promise<boolean> {
  const mayLeave = isPathTool(tool) && target !== null && /^\/|\.\./.test(target);
  return mayLeave && isIsolatedRunner(work.tx, run.runner_id);
}

async function factsFor(
  work: Work,
  { session, run, tool, target, input, cwd }: CallToJudge,
): Promise<CallFacts> {
  const facts = factsOf(tool, target, isFresh(session.row), input, cwd);
  if (facts.shell === null) return facts;
  const sandboxed = await isIsolatedRunner(work.tx, run.runner_id);
  // Without a sandbox the workspace is a folder among others, with links and all.
  return { ...facts, sandboxed, fresh: facts.fresh && sandboxed };
}

/** It began empty: neither a repository nor somebody's folder. */
export function isFresh(row: SessionRow): boolean {
  return row.repo === null && row.project_dir === null;
}
