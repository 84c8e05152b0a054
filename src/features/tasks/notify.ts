/**
 * Telling agents of their tasks: a prompt in the transaction that makes the news, which wakes who
 * sleeps and ends a wait. As long as it waits in the queue, more news join it. Nobody is told what
 * they did themselves. When agents have been alone for too long, news wait for a person. Titles are what somebody typed: they stand in quotes, on one line.
 */
import type { SessionRow, SessionWriter, Work } from "#engine/index.ts";
import { admitPrompt, editPrompt, findPrompt, treeTop } from "#engine/sessions/index.ts";
import { inQuotes, isHeldBack } from "#features/delegation/index.ts";
import { MAIN_THREAD } from "#protocol/sessions.ts";
import { findNotice, listHeld, saveNotice } from "./record-queries.ts";
import type { TaskRow } from "./schema.ts";

const TASK_CHANNEL = "tasks";
const MAX_LINES = 40;
const HEAD = "[tasks] News from the task board:";
const MORE = "- There is more: task_list shows the board.";

export interface News {
  sessionId: string;
  thread: string;
  line: string;
}

export function nameOf({ id, title }: Pick<TaskRow, "id" | "title">): string {
  return `${inQuotes(title)} (${id})`;
}

/** For who has the task, or, when nobody has, for the agent whose board it is. */
export function newsForHolder(task: TaskRow, line: string): News {
  return task.assignee_id === null || task.assignee_id === task.session_id
    ? newsForBoard(task, line)
    : { sessionId: task.assignee_id, thread: MAIN_THREAD, line };
}

export function newsForBoard(task: TaskRow, line: string): News {
  return { sessionId: task.session_id, thread: task.thread, line };
}

export interface Cause {
  /** The session that did it. */
  sessionId: string | null;
  /** A person did it: then it goes out however long agents have been alone. */
  isPerson: boolean;
}

export async function sendNews(work: Work, news: readonly News[], cause: Cause): Promise<void> {
  const byPlace = new Map<string, News[]>();
  for (const one of news) {
    if (one.sessionId === cause.sessionId) continue;
    const place = JSON.stringify([one.sessionId, one.thread]);
    byPlace.set(place, [...(byPlace.get(place) ?? []), one]);
  }
  // In the order of their ids, as sessions are locked.
  for (const place of [...byPlace.keys()].sort()) {
    const some = byPlace.get(place) as News[];
    await tell(work, some[0] as News, [...new Set(some.map(({ line }) => `- ${line}`))], cause);
  }
}

/** A person has said something in the tree: what was held back goes out. */
export async function releaseNews(work: Work, boardId: string): Promise<void> {
  for (const { session_id: sessionId, thread, held } of await listHeld(work.tx, boardId)) {
    const lines = JSON.parse(held ?? "[]") as string[];
    await tell(work, { sessionId, thread }, lines, { sessionId: null, isPerson: true });
  }
}

async function tell(
  work: Work,
  { sessionId, thread }: Omit<News, "line">,
  lines: readonly string[],
  { isPerson }: Cause,
): Promise<void> {
  const session = await work.session(sessionId);
  // Who is away finds it on the board when it is back.
  if (!session || !isThere(session.row)) return;
  const known = await findNotice(work.tx, sessionId, thread);
  const board_id = treeTop(session.row);
  const row = known ?? { session_id: sessionId, thread, board_id, prompt_id: null, held: null };
  if (!isPerson && (await isHeldBack(work, session, thread))) {
    const held = [...(JSON.parse(row.held ?? "[]") as string[]), ...lines].slice(0, MAX_LINES);
    await saveNotice(work.tx, { ...row, board_id, held: JSON.stringify(held) });
    return;
  }
  const waiting = row.prompt_id === null ? undefined : await findPrompt(work.tx, row.prompt_id);
  const isWaiting = waiting?.state === "queued";
  const id = isWaiting ? waiting.id : work.ids.mint("pmt");
  await saveNotice(work.tx, { ...row, board_id, prompt_id: id, held: null });
  if (isWaiting) await editPrompt(work, session, waiting, joined(waiting.content, lines));
  else await admit(work, session, thread, id, joined(HEAD, lines));
}

async function admit(
  work: Work,
  session: SessionWriter,
  thread: string,
  id: string,
  content: string,
): Promise<void> {
  await admitPrompt(work, session, {
    id,
    runId: work.ids.mint("run"),
    content,
    thread,
    mode: "followup",
    author: { kind: "system", id: "tasks", name: "Muster" },
    origin: { channelType: TASK_CHANNEL, channelId: null, scopeKey: null, replyRef: null },
    createdBy: "system",
    dispatchId: null,
    causeKey: `tasks:${id}`,
    attachments: [],
    runOptions: null,
  });
}

function isThere({ lifecycle }: SessionRow): boolean {
  return lifecycle === "active" || lifecycle === "hibernated";
}

function joined(before: string, lines: readonly string[]): string {
  if (before.endsWith(MORE)) return before;
  const room = MAX_LINES - before.split("\n").length;
  const shown = lines.length <= room ? lines : [...lines.slice(0, Math.max(0, room)), MORE];
  return [before, ...shown].join("\n");
}
