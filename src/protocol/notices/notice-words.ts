/** Notices in words for people, the same for pages and terminals. Pure, and without Zod. */
import type { BoardEvent, ChildEvent, Notice, NoticeMessage, NoticeOf } from "./notices.ts";

const EVENT_WORDS: Readonly<Record<Exclude<ChildEvent["type"], "worker.ended">, string>> = {
  "worker.ask_user": "asks a question",
  "worker.auto_retry_failed": "could not reach its model after several attempts",
  "worker.stopped_without_end": "was stopped before it finished",
  "worker.deleted": "was ended by a person",
  "worker.detached": "was detached by a person and continues on its own",
  "worker.notified": "sent a message",
};
const OUTCOME_WORDS: Readonly<Record<string, string>> = {
  completed: "finished its turn",
  failed: "failed",
  aborted: "was stopped",
};

/** Predicate of a sentence about the child: "finished its turn". */
export function childEventWords({ type, payload }: ChildEvent): string {
  if (payload.kind === "plan") return "presents a plan";
  if (type !== "worker.ended") return EVENT_WORDS[type] ?? "has an update";
  return OUTCOME_WORDS[payload.outcome ?? ""] ?? "ended its turn";
}

/** Words for one event that stands for many; null for a single event. */
export function foldedWords({ payload }: ChildEvent): string | null {
  if (!payload.workers) return null;
  return `${payload.count ?? 0} earlier events of child sessions`;
}

const MESSAGE_WORDS: Readonly<Record<NoticeMessage["type"], string>> = {
  message: "A message",
  question: "A question",
  escalation: "An escalation",
  notification: "A notification",
  approval: "A request",
};

/** Message type with its article: "A question". */
export function messageWords({ type }: NoticeMessage): string {
  return MESSAGE_WORDS[type] ?? "A message";
}

/** First line with text, without its Markdown marks. */
export function messageLine({ text }: NoticeMessage): string {
  for (const line of text.split(/[\n\r]/)) {
    const said = line
      .replace(/^[#>]+ +/, "")
      .replace(/`+|\*\*/g, "")
      .trim();
    if (said !== "") return said;
  }
  return "";
}

const BOARD_WORDS: Readonly<Record<Exclude<BoardEvent["event"], "note">, string>> = {
  assigned: "was assigned to it",
  overdue: "is overdue",
  unblocked: "is no longer blocked",
  blocker_failed: "waits for a task that failed",
  blocker_deleted: "waited for a task that was deleted",
};

export interface TaskNotice {
  id: string;
  title: string;
  /** Predicate of a sentence about the task: "is overdue". */
  words: string;
}

export function taskNotices({ items }: NoticeOf<"board">): TaskNotice[] {
  return items.flatMap((item) =>
    item.event === "note"
      ? []
      : [{ ...item.task, words: BOARD_WORDS[item.event] ?? "has changed" }],
  );
}

const WAIT_ENDED: Readonly<Record<NonNullable<NoticeOf<"children">["waitEnded"]>, string>> = {
  time: "The time it set to wait is over; nothing that it waited for has happened.",
  children_gone: "The child sessions that it waited for are gone.",
};

/** Sentence for a notice of children without any event. */
export function waitEndedWords({ waitEnded }: NoticeOf<"children">): string {
  return waitEnded === null ? "Updates from child sessions" : WAIT_ENDED[waitEnded];
}

/** Kinds that are shown as notices; the others are shown as prompts. */
export type ShownNotice = NoticeOf<"children" | "messages" | "board">;

export function shownNotice(notice: Notice | null): ShownNotice | null {
  if (notice === null) return null;
  const isShown =
    notice.kind === "children" || notice.kind === "messages" || notice.kind === "board";
  return isShown ? notice : null;
}

/** Renders a notice in one line. */
export function noticeLine(notice: ShownNotice): string {
  switch (notice.kind) {
    case "children":
      return childLines(notice, " ").join("; ");
    case "messages":
      return notice.items.map((item) => `${messageWords(item)} from ${item.from.name}`).join("; ");
    case "board": {
      const news = taskNotices(notice).map(({ title, words }) => `${title} ${words}`);
      return news.length === 0 ? "Updates from the board" : news.join("; ");
    }
  }
}

/** Lines for each event of children, or the reason why a wait is over. */
export function childLines(notice: NoticeOf<"children">, between: string): string[] {
  if (notice.items.length === 0) return [waitEndedWords(notice)];
  return notice.items.map(
    (item) => foldedWords(item) ?? `${item.childName}${between}${childEventWords(item)}`,
  );
}
