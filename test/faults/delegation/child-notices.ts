/**
 * Notices about children for their parent: as data for the checker, as text for the model that the
 * rounds play.
 */
import type { Notice } from "#protocol/notices/notices.ts";
import { objectOf } from "./dialects.ts";
import { messageToken, resultToken } from "./tasks.ts";

export interface ChildNotice {
  type: string;
  childId: string;
  childName: string;
  /** The token of a completed turn, or of a message from the child. */
  token?: string | undefined;
  outcome?: string | undefined;
}

const HEAD =
  /^\d+\. (worker\.\w+): ("(?:[^"\\]|\\.)*") \((\S+?)\) .*?(?: \((\w+)\))?(?: \[\w+\])?\.$/;

/** Events of children in the notice of a prompt; none for other prompts. */
export function readNotice(notice: Notice | undefined): ChildNotice[] {
  if (notice?.kind !== "children") return [];
  return notice.items.map(({ type, childId, childName, payload: { outcome, text = "" } }) => ({
    type,
    childId,
    childName,
    outcome,
    token: tokenIn({ type, outcome }, text),
  }));
}

/** Reads what a model reads: a wake prompt, or a result of `wait_for_event`. */
export function readWake(text: string): ChildNotice[] {
  const news: ChildNotice[] = [];
  for (const line of text.split("\n")) {
    const [, type, name, childId, outcome] = HEAD.exec(line) ?? [];
    if (type && name && childId)
      news.push({ type, childName: JSON.parse(name) as string, childId, outcome });
    else if (line.startsWith("> ") && news.length > 0) {
      const last = news.at(-1) as ChildNotice;
      last.token ??= tokenIn(last, line.slice(2));
    }
  }
  return news;
}

function tokenIn({ type, outcome }: Pick<ChildNotice, "type" | "outcome">, text: string) {
  if (type === "worker.notified") return messageToken(text);
  return outcome === "completed" ? resultToken(text) : undefined;
}

interface InboxItem {
  type: string;
  workerId: string;
  workerName: string;
  payload: { outcome?: string; text?: string };
}

/** Reads a tool's answer, if it is a tool that delivers notices. */
export function readAnswer(tool: string | null, output: unknown): ChildNotice[] {
  if (tool === "wait_for_event" || tool === "sleep") {
    const { events } = objectOf(output) as { events?: unknown };
    return typeof events === "string" ? readWake(events) : [];
  }
  if (tool !== "orchestrate_read_inbox") return [];
  const { items = [] } = objectOf(output) as { items?: InboxItem[] };
  return items.map(({ type, workerId, workerName, payload }) => ({
    type,
    childId: workerId,
    childName: workerName,
    outcome: payload.outcome,
    token: tokenIn({ type, outcome: payload.outcome }, payload.text ?? ""),
  }));
}
