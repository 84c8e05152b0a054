/** Reads piped text, without the line break that programs append. */
import { Refusal } from "#base/refusal.ts";
import type { CliHost } from "./host.ts";

/** `missing`: error message without input. Text far beyond the limit is cut; the server refuses it. */
export async function readInput(host: CliHost, maxChars: number, missing: string): Promise<string> {
  let text = "";
  for await (const chunk of host.stdin) {
    text += typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("utf8");
    if (text.length > 2 * maxChars) break;
  }
  const content = text.replace(/\r?\n$/, "");
  if (content !== "") return content;
  throw new Refusal("invalid", "text_missing", missing);
}
