/** Short forms of notices from children; pure. */
import type { SessionEvent } from "#protocol/events.ts";
import { childLines } from "#protocol/notices/notice-words.ts";
import type { Notice } from "#protocol/notices/notices.ts";
import { safeLine, shorten } from "#surfaces/cli/kit/text/terminal.ts";

const LINE_CHARS = 200;

/** First lines of a notice about children; null for any other prompt. */
export function wakeLines(notice: Notice | null): string[] | null {
  if (notice?.kind !== "children") return null;
  return childLines(notice, ": ").map((line) => shorten(safeLine(line), LINE_CHARS));
}

/** Author of text that an agent forwarded verbatim from another one. */
export function forwardedFrom({ type, reason, data }: SessionEvent): string | null {
  if (type !== "notice" || reason !== "forwarded") return null;
  const author = data?.author as { name?: unknown } | undefined;
  return typeof author?.name === "string" ? author.name : "another session";
}
