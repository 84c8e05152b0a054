/** What a parent is told of its children, read back out of the words it was told in. Pure. */
import type { Entry } from "#protocol/sessions.ts";

const SIGN = "[orchestration] ";

/** Written by the platform to wake a session, and by nobody else: people's prompts have their names. */
export function isWake({ author, text }: Pick<Entry, "author" | "text">): boolean {
  return author?.kind === "system" && (text ?? "").startsWith(SIGN);
}

/** How it begins, in one line. */
export function wakeLine(text: string): string {
  return (text.split("\n", 1)[0] ?? "").slice(SIGN.length);
}
