/** What comes from children, in few lines; pure. */
import type { SessionEvent } from "#protocol/events.ts";
import { newsIn } from "#protocol/worker-news.ts";
import { safeLine, shorten } from "#surfaces/cli/kit/terminal.ts";

const MARK = "[orchestration] ";
const LINE_CHARS = 200;

/** The heads of what a parent is told of its children; null when the text is something else. */
export function wakeLines(text: string): string[] | null {
  if (!text.startsWith(MARK)) return null;
  const news = newsIn(text).map(({ childName, what }) => `${childName}: ${what}`);
  const told = news.length > 0 ? news : [text.slice(MARK.length).split("\n", 1)[0] ?? ""];
  return told.map((line) => shorten(safeLine(line), LINE_CHARS));
}

const WAITING_TOOLS: ReadonlySet<string> = new Set(["wait_for_event", "sleep"]);

/** The answer to a call that ends the turn until something happens to the children. */
export function beginsWait({ type, toolName, toolOutput, error }: SessionEvent): boolean {
  if (type !== "post_tool" || error !== null || !WAITING_TOOLS.has(toolName ?? "")) return false;
  try {
    const output: unknown = typeof toolOutput === "string" ? JSON.parse(toolOutput) : toolOutput;
    return (output as { waiting?: unknown } | null)?.waiting === true;
  } catch {
    return false;
  }
}

/** Who wrote it, when an agent passed on word for word what another one said. */
export function forwardedFrom({ type, reason, data }: SessionEvent): string | null {
  if (type !== "notice" || reason !== "forwarded") return null;
  const author = data?.author as { name?: unknown } | undefined;
  return typeof author?.name === "string" ? author.name : "another session";
}
