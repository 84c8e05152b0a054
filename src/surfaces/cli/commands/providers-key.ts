/** Asks for a key without showing it, or reads it from what is piped in. */
import { Refusal } from "#base/refusal.ts";
import type { CliHost, Input } from "../host.ts";

const INTERRUPT = "\u0003";
/** Enter, the end of input, or Ctrl-C. */
const ENDS_LINE = new Set(["\n", "\r", "\u0004", INTERRUPT]);
const ERASE = new Set(["\u007f", "\b"]);
const MAX_CHARS = 10_000;

/** Undefined: none was given, so what is stored stays. Null: the person wants to leave. */
export async function readKey(
  host: CliHost,
  name: string,
  fromStdin: boolean,
): Promise<string | null | undefined> {
  if (fromStdin) {
    const key = (await readLine(host.stdin))?.trim();
    if (key !== "") return key ?? null;
    throw new Refusal(
      "invalid",
      "key_missing",
      "--key-stdin was given, but nothing came on standard input. Pipe the key in.",
    );
  }
  if (host.stdin.isTTY !== true) return undefined;
  const key = await askUnseen(host, `Key of ${name} (not shown; Enter alone leaves it as it is): `);
  return key === "" ? undefined : key;
}

/** One line from a terminal, not shown and without spaces around it. Null: the person wants to leave. */
export async function askUnseen(host: CliHost, question: string): Promise<string | null> {
  host.stderr.write(question);
  const line = (await unseen(host.stdin, () => readLine(host.stdin)))?.trim();
  host.stderr.write("\n");
  return line ?? null;
}

type Terminal = Input & { setRawMode?(isRaw: boolean): unknown };

/** While it is raw, a terminal shows nothing of what is typed. */
async function unseen<T>(input: Terminal, work: () => Promise<T>): Promise<T> {
  input.setRawMode?.(true);
  try {
    return await work();
  } finally {
    input.setRawMode?.(false);
  }
}

async function readLine(input: Input): Promise<string | null> {
  let text = "";
  for await (const chunk of input) {
    text += typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("utf8");
    if (endOf(text) >= 0 || text.length > MAX_CHARS) break;
  }
  const end = endOf(text);
  // A raw terminal hands Ctrl-C over as a letter.
  if (text[end] === INTERRUPT) return null;
  return withoutErased(end < 0 ? text : text.slice(0, end));
}

function endOf(text: string): number {
  return text.split("").findIndex((letter) => ENDS_LINE.has(letter));
}

function withoutErased(line: string): string {
  const kept: string[] = [];
  for (const letter of line) {
    if (ERASE.has(letter)) kept.pop();
    else kept.push(letter);
  }
  return kept.join("");
}
