/** What comes from children, in few lines; pure. */
import type { SessionEvent } from "#protocol/events.ts";
import { safeLine, shorten } from "../terminal.ts";

const MARK = "[orchestration] ";
const EVENT = /^\d+\. worker\.\w+: (.+)$/;
const LINE_CHARS = 200;

/** The heads of what a parent is told of its children; null when the text is something else. */
export function wakeLines(text: string): string[] | null {
  if (!text.startsWith(MARK)) return null;
  const heads = text.split("\n").flatMap((line) => EVENT.exec(line)?.[1] ?? []);
  const told = heads.length > 0 ? heads : [text.slice(MARK.length).split("\n", 1)[0] ?? ""];
  return told.map((line) => shorten(safeLine(line), LINE_CHARS));
}

/** Who wrote it, when an agent passed on word for word what another one said. */
export function forwardedFrom({ type, reason, data }: SessionEvent): string | null {
  if (type !== "notice" || reason !== "forwarded") return null;
  const author = data?.author as { name?: unknown } | undefined;
  return typeof author?.name === "string" ? author.name : "another session";
}
