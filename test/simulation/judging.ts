/**
 * The calls that turns make and what the server must say of each. The rule is in the call's own
 * words, so that the feature that judges and the oracle that checks need nothing else.
 */
import type { JournalItem } from "#protocol/events.ts";
import type { Verdict } from "#protocol/sessions.ts";
import { ASK_USER_QUESTION } from "#protocol/tools.ts";
import type { Random } from "#test/random.ts";

/** Lives on the server and leaves one row for each call that was performed. */
export const EFFECT_TOOL = "sim_effect";
/** Lives on the server, opens a gate and says how it stands. */
export const ASK_TOOL = "sim_ask";
/** Says in a binding that a workspace came with it. */
export const WITH_FILES = "exec-files-";
/** Such calls ask to be judged; the journal does not keep that they did. */
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

/** Few words, so that what was denied is tried again. */
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

/** What the feature says of a call that exists and whose input fits; undefined when it has no say. */
export function ruleOf(input: unknown): "allow" | "ask" | "deny" | undefined {
  const { command, words } = input as { command?: string; words?: string };
  return (command ?? words)?.split(" ")[0] as "allow" | "ask" | "deny" | undefined;
}

/** What a no holds for, besides the very same arguments. */
export function targetOf(input: unknown): string | null {
  const { command, words } = (input ?? {}) as { command?: string; words?: string };
  return command ?? words ?? null;
}

/** What is to become of a call, before it is known whether anybody is there to be asked. */
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
