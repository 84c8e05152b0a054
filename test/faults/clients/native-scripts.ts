/**
 * Prompts for the native agent, in the language of the model server: each call writes its own
 * token, so that performed calls can be counted afterwards. Some must ask.
 */
import { ASK_USER_QUESTION } from "#protocol/tools.ts";
import type { Random } from "../random.ts";
import type { ExpectedItem, Style } from "./style.ts";

const ASKED = "-asked";
/** Tokens of calls that were made after an approval. */
export const ASKED_TOKEN = new RegExp(`${ASKED}$`);

/** In the session's workspace. */
export const TOKEN_FILE = "tokens";

export const nativeStyle: Style = {
  runtime: "native",
  write: (mark, random) => writeTurn(mark, random, freeCall),
  mode(random) {
    const choice = random.next();
    if (choice < 0.8) return "followup";
    return choice < 0.93 ? "steer" : "interrupt";
  },
};

/** Turns that only talk to the model, and need no sandbox. */
export const talkStyle: Style = {
  runtime: "native",
  write: (mark, random) =>
    `${mark}\n${random.chance(0.7) ? `SLOW ${random.between(3, 12)} 100` : `SAY ${mark} is over`}`,
  mode: (random) => (random.chance(0.9) ? "followup" : "steer"),
};

/** Turns that wait for decisions. */
export const gatedStyle: Style = {
  runtime: "native",
  write: (mark, random) => writeTurn(mark, random, anyCall),
  mode(random) {
    const choice = random.next();
    if (choice < 0.85) return "followup";
    return choice < 0.97 ? "steer" : "interrupt";
  },
};

type WriteCall = (token: string, random: Random) => string;

function writeTurn(mark: string, random: Random, writeCall: WriteCall): string {
  const lines = [mark];
  let calls = 0;
  for (let round = random.between(1, 3); round > 0; round--) {
    const together = random.between(1, 2);
    for (let n = 0; n < together; n++) {
      const word = n === 0 ? "CALL" : "ALSO";
      lines.push(`${word} ${writeCall(`${mark}:${++calls}`, random)}`);
    }
  }
  if (random.chance(0.3)) lines.push(`THINK ${mark} ponders`);
  lines.push(random.chance(0.4) ? `SLOW ${random.between(2, 6)} 15` : `SAY ${mark} is over`);
  return lines.join("\n");
}

/** Leaves some time before the token and more after it, for a kill to fall into. */
function freeCall(token: string, random: Random): string {
  const [before, after] = [random.between(0, 50) / 1000, random.between(0, 250) / 1000];
  return bash(`sleep ${before}; echo ${token} >> ${TOKEN_FILE}; sleep ${after}`);
}

function anyCall(token: string, random: Random): string {
  const choice = random.next();
  if (choice < 0.4) return freeCall(token, random);
  if (choice < 0.55) {
    const questions = [
      { question: `What of ${token}?`, options: [{ label: "yes" }, { label: "no" }] },
    ];
    return `${ASK_USER_QUESTION} ${JSON.stringify({ questions })}`;
  }
  const after = random.between(0, 250) / 1000;
  return bash(`echo ${token}${ASKED} >> ${TOKEN_FILE}; git push origin main || sleep ${after}`);
}

function bash(command: string): string {
  return `bash ${JSON.stringify({ command })}`;
}

/** The token that a call writes when it is performed; undefined for calls that write none. */
export function tokenOf(input: unknown): string | undefined {
  const { command } = (input ?? {}) as { command?: unknown };
  return /echo (\S+) >> /.exec(String(command ?? ""))?.[1];
}

/** The mark at the start of each prompt, and of each request to the model about it. */
export function markOf(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}

/**
 * The journal of a turn that ran to its end: a response with its calls, their results, the next.
 */
export function expectNativeItems(content: string): ExpectedItem[] {
  const lines = content.split("\n");
  const rounds: string[][] = [];
  for (const line of lines) {
    const [, word, tool] = /^(CALL|ALSO) (\w+)/.exec(line) ?? [];
    if (tool === undefined) continue;
    if (word === "ALSO") rounds.at(-1)?.push(tool);
    else rounds.push([tool]);
  }
  const items = rounds.flatMap((tools, index): ExpectedItem[] => {
    const step = index + 1;
    return [
      { type: "message", step, kind: "text", text: `Calling ${tools.join(" and ")}. ` },
      ...tools.map((): ExpectedItem => ({ type: "pre_tool", step, kind: "tool_call", text: null })),
      ...tools.map(
        (): ExpectedItem => ({ type: "post_tool", step, kind: "tool_result", text: null }),
      ),
    ];
  });
  return [...items, ...expectLastWords(lines, rounds.length + 1)];
}

function expectLastWords(lines: readonly string[], step: number): ExpectedItem[] {
  const after = (word: string) =>
    lines.find((line) => line.startsWith(`${word} `))?.slice(word.length + 1);
  const thought = after("THINK");
  const ticks = Number.parseInt(after("SLOW") ?? "", 10);
  const said = after("SAY") ?? Array.from({ length: ticks }, (_, n) => `tick${n} `).join("");
  return [
    ...(thought === undefined
      ? []
      : [{ type: "message", step, kind: "reasoning", text: thought } as const]),
    { type: "message", step, kind: "text", text: said },
  ];
}
