/** Asks a person to confirm an action that is hard to undo. Only for terminals; Enter alone is a no. */
import type { CliHost } from "./host.ts";

export async function confirm(host: CliHost, question: string): Promise<boolean> {
  host.stderr.write(`${question} [y/N] `);
  const answer = await readLine(host);
  return /^y(es)?$/i.test(answer.trim());
}

async function readLine(host: CliHost): Promise<string> {
  let text = "";
  for await (const chunk of host.stdin) {
    text += typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("utf8");
    if (text.includes("\n")) break;
  }
  return text.split("\n", 1)[0] ?? "";
}
