/** Language of the scripted runtime: one step a line. `line` counts from 0 and names the step. */
export type Step =
  | { line: number; op: "say" | "think" | "fail"; text: string }
  | { line: number; op: "sleep"; delayMs: number }
  | { line: number; op: "tool"; name: string; input: unknown }
  | { line: number; op: "stream"; tokens: number; everyMs: number }
  | { line: number; op: "crash" | "hang" };

export class ScriptError extends Error {
  override readonly name = "ScriptError";
}

const KNOWN_STEPS =
  "say TEXT, think TEXT, sleep MS, tool NAME {json}, crash, fail TEXT, hang, stream N MS";

export function parseScript(script: string): Step[] {
  return script
    .split(/\r?\n/)
    .flatMap((text, line) => (text.trim() === "" ? [] : [parseStep(text.trim(), line)]));
}

function parseStep(text: string, line: number): Step {
  const [, word = "", rest = ""] = /^(\S+)\s*(.*)$/s.exec(text) ?? [];
  switch (word) {
    case "say":
    case "think":
    case "fail":
      return { line, op: word, text: rest };
    case "crash":
    case "hang":
      return { line, op: word };
    case "sleep":
      return { line, op: "sleep", delayMs: parseCount(rest, line) };
    case "stream": {
      const [tokens = "", everyMs = "0"] = rest.split(/\s+/);
      return {
        line,
        op: "stream",
        tokens: parseCount(tokens, line, MAX_TOKENS),
        everyMs: parseCount(everyMs, line),
      };
    }
    case "tool":
      return parseTool(rest, line);
    default:
      throw new ScriptError(
        `Line ${line + 1}: unknown step "${word}". Known steps: ${KNOWN_STEPS}.`,
      );
  }
}

/** Tokens without time between them are made in one go, while everything else in the runner waits. */
const MAX_TOKENS = 100_000;
const MAX_COUNT = 999_999_999;

function parseCount(text: string, line: number, max = MAX_COUNT): number {
  if (!/^\d{1,9}$/.test(text) || Number(text) > max)
    throw new ScriptError(`Line ${line + 1}: "${text}" is not a whole number up to ${max}.`);
  return Number(text);
}

function parseTool(rest: string, line: number): Step {
  const [, name = "", json = ""] = /^(\S+)\s*(.*)$/s.exec(rest) ?? [];
  if (name === "")
    throw new ScriptError(`Line ${line + 1}: a tool step needs the name of the tool.`);
  try {
    return { line, op: "tool", name, input: json === "" ? {} : JSON.parse(json) };
  } catch {
    throw new ScriptError(`Line ${line + 1}: the input of "${name}" is not JSON.`);
  }
}
