/**
 * Shows one pending approval and interprets a typed answer; pure. Everything that is decided is shown,
 * character by character; an unclear answer counts as none.
 */

import { isRecord } from "#client/index.ts";
import type { Approval, DecisionRequest } from "#features/approvals/contract.ts";
import type { AskedQuestion } from "#protocol/tools.ts";
import { frameText, isSimpleName, isToolName, sizeOf } from "#surfaces/cli/kit/text/framed-text.ts";
import { type Style, safeLine } from "#surfaces/cli/kit/text/terminal.ts";

export type ParsedAnswer =
  | { type: "send"; body: DecisionRequest }
  /** More questions follow. */
  | { type: "next"; answers: string[] }
  | { type: "unclear"; how: string };

export interface ApprovalLook {
  style: Style;
  /** Width of a row; no row of foreign text is longer. */
  columns: number;
}

/** `who`: the session that asks, when it is not the one in the conversation. */
export function describeApproval(
  approval: Approval,
  who: string | null,
  look: ApprovalLook,
): string[] {
  const { style, columns } = look;
  const [input, reason, cwd] = shownOf(approval);
  const asker = who === null ? "" : isSimpleName(who) ? `${who}: ` : "The session named below: ";
  const named = asker.endsWith("below: ") ? ["  Session:", ...frameText(who ?? "", columns)] : [];
  const head = (text: string) => [style.yellow(`? ${asker}${text}`), ...named];
  if (approval.kind === "question") return head("A question for you");
  const call = exactInput(input);
  const framed = [...frameText(call, columns), style.dim(`  └ the end${sizeOf(call)}`)];
  if (approval.kind === "plan")
    return [...head(`A plan needs your approval. Carry it out?${sizeOf(call)}`), ...framed];
  const { tool } = approval;
  return [
    ...head(`Allow ${isToolName(tool) ? tool : "the tool named below"}?${sizeOf(call)}`),
    ...(isToolName(tool) ? [] : ["  Tool:", ...frameText(tool, columns), "  Call:"]),
    ...framed,
    ...(typeof cwd === "string" ? ["  In the folder:", ...frameText(cwd, columns)] : []),
    ...(typeof reason === "string" && reason !== ""
      ? ["  Reason:", ...frameText(reason, columns)]
      : []),
    ...describeRule(approval, call, columns),
  ];
}

function describeRule({ rulePreview }: Approval, call: string, columns: number): string[] {
  if (!rulePreview) return [];
  if (rulePreview.pattern === call) return ['  "always" allows exactly this call from now on.'];
  return [
    '  "always" allows exactly this from now on:',
    ...frameText(`${rulePreview.tool} ${rulePreview.pattern}`, columns),
  ];
}

export function describeQuestion(
  approval: Approval,
  at: number,
  { columns }: ApprovalLook,
): string[] {
  const question = questionsOf(approval)[at];
  if (!question) return [];
  const options = (question.options ?? []).flatMap(({ label, description }, index) => [
    ...frameText(label, columns, `${String(index + 1).padStart(2)}│ `),
    ...(description ? frameText(`– ${description}`, columns, "  ┆ ") : []),
  ]);
  return [...frameText(question.question, columns), ...options];
}

/** Shows all questions, for people who answer elsewhere. */
export function describeQuestions(approval: Approval, look: ApprovalLook): string[] {
  return questionsOf(approval).flatMap((_one, at) => describeQuestion(approval, at, look));
}

/** Text before the input. */
export function approvalLabel(approval: Approval, at: number): string {
  if (approval.kind === "plan") return "y/n/revise … ›";
  if (approval.kind !== "question") return approval.rulePreview ? "y/n/always ›" : "y/n ›";
  const { options = [], multiple } = questionsOf(approval)[at] ?? {};
  if (options.length === 0) return "answer ›";
  return multiple ? `1-${options.length}, several ›` : `1-${options.length} ›`;
}

/** True for a word that allows something, with whatever follows it. */
export function isYes(text: string): boolean {
  return /^(y|yes|a|always)\b/i.test(text.trim());
}

export function readAnswer(
  approval: Approval,
  answers: readonly string[],
  text: string,
): ParsedAnswer {
  return approval.kind === "question"
    ? readReply(approval, answers, text)
    : readDecision(approval, text.trim());
}

const ALLOW = /^(y|yes)$/i;
const ALWAYS = /^(a|always)$/i;
const DENY = /^(?:n|no)(?:[\s,:]+(.+))?$/is;

const REVISE = /^(?:r|revise)(?:[\s,:]+(.+))?$/is;

