/**
 * What children are told to do, in the words of the model server. Each task has a token of its own,
 * which the child says as its result and nobody else does: where it turns up tells who was told.
 */
import { ASK_USER_QUESTION, REQUEST_PLAN_APPROVAL } from "#protocol/tools.ts";
import type { Random } from "../random.ts";

const RESULT = "R-";
const LETTER = "N-";
const TOKEN = "[A-Za-z0-9-]+";

/** Of a child, in its title: who may end it, stop it or take it away. */
export type Keeper = "own" | "open";

/** `own`: its parent alone, and nobody else; `open`: people, and never its parent. So it is known who did it. */
export function titleOf(parent: string, number: number, keeper: Keeper): string {
  return `${parent}.${number}.${keeper}`;
}

export function keeperOf(title: string): Keeper | undefined {
  return /\.(own|open)$/.exec(title)?.[1] as Keeper | undefined;
}

/** The token of what a prompt asks for, in whatever words. */
export function tokenOf(content: string): string | undefined {
  return new RegExp(`\\b${RESULT}(${TOKEN})`).exec(content)?.[1];
}

/** The token that a child gave as its result, when that is all it said. */
export function resultToken(text: string): string | undefined {
  return new RegExp(`^${RESULT}(${TOKEN})$`).exec(text.trim())?.[1];
}

/** The token of a message that a child sends on the way, when that is all it says. */
export function letterToken(text: string): string | undefined {
  return new RegExp(`^${LETTER}(${TOKEN})$`).exec(text.trim())?.[1];
}

/**
 * Tokens that a model was told as results, in a request as it was sent: quoted in a prompt, or in the
 * answer of a tool. What a parent itself wrote to a child reads otherwise.
 */
export function toldTokens(body: string): string[] {
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
  if (choice < 0.42) return [call("notify_parent", { message: `${LETTER}${token}` }), say];
  return [say];
}

function questionOf(token: string) {
  return { questions: [{ question: `What of ${token}?`, options: [{ label: "yes" }] }] };
}

function call(tool: string, input: object): string {
  return `CALL ${tool} ${JSON.stringify(input)}`;
}
