/** Policy's verdict on a tool call: reads the rules once, then decides with a pure function. */
import type { GateRow, SessionRow, Work } from "#engine/index.ts";
import { isIsolatedRunner } from "#engine/runs/index.ts";
import { findSession } from "#engine/sessions/index.ts";
import type { CallToJudge, Judge } from "#engine/tools/index.ts";
import type { Rule } from "../contract.ts";
import { listRulesForCall } from "../queries.ts";
import { refuseInAdvance } from "../refuse-in-advance.ts";
import type { PolicyRuleRow } from "../schema.ts";
import { coversChild, isSameProject, type ShownCall } from "../standing-calls.ts";
import { type CallFacts, factsOf, isPathTool } from "./call-facts.ts";
import { type Evaluation, evaluate } from "./evaluate.ts";
import { ruleView } from "./rules.ts";

export const judgeCall: Judge = async (work, call) => {
  const refusal = refuseInAdvance(call, await isConfined(work, call));
  if (refusal !== undefined) return { verdict: "deny", reason: refusal };
  const facts = await factsFor(work, call);
  const shown = { input: call.given, cwd: call.cwd, ...sandboxFact(facts) };
  const { effect, reason } = await evaluateFor(work, call.session.row, facts, shown);
  return { verdict: effect, reason: effect === "allow" ? null : reason };
};

/** Returns the effect that the rules now have on a call that waits for a person. */
export async function judgeWaiting(
  work: Work,
  row: SessionRow,
  { tool, target, shown: text }: Pick<GateRow, "tool" | "target" | "shown">,
): Promise<Rule["effect"]> {
  const shown = JSON.parse(text) as ShownCall;
  const sandboxed = shown.sandboxed ?? false;
  const facts = factsOf(tool, target, isFresh(row), shown.input, shown.cwd ?? null);
  const placed = { ...facts, sandboxed, fresh: facts.fresh && sandboxed };
  return (await evaluateFor(work, row, placed, shown)).effect;
}

/**
 * Evaluates the session's own rules first. A parent's yes lifts a question only if nothing but the
 * general rules asks, the call is exactly the same, and both sessions work on the same files.
 */
async function evaluateFor(
  work: Work,
  row: SessionRow,
  facts: CallFacts,
  shown: ShownCall,
): Promise<Evaluation> {
  const rules = await listRulesForCall(work.tx, {
    orgId: row.org_id,
    userId: row.owner_id ?? "",
    sessionId: row.id,
    parentId: row.parent_session_id ?? "",
    tool: facts.tool,
  });
  const isParents = ({ session_id }: PolicyRuleRow) => session_id !== null && session_id !== row.id;
  const firm = rules.filter((rule) => !isParents(rule) || rule.effect === "deny").map(ruleView);
  const own = evaluate(facts, firm);
  if (own.effect !== "ask" || own.rule.sessionId === row.id) return own;
  const childCall = { ...shown, tool: facts.tool, reason: own.reason };
  const inherited = rules.find((rule) => isParents(rule) && coversChild(rule, childCall));
  if (!inherited || !(await worksWithParent(work, row, facts.tool))) return own;
  return evaluate(facts, [...firm, ruleView(inherited)]);
}

/**
 * True if parent and child work on the same files.
 * A URL is the same wherever it is fetched; all other tools work on files.
 */
async function worksWithParent(work: Work, row: SessionRow, tool: string): Promise<boolean> {
  const parent = row.parent_session_id && (await findSession(work.tx, row.parent_session_id));
  if (!parent || parent.owner_id !== row.owner_id) return false;
  return tool === "web_fetch" || isSameProject(parent, row);
}

function sandboxFact({ shell, sandboxed }: CallFacts): Pick<ShownCall, "sandboxed"> {
  return shell === null ? {} : { sandboxed };
}

/** True if the call is confined to a sandbox. Looked up only where that affects the verdict. */
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
  // A workspace without a sandbox is a folder among others, and may hold links to them.
  return { ...facts, sandboxed, fresh: facts.fresh && sandboxed };
}

/** True if the workspace began empty: neither a repository nor somebody's folder. */
export function isFresh(row: SessionRow): boolean {
  return row.repo === null && row.project_dir === null;
}