function readPlanDecision(text: string): ParsedAnswer | undefined {
  const revised = REVISE.exec(text);
  if (!revised) return undefined;
  const reason = revised[1]?.trim();
  return reason
    ? { type: "send", body: { decision: "revise", reason } }
    : { type: "unclear", how: 'Say what to change: "revise smaller, please".' };
}

function readDecision({ rulePreview, kind }: Approval, text: string): ParsedAnswer {
  const revision = kind === "plan" ? readPlanDecision(text) : undefined;
  if (revision) return revision;
  if (ALLOW.test(text)) return { type: "send", body: { decision: "allow", scope: "once" } };
  const denied = DENY.exec(text);
  if (denied) {
    const reason = denied[1]?.trim();
    return { type: "send", body: { decision: "deny", ...(reason ? { reason } : {}) } };
  }
  if (ALWAYS.test(text)) {
    return rulePreview
      ? { type: "send", body: { decision: "allow", scope: "always" } }
      : { type: "unclear", how: "This can be allowed only once: answer y or n." };
  }
  return {
    type: "unclear",
    how: `Answer y or n${rulePreview ? " or always" : ""}${kind === "plan" ? ' or "revise …"' : ""}; "n because …" gives the agent a reason. /later puts it aside.`,
  };
}

function readReply(approval: Approval, answers: readonly string[], text: string): ParsedAnswer {
  const questions = questionsOf(approval);
  const question = questions[answers.length];
  const reply = question ? choose(question, text.trim()) : text.trim();
  if (reply === undefined || reply === "") {
    const count = question?.options?.length ?? 0;
    const how =
      count > 0
        ? `Choose a number from 1 to ${count}.`
        : "Type an answer, or /later to put it aside.";
    return { type: "unclear", how };
  }
  const given = [...answers, reply];
  return given.length < questions.length
    ? { type: "next", answers: given }
    : { type: "send", body: { answers: given } };
}

/** Numbers stand for options; other text is the person's own answer, where that is allowed. */
function choose({ options = [], multiple, freeText }: AskedQuestion, text: string) {
  const labels = options.map(({ label }) => label);
  const words = multiple ? text.split(/[\s,]+/).filter((word) => word !== "") : [text];
  const chosen = words.map((word) => (/^\d+$/.test(word) ? labels[Number(word) - 1] : undefined));
  if (labels.length > 0 && chosen.every((label) => label !== undefined)) return chosen.join("\n");
  if (labels.includes(text)) return text;
  return labels.length > 0 && freeText === false ? undefined : text;
}

const PLAN_WORDS = {
  allow: "Plan approved",
  revise: "Plan sent back",
  deny: "Plan rejected",
} as const;

/** Describes a decision, wherever it was made. */
export function describeDecision(approval: Approval, me: string): string {
  const { state, decision, scope, decidedBy, kind, answers } = approval;
  const by = decidedBy === me ? "" : decidedBy === null ? "" : ` by ${safeLine(decidedBy)}`;
  if (state === "expired") return "No answer in time, so it was not allowed.";
  if (state === "cancelled") return "No longer pending.";
  if (kind === "question" && decision === "allow")
    return `Answered${by}: ${safeLine((answers ?? []).join(" / "))}`;
  if (kind === "plan" && decision !== null) return `${PLAN_WORDS[decision]}${by}.`;
  const how = decision === "allow" ? "Allowed" : "Not allowed";
  return `${how}${scope && scope !== "once" ? ` (${scope})` : ""}${by}.`;
}

function questionsOf(approval: Approval): AskedQuestion[] {
  const [input] = shownOf(approval);
  const questions = isRecord(input) ? input.questions : undefined;
  return Array.isArray(questions) ? (questions as AskedQuestion[]) : [];
}

function shownOf({ shown }: Approval): [input: unknown, reason: unknown, cwd: unknown] {
  return isRecord(shown) ? [shown.input, shown.reason, shown.cwd] : [shown, null, null];
}

/** Shows every field of the input: text as it is, the rest as JSON. Lines of a field are indented. */
function exactInput(input: unknown): string {
  if (!isRecord(input)) return typeof input === "string" ? input : jsonOf(input);
  const fields = Object.entries(input);
  const [only] = fields;
  if (fields.length === 1 && typeof only?.[1] === "string") return only[1];
  return fields.map(([name, value]) => fieldText(name, value)).join("\n");
}

function fieldText(name: string, value: unknown): string {
  // A name with a line break in it must not look like two fields.
  const shownName = /[\r\n]/.test(name) ? JSON.stringify(name) : name;
  const text = typeof value === "string" ? value : jsonOf(value);
  const lines = text.split("\n");
  return lines.length < 2
    ? `${shownName}: ${text}`
    : [`${shownName}:`, ...lines.map((line) => `    ${line}`)].join("\n");
}

function jsonOf(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? "null";
}
