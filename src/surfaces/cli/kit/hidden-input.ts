/** Reads one line from standard input, hidden on a terminal. */
import type { CliHost, Input } from "./host.ts";

const INTERRUPT = "\u0003";
/** Enter, end of input, or Ctrl-C. */
const ENDS_LINE = new Set(["\n", "\r", "\u0004", INTERRUPT]);
const ERASE = new Set(["\u007f", "\b"]);
const MAX_CHARS = 10_000;

/** Asks for a line and trims it. Null: the person pressed Ctrl-C. */
export async function askHidden(host: CliHost, question: string): Promise<string | null> {
  host.stderr.write(question);
  const line = (await hidden(host.stdin, () => readLine(host.stdin)))?.trim();
  host.stderr.write("\n");
  return line ?? null;
}

type Terminal = Input & { setRawMode?(isRaw: boolean): unknown };

/** A terminal in raw mode does not echo. */
async function hidden<T>(input: Terminal, work: () => Promise<T>): Promise<T> {
  input.setRawMode?.(true);
  try {
    return await work();
  } finally {
    input.setRawMode?.(false);
  }
}

/** Null: the person pressed Ctrl-C. */
export async function readLine(input: Input): Promise<string | null> {
  let text = "";
  for await (const chunk of input) {
    text += typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("utf8");
    if (endOf(text) >= 0 || text.length > MAX_CHARS) break;
  }
  const end = endOf(text);
  // A raw terminal delivers Ctrl-C as a character.
  if (text[end] === INTERRUPT) return null;
  return withoutErased(end < 0 ? text : text.slice(0, end));
}

function endOf(text: string): number {
  return text.split("").findIndex((char) => ENDS_LINE.has(char));
}

function withoutErased(line: string): string {
  const kept: string[] = [];
  for (const char of line) {
    if (ERASE.has(char)) kept.pop();
    else kept.push(char);
  }
  return kept.join("");
}
