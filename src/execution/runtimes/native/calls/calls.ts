/**
 * Decides what happens to the tool calls of one response. They are performed in order, those that
 * only read side by side, and a group begins only when the results of all before it are durable. So
 * a journal shows what may have been under way when a runner was lost: the first group without its
 * results, and nothing after it.
 */
import { INTERRUPTED, type JournalItem } from "#protocol/events.ts";
import type { Decision } from "#protocol/frames.ts";
import type { Verdict } from "#protocol/sessions.ts";
import { ASK_USER_QUESTION, workspaceTools } from "#protocol/tools.ts";
import type { PostTool, PreTool } from "../conversation/conversation.ts";

const READ_ONLY = new Set(workspaceTools.filter((tool) => tool.readOnly).map(({ name }) => name));

export function isReadOnly(tool: string): boolean {
  return READ_ONLY.has(tool);
}

/** Tools that the runner performs; the server performs calls of any other tool, once. */
const OWN = new Set(workspaceTools.map(({ name }) => name));

/** Tools of the runner that neither run commands nor touch the workspace. */
const APART = new Set(["web_fetch", "todo", "processes", ASK_USER_QUESTION]);

export function needsSandbox(tool: string): boolean {
  return OWN.has(tool) && !APART.has(tool);
}

/** Tools that may change the workspace when they are performed. */
const CHANGING = new Set(
  workspaceTools
    .filter(({ name, readOnly }) => !readOnly && name !== ASK_USER_QUESTION)
    .map(({ name }) => name),
);

/**
 * True if calls of earlier attempts, including interrupted ones, may have changed the workspace.
 */
export function mayHaveChanged(journal: readonly JournalItem[]): boolean {
  return journal.some(
    (item) =>
      item.type === "pre_tool" &&
      CHANGING.has(item.tool) &&
      (item.verdict?.verdict === "allow" || item.verdict?.verdict === "ask"),
  );
}

export interface Call {
  item: PreTool;
  verdict: Verdict;
}

/** Decision about a call. */
export type NextStep =
  | { do: "perform" }
  | { do: "answer"; output: string | null; error: string | null }
  | { do: "park" };

/** State of the machine's sandbox, and the calls that no attempt has begun. */
export interface Circumstances {
  isSandboxed: boolean;
  notBegun: ReadonlySet<string>;
}

export function nextStep(
  { item, verdict }: Call,
  decision: Decision | undefined,
  { isSandboxed, notBegun }: Circumstances,
): NextStep {
  // A rule, or a person, allowed the call for a sandbox.
  const isMisplaced = verdict.sandboxed === true && !isSandboxed;
  if (isMisplaced && decision?.allowed !== false)
    return { do: "answer", output: null, error: SANDBOX_GONE };
  // A rule that was made since may deny the call.
  if (verdict.verdict === "allow")
    return decision?.allowed === false ? denied(decision) : { do: "perform" };
  if (verdict.verdict !== "ask") return denied(verdict);
  if (!decision) return { do: "park" };
  // A denial, and an answer, may go to any number of attempts: nothing is performed for them.
  if (!decision.allowed) return denied(decision);
  if (item.tool === ASK_USER_QUESTION)
    return { do: "answer", output: answersText(item.input, decision.answers ?? []), error: null };
  // An earlier attempt got the approval and may have begun the call.
  if (!decision.fresh && !notBegun.has(item.callId) && OWN.has(item.tool))
    return { do: "answer", output: null, error: INTERRUPTED };
  return { do: "perform" };
}

function denied({ reason }: { reason: string | null }): NextStep {
  return { do: "answer", output: null, error: reason ?? "This is not allowed." };
}

const SANDBOX_GONE =
  "This was allowed for a machine with a sandbox, and there is none now, so it was not run. Make the call again: a person will be asked.";

function answersText(input: unknown, answers: readonly string[]): string {
  const { questions = [] } = input as { questions?: { question: string }[] };
  return questions
    .map(({ question }, index) => `${question}\n→ ${answers[index] ?? "(no answer)"}`)
    .join("\n\n");
}

/** Groups calls that may run side by side. */
export function groupCalls(calls: readonly Call[]): Call[][] {
  const groups: Call[][] = [];
  for (const call of calls) {
    const group = groups.at(-1);
    const [first] = group ?? [];
    if (group && first && runsBeside(first) && runsBeside(call)) group.push(call);
    else groups.push([call]);
  }
  return groups;
}

function runsBeside({ item, verdict }: Call): boolean {
  return READ_ONLY.has(item.tool) && verdict.verdict !== "ask";
}

export interface Resumption {
  /** Number of the last journaled response; 0 when there is none. */
  lastStep: number;
  /** Calls of the last response. */
  calls: Call[];
  /** Results that those calls have. */
  answered: PostTool[];
  /** Calls of the last response that may have been under way when the runner was lost. */
  interrupted: Call[];
  /** Text of the last response. */
  said: string;
  /** Final text, when the last response asked for nothing more, or all it asked for is done. */
  finalText: string | null;
}

/** Progress of a resumed turn, from its journal. */
export function resumeFrom(
  journal: readonly JournalItem[],
  notBegun: ReadonlySet<string> = new Set(),
): Resumption {
  const lastStep = journal.reduce((last, item) => Math.max(last, item.step ?? 0), 0);
  const calls = journal.flatMap((item) =>
    item.type === "pre_tool" && item.step === lastStep ? [callOf(item)] : [],
  );
  const answered = journal
    .filter((item) => item.type === "post_tool")
    .filter(({ callId }) => calls.some(({ item }) => item.callId === callId));
  const done = new Set(answered.map(({ callId }) => callId));
  const begun = groupCalls(calls).find((group) => group.some(({ item }) => !done.has(item.callId)));
  // A call that waits for a person had not begun, or its decision says that an attempt got it. The
  // server knows the results of its own calls, and returns them when asked again.
  const interrupted = (begun ?? []).filter(
    ({ item, verdict }) =>
      !done.has(item.callId) &&
      !notBegun.has(item.callId) &&
      verdict.verdict === "allow" &&
      OWN.has(item.tool),
  );
  const texts = textsOf(journal, lastStep);
  const isDone = endsTurn(answered) && calls.every(({ item }) => done.has(item.callId));
  const isSaid = calls.length === 0 && lastStep > 0 && texts.length > 0;
  const said = texts.join("");
  return {
    lastStep,
    calls,
    answered,
    interrupted,
    said,
    finalText: isDone || isSaid ? said : null,
  };
}

/**
 * True when a response whose calls have these results ends the turn. A response with a failed call
 * does not end it: the model must learn of the failure before it waits for anything.
 */
export function endsTurn(results: readonly PostTool[]): boolean {
  return results.some((result) => result.endsTurn === true) && results.every(succeeded);
}

function succeeded({ error, exitCode }: PostTool): boolean {
  return error === null && (exitCode ?? 0) === 0;
}

function textsOf(journal: readonly JournalItem[], step: number): string[] {
  return journal.flatMap((item) =>
    item.type === "message" && item.kind === "text" && item.step === step && !item.partial
      ? [item.text]
      : [],
  );
}

function callOf(item: PreTool): Call {
  return { item, verdict: item.verdict ?? { verdict: "invalid", reason: TOO_MANY } };
}

/** Answer to calls beyond the limit of one response, which are never judged. */
export const TOO_MANY =
  "Too many tool calls in one response, so this one was not performed. Make fewer calls at once.";
