/** Errors for people and programs: the problem and the remedy, never a position in our code. */
import { redactText } from "#base/log.ts";
import { Refusal, type RefusalDetail } from "#base/refusal.ts";
import { ServerRefusal } from "../client/server-refusal.ts";
import type { CliHost } from "./host.ts";
import { jsonText, safeText, styleFor } from "./text/terminal.ts";
import { refusalLines } from "./text/validation-words.ts";

/** Commands that carry out the advice in a server's refusal. */
const HINTS: Readonly<Record<string, string>> = {
  task_blocked: "Change what it waits for: muster tasks edit TASK --after OTHER, or --after none",
  dependency_cycle:
    "Change what a task waits for: muster tasks edit TASK --after OTHER, or --after none",
  answers_missing: "muster approvals answer ID ANSWER, or muster approvals deny ID",
  not_a_question: "muster approvals allow ID, or muster approvals deny ID",
  not_a_plan: "muster approvals allow ID, or muster approvals deny ID",
  question_needs_choice: "muster approvals show ID, then muster approvals answer ID ANSWER",
};

export function reportError(host: CliHost, error: unknown, json: boolean): void {
  const { code, message, details } = describe(error);
  if (json) {
    const body = { code, message, ...(details.length > 0 ? { details } : {}) };
    host.stderr.write(`${jsonText({ error: body })}\n`);
  } else {
    const style = styleFor(host.stderr, host.env);
    const [first = "", ...lines] = refusalLines(message, details);
    const firstLine = `${first}${code === "failed" ? "" : ` [${code}]`}`;
    const hint = HINTS[code];
    if (hint !== undefined) lines.push(`  ${hint}`);
    host.stderr.write(`${style.red("error:")} ${safeText([firstLine, ...lines].join("\n"))}\n`);
  }
  if (host.env.MUSTER_LOG_LEVEL === "debug") host.stderr.write(`${redactText(traceOf(error))}\n`);
}

interface Description {
  code: string;
  message: string;
  details: RefusalDetail[];
}

function describe(error: unknown): Description {
  if (error instanceof ServerRefusal || error instanceof Refusal) {
    return { code: error.code, message: redactText(error.message), details: error.details ?? [] };
  }
  const message = redactText(error instanceof Error ? error.message : String(error));
  return {
    code: "failed",
    message: `${message} (set MUSTER_LOG_LEVEL=debug to see more)`,
    details: [],
  };
}

function traceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const own = error.stack ?? error.message;
  return error.cause === undefined ? own : `${own}\ncaused by: ${traceOf(error.cause)}`;
}
