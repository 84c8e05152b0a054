/** Each turn's journal: every step of the script once, in order, all of them when it completed. */
import type { SessionEvent } from "#protocol/events.ts";
import type { Prompt } from "#protocol/sessions.ts";
import { expectNativeItems } from "../clients/native-scripts.ts";
import { expectItems } from "../clients/scripts.ts";
import type { ExpectedItem } from "../clients/style.ts";
import type { ObservedSession } from "../history.ts";
import { firstOf } from "./check-log.ts";

export function checkTurns(session: ObservedSession): string[] {
  const turns = new Map<string, SessionEvent[]>();
  for (const { event } of session.log) {
    if (event.promptId === null || event.entryId === null) continue;
    turns.set(event.promptId, [...(turns.get(event.promptId) ?? []), event]);
  }
  return firstOf(
    session.prompts.flatMap((prompt) => checkTurn(session, prompt, turns.get(prompt.id) ?? [])),
  );
}

function checkTurn(session: ObservedSession, prompt: Prompt, entries: SessionEvent[]): string[] {
  const say = (what: string) => `turn: ${prompt.id} (${prompt.outcome}) ${what}`;
  const asked = entries.filter(({ kind }) => kind === "prompt");
  const done = entries.filter(({ kind }) => kind !== "prompt");
  const violations: string[] = [];
  const began = prompt.startedAt === null ? 0 : 1;
  if (asked.length !== began) violations.push(say(`is ${asked.length} times in the history`));
  if (asked[0] && textOf(asked[0]) !== prompt.content)
    violations.push(say("has other words in the history"));
  violations.push(...checkCalls(done).map(say));

  const whole = done.filter(({ data }) => data?.partial !== true);
  if (session.runtime === "played") return violations;
  const expected = expectedOf(session, prompt);
  const at = whole.findIndex((event, n) => !matches(event, expected[n]));
  if (at !== -1) violations.push(say(`has ${describe(whole[at])} as item ${at + 1}`));
  if (prompt.outcome === "completed") {
    if (whole.length !== expected.length)
      violations.push(say(`has ${whole.length} of ${expected.length} items`));
    if (whole.length !== done.length) violations.push(say("completed with a partial item"));
  }
  return violations;
}

function expectedOf({ runtime }: ObservedSession, { content }: Prompt): ExpectedItem[] {
  if (runtime === "played") return [];
  if (runtime === "native") return expectNativeItems(content);
  const isScript = runtime === "echo" || !content.startsWith("[Follow-up messages");
  return isScript ? expectItems(runtime, content) : [];
}

/** Every call has one answer, after it. */
function checkCalls(entries: readonly SessionEvent[]): string[] {
  const open = new Set<unknown>();
  const seen = new Set<unknown>();
  const violations: string[] = [];
  for (const { type, data } of entries) {
    const callId = data?.callId;
    if (type === "pre_tool") {
      if (seen.has(callId)) violations.push(`calls ${callId} twice`);
      seen.add(callId);
      open.add(callId);
    }
    if (type === "post_tool" && !open.delete(callId))
      violations.push(`answers ${callId} without an open call`);
  }
  for (const callId of open) violations.push(`leaves the call ${callId} without an answer`);
  return violations;
}

function matches(event: SessionEvent, expected: ExpectedItem | undefined): boolean {
  if (!expected || event.type !== expected.type || event.kind !== expected.kind) return false;
  if ((event.data?.step ?? null) !== expected.step) return false;
  return expected.text === null || textOf(event) === expected.text;
}

function textOf({ content }: SessionEvent): string {
  return content?.map(({ text }) => String(text)).join("") ?? "";
}

function describe(event: SessionEvent | undefined): string {
  if (!event) return "nothing";
  return `#${event.seq} ${event.type} step ${event.data?.step} ${JSON.stringify(textOf(event).slice(0, 40))}`;
}
