/**
 * The calls that turns make, and the verdict that the server must give on each. The rule is in the
 * call's own input, so that the judging feature and the checking oracle need nothing else.
 */
import type { JournalItem } from "#protocol/events.ts";
import type { Verdict } from "#protocol/sessions.ts";
import { ASK_USER_QUESTION } from "#protocol/tools.ts";
import type { Random } from "#test/random.ts";

/** A server tool that writes one row for each performed call. */
export const EFFECT_TOOL = "sim_effect";
/** A server tool that opens a gate and reports its state. */
export const ASK_TOOL = "sim_ask";
/** Marks a binding whose workspace came with it. */
export const WITH_FILES = "exec-files-";
/** Calls with this prefix ask for a verdict; the journal does not record that they did. */
const JUDGED = "judged.";

export type Rule = Verdict["verdict"];

export interface Call {
  callId: string;
  tool: string;
  input: unknown;
}

export function judgedId(name: string): string {
  return `${JUDGED}${name}`;
}

export function isJudged(callId: string): boolean {
  return callId.startsWith(JUDGED);
}

/** Few words, so that denied calls are tried again. */
const WORDS = ["allow 1", "allow 2", "ask 1", "ask 2", "ask 3", "deny 1"];

export function drawCall(random: Random): Omit<Call, "callId"> {
  const words = random.pick(WORDS);
  const kind = random.weighted({ bash: 4, effect: 8, question: 1, wrong: 1 });
  if (kind === "bash") return { tool: "bash", input: { command: words } };
  if (kind === "effect") {
    const refuse = random.chance(0.1) ? { refuse: true } : {};
    return { tool: EFFECT_TOOL, input: { words, ...refuse } };
  }
  if (kind === "question")
    return { tool: ASK_USER_QUESTION, input: { questions: [{ question: words }] } };
  return random.pick([
    { tool: "bash", input: { command: "" } },
    { tool: "bash", input: "ask 1, and no JSON" },
    { tool: "no_such_tool", input: { command: words } },
  ]);
}

/** The feature's verdict on an existing call with valid input; undefined when it has none. */
export function ruleOf(input: unknown): "allow" | "ask" | "deny" | undefined {
  const { command, words } = input as { command?: string; words?: string };
  return (command ?? words)?.split(" ")[0] as "allow" | "ask" | "deny" | undefined;
}

/** Scope of a denial, besides identical arguments. */
export function targetOf(input: unknown): string | null {
  const { command, words } = (input ?? {}) as { command?: string; words?: string };
  return command ?? words ?? null;
}

/** The rule for a call, before it is known if anyone can be asked. */
export function firstRule(tool: string, input: unknown): Rule {
  if (tool === ASK_USER_QUESTION) return "ask";
  if (tool === ASK_TOOL) return "allow";
  const isKnown = tool === "bash" || tool === EFFECT_TOOL;
  if (!isKnown || typeof input === "string") return "invalid";
  const rule = ruleOf(input);
  return rule === undefined || (rule as string) === "" ? "invalid" : rule;
}

export function judgedCalls(
  items: readonly JournalItem[],
): Extract<JournalItem, { type: "pre_tool" }>[] {
  return items.filter((item) => item.type === "pre_tool").filter((item) => isJudged(item.callId));
}
