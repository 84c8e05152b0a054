/** What comes from children, in few lines; pure. */
import type { SessionEvent } from "#protocol/events.ts";
import { childLines } from "#protocol/notices/notice-words.ts";
import type { Notice } from "#protocol/notices/notices.ts";
import { safeLine, shorten } from "#surfaces/cli/kit/text/terminal.ts";

const LINE_CHARS = 200;

/** The heads of what a parent is told of its children; null when the prompt is something else. */
export function wakeLines(notice: Notice | null): string[] | null {
  if (notice?.kind !== "children") return null;
  return childLines(notice, ": ").map((line) => shorten(safeLine(line), LINE_CHARS));
}

/** Who wrote it, when an agent passed on word for word what another one said. */
export function forwardedFrom({ type, reason, data }: SessionEvent): string | null {
  if (type !== "notice" || reason !== "forwarded") return null;
  const author = data?.author as { name?: unknown } | undefined;
  return typeof author?.name === "string" ? author.name : "another session";
}
