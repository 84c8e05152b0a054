/**
 * Tasks of children, in the language of the model server. Each has its own token, which only that
 * child gives as its result: where the token appears shows who was notified.
 */
import { ASK_USER_QUESTION, REQUEST_PLAN_APPROVAL } from "#protocol/tools.ts";
import type { Random } from "../random.ts";

const RESULT = "R-";
const MESSAGE = "N-";
const TOKEN = "[A-Za-z0-9-]+";

/** The part of a child's title that says who may end, stop or remove it. */
export type Keeper = "own" | "open";

/**
 * `own`: only its parent; `open`: people, and never its parent. So every action has one possible
 * actor.
 */
export function titleOf(parent: string, number: number, keeper: Keeper): string {
  return `${parent}.${number}.${keeper}`;
}

export function keeperOf(title: string): Keeper | undefined {
  return /\.(own|open)$/.exec(title)?.[1] as Keeper | undefined;
}

/** The token of a prompt's task, however it is worded. */
export function tokenOf(content: string): string | undefined {
  return new RegExp(`\\b${RESULT}(${TOKEN})`).exec(content)?.[1];
}

/** The token that a child gave as its result, when that is its whole text. */
export function resultToken(text: string): string | undefined {
  return new RegExp(`^${RESULT}(${TOKEN})$`).exec(text.trim())?.[1];
}

/** The token of a message that a child sends on the way, when that is its whole text. */
export function messageToken(text: string): string | undefined {
  return new RegExp(`^${MESSAGE}(${TOKEN})$`).exec(text.trim())?.[1];
}

/**
 * Result tokens that a model was shown, in a request as it was sent: quoted in a prompt, or in a
 * tool result. A parent's own messages to a child are worded differently.
 */
export function deliveredTokens(body: string): string[] {
  const told = new RegExp(`(?:> |text\\\\*":\\\\*")${RESULT}(${TOKEN})`, "g");
  return [...body.matchAll(told)].map(([, token]) => `${token}`);
}

export function sayTask(token: string): string {
  return `SAY ${RESULT}${token}`;
}

export function writeTask(token: string, random: Random): string {
  const late = random.chance(0.6) ? [`LATE ${random.between(20, 900)}`] : [];
  return [...late, ...workOf(token, random)].join("\n");
}

function workOf(token: string, random: Random): string[] {
  const say = sayTask(token);
  const choice = random.next();
  if (choice < 0.12) return [call(ASK_USER_QUESTION, questionOf(token)), say];
  if (choice < 0.2) return [call(REQUEST_PLAN_APPROVAL, { plan: `Of ${token}` }), say];
  if (choice < 0.29)
    return [`# ${RESULT}${token}`, "FAIL 400 999", "ERROR invalid_request_error no"];
  if (choice < 0.3) return [`# ${RESULT}${token}`, "FAIL 503 999"];
  if (choice < 0.36) return [call("complete_session", { summary: `${RESULT}${token}` })];
  if (choice < 0.42) return [call("notify_parent", { message: `${MESSAGE}${token}` }), say];
  return [say];
}

function questionOf(token: string) {
  return { questions: [{ question: `What of ${token}?`, options: [{ label: "yes" }] }] };
}

function call(tool: string, input: object): string {
  return `CALL ${tool} ${JSON.stringify(input)}`;
}
