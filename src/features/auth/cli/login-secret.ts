/** Asks for a password without showing it, or reads it from what is piped in. */
import { Refusal } from "#base/refusal.ts";
import type { CliHost, Input } from "#surfaces/cli/kit/host.ts";

/**
 * Characters that end the input: Enter, end of input, or Ctrl-C, which a raw terminal passes as a character.
 */
const INTERRUPT = "\u0003";
const ENDS = ["\n", "\r", "\u0004", INTERRUPT];
const MAX_CHARS = 1_000;

/** Reads a password. No option exists for it, because everybody on the machine can see arguments. */
export async function readPassword(host: CliHost, question: string): Promise<string> {
  const isTyped = host.stdin.isTTY === true;
  if (isTyped) host.stderr.write(`${question} (hidden): `);
  const text = isTyped ? await readHidden(host.stdin) : await readLine(host.stdin);
  if (isTyped) host.stderr.write("\n");
  if (text !== "") return text;
  throw new Refusal(
    "invalid",
    "password_missing",
    "No password was given. Type it at the prompt, or pipe it in.",
  );
}

type Terminal = Input & { setRawMode?(isRaw: boolean): unknown };

/** Reads a line in raw mode, in which a terminal does not echo. */
async function readHidden(input: Terminal): Promise<string> {
  input.setRawMode?.(true);
  try {
    return await readLine(input);
  } finally {
    input.setRawMode?.(false);
  }
}

async function readLine(input: Input): Promise<string> {
  let text = "";
  for await (const chunk of input) {
    text += typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("utf8");
    if (endOf(text) < text.length || text.length > MAX_CHARS) break;
  }
  const end = endOf(text);
  return text[end] === INTERRUPT ? "" : withoutErased(text.slice(0, end));
}

function endOf(text: string): number {
  const found = text.split("").findIndex((letter) => ENDS.includes(letter));
  return found < 0 ? text.length : found;
}

function withoutErased(origin: string): string {
  const kept: string[] = [];
  for (const letter of origin) {
    if (letter === "\u007f" || letter === "\b") kept.pop();
    else kept.push(letter);
  }
  return kept.join("");
}
