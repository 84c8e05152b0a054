/**
 * Scripts of the demo model. A script looks at a conversation and returns the next step. It knows
 * only that conversation, so it continues correctly from any point, also after a restart.
 */
import type { ModelMessage, ModelRequest, UserPart } from "../model.ts";

export interface ToolCallStep {
  tool: string;
  input: Record<string, unknown>;
}

/** One answer; a step without calls ends the turn. */
export interface Step {
  say: string;
  calls: ToolCallStep[];
  /** False when the program asked, not a person who is to be introduced to the demo. */
  isForThePerson?: boolean;
}

/** A call that was made, with its result; null when there is none yet. */
export interface MadeCall extends ToolCallStep {
  result: { text: string; isError: boolean } | null;
}

/** Prompt of one turn, and the calls made to answer it. */
export interface Exchange {
  said: string;
  calls: readonly MadeCall[];
}

export interface Scene {
  /** Last prompt of the person; of a very long text the beginning, which is searched for words. */
  said: string;
  saidWhole: string;
  /** Calls of this turn, in order. */
  calls: readonly MadeCall[];
  /** Calls of all earlier turns. */
  earlierCalls: readonly MadeCall[];
  /** Earlier turns, in order. */
  earlier: readonly Exchange[];
  /** True when nothing was answered in this conversation yet. */
  isFirstAnswer: boolean;
  /** Names of the offered tools. */
  tools: ReadonlySet<string>;
  /** System prompt. */
  system: string;
}

export interface Script {
  name: string;
  fits(scene: Scene): boolean;
  next(scene: Scene): Step;
}

/** Longest turn of the demo, whatever the conversation looks like. */
export const MAX_STEPS = 8;
const MAX_SEARCHED_CHARS = 4000;

export function readScene({ messages, tools, system }: ModelRequest): Scene {
  const lastUser = messages.findLastIndex(({ role }) => role === "user");
  const user = messages[lastUser];
  const saidWhole = user?.role === "user" ? newestWords(user.content) : "";
  return {
    said: saidWhole.slice(0, MAX_SEARCHED_CHARS),
    saidWhole,
    calls: callsIn(messages.slice(lastUser + 1)),
    earlierCalls: callsIn(messages.slice(0, Math.max(lastUser, 0))),
    earlier: exchangesIn(messages.slice(0, Math.max(lastUser, 0))),
    isFirstAnswer: !hasAnswered(messages),
    tools: new Set(tools.map(({ name }) => name)),
    system,
  };
}

/** Mailbox messages and notices of the board, which no person wrote. */
export const IS_NOTICE = /^\[(mailbox|mailbox, guest|tasks)\] /;

/** True when the model has answered anything but such a notice. */
function hasAnswered(messages: readonly ModelMessage[]): boolean {
  let isNotice = false;
  return messages.some((message) => {
    if (message.role === "user") isNotice = IS_NOTICE.test(newestWords(message.content));
    return message.role === "assistant" && !isNotice;
  });
}

/** A message may begin with notes and earlier prompts, and end with attachments of the newest one. */
function newestWords(parts: readonly UserPart[]): string {
  const texts = parts.flatMap((part) => (part.type === "text" ? [part.text.trim()] : []));
  const newest = texts.findLast((text) => text !== "" && !/^\[(attached:|an image )/.test(text));
  // Prompts are played alike, whoever wrote them.
  return newest?.replace(/^\[from [^\n]*\]\n/, "") ?? "";
}

function exchangesIn(messages: readonly ModelMessage[]): Exchange[] {
  const starts = messages.flatMap(({ role }, index) => (role === "user" ? [index] : []));
  return starts.map((start, n) => {
    const user = messages[start];
    return {
      said: user?.role === "user" ? newestWords(user.content).slice(0, MAX_SEARCHED_CHARS) : "",
      calls: callsIn(messages.slice(start + 1, starts[n + 1])),
    };
  });
}

function callsIn(messages: readonly ModelMessage[]): MadeCall[] {
  const results = new Map<string, MadeCall["result"]>();
  for (const message of messages) {
    if (message.role !== "tool") continue;
    for (const { callId, content, isError } of message.content) {
      results.set(callId, { text: textOf(content), isError });
    }
  }
  return messages
    .flatMap((message) => (message.role === "assistant" ? message.content : []))
    .filter((part) => part.type === "tool_call")
    .map(({ tool, input, callId }) => ({
      tool,
      input: asFields(input),
      result: results.get(callId) ?? null,
    }));
}

function textOf(parts: readonly UserPart[]): string {
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("\n");
}

function asFields(input: unknown): Record<string, unknown> {
  return typeof input === "object" && input !== null ? (input as Record<string, unknown>) : {};
}

/** One step of a story: its text and call, and if the story needs it. */
export interface Stage {
  say: string | ((scene: Scene) => string);
  call: ToolCallStep | ((scene: Scene) => ToolCallStep);
  /** True when the story ends without the stage's tool, or after its failure. */
  isNeeded?: boolean;
}

export interface Story {
  stages: readonly Stage[];
  /**
   * Closing words; `done` has the call of each stage, null where its tool is not offered or it was
   * not reached.
   */
  close(done: readonly (MadeCall | null)[], scene: Scene): string;
}

/** Plays the stages one call at a time and ends with the closing words. */
export function play({ stages, close }: Story, scene: Scene): Step {
  const done: (MadeCall | null)[] = stages.map(() => null);
  let at = 0;
  for (const [index, stage] of stages.entries()) {
    const call = valueFor(stage.call, scene);
    const isOffered = scene.tools.has(call.tool);
    if (!isOffered && stage.isNeeded) return end(withoutTool(call.tool));
    if (!isOffered) continue;
    const found = scene.calls.findIndex(({ tool }, place) => place >= at && tool === call.tool);
    if (found < 0 && scene.calls.length < MAX_STEPS)
      return { say: valueFor(stage.say, scene), calls: [call] };
    if (found < 0) break;
    at = found + 1;
    done[index] = scene.calls[found] ?? null;
    if (stage.isNeeded && !succeeded(done[index])) break;
  }
  return end(close(done, scene));
}

function valueFor<T extends string | ToolCallStep>(
  value: T | ((scene: Scene) => T),
  scene: Scene,
): T {
  return typeof value === "function" ? value(scene) : value;
}

export function end(say: string): Step {
  return { say, calls: [] };
}

export function succeeded(call: MadeCall | null | undefined): boolean {
  if (!call?.result || call.result.isError) return false;
  return !/\[exit code \d+\]\s*$/.test(call.result.text);
}

export function withoutTool(tool: string): string {
  return `For this I would use the tool \`${tool}\`, but this session does not have it, so I cannot show it here.`;
}

/** Excerpt of a tool's output that fits into an answer. */
export function excerpt(text: string, maxLines = 15, maxChars = 1200): string {
  const lines = text.trim().split("\n");
  const shown = lines.slice(0, maxLines).join("\n").slice(0, maxChars);
  const isCut = lines.length > maxLines || shown.length < text.trim().length;
  return isCut ? `${shown}\n…` : shown;
}

/** Quotes text in a fence that the text itself cannot close. */
export function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}
