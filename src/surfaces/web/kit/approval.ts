/** Fields of an approval request. Pure. */
import type { Approval } from "#features/approvals/contract.ts";
import type { AskedQuestion } from "#protocol/tools.ts";
import { isRecord } from "./api/api-client.ts";

export type { Approval };
export type Scope = NonNullable<Approval["scope"]>;
export type RulePreview = NonNullable<Approval["rulePreview"]>;

interface Shown {
  tool: string;
  input: unknown;
  reason: string | null;
  /** Working directory of a command; null at the top of the workspace. */
  cwd: string | null;
  /** True for a command that would run in a sandbox; "Always" for it holds only in one. */
  sandboxed: boolean;
}

export function shownOf(approval: Approval): Shown {
  const shown = isRecord(approval.shown) ? approval.shown : { input: approval.shown };
  return {
    tool: typeof shown.tool === "string" ? shown.tool : approval.tool,
    input: shown.input ?? null,
    reason: typeof shown.reason === "string" && shown.reason !== "" ? shown.reason : null,
    cwd: typeof shown.cwd === "string" ? shown.cwd : null,
    sandboxed: shown.sandboxed === true,
  };
}

export function questionsOf(approval: Approval): AskedQuestion[] {
  const { input } = shownOf(approval);
  const list = isRecord(input) && Array.isArray(input.questions) ? input.questions : [];
  return list.filter(isQuestion);
}

function isQuestion(value: unknown): value is AskedQuestion {
  return isRecord(value) && typeof value.question === "string";
}
