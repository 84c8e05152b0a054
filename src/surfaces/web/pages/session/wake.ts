/** What a parent is told of its children, read back out of the words it was told in. Pure. */
import type { Entry } from "#protocol/sessions.ts";

export interface WakeEvent {
  type: string;
  childId: string;
  childName: string;
  /** What happened to it, such as "ended its turn (completed)." */
  what: string;
}

const SIGN = "[orchestration] ";
const HEAD = /^(\d+)\. ([\w.]+): ("(?:[^"\\]|\\.)*") \(([\w:]+)\) (.+)$/;

/** Written by the platform to wake a session, and by nobody else: people's prompts have their names. */
export function isWake({ author, text }: Pick<Entry, "author" | "text">): boolean {
  return author?.kind === "system" && (text ?? "").startsWith(SIGN);
}

/** How it begins, in one line. */
export function wakeLine(text: string): string {
  return (text.split("\n", 1)[0] ?? "").slice(SIGN.length);
}

/** What a child said stands behind `>`, so it cannot pass for a line of ours. */
export function wakeEvents(text: string): WakeEvent[] {
  const events: WakeEvent[] = [];
  for (const line of text.split("\n")) {
    const [, place, type, name, childId, what] = HEAD.exec(line) ?? [];
    if (!type || !name || !childId || !what || Number(place) !== events.length + 1) continue;
    const childName = nameIn(name);
    if (childName !== undefined) events.push({ type, childId, childName, what });
  }
  return events;
}

function nameIn(quoted: string): string | undefined {
  try {
    const name: unknown = JSON.parse(quoted);
    return typeof name === "string" ? name : undefined;
  } catch {
    return undefined;
  }
}
