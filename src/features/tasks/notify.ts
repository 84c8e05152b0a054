/**
 * Notifies agents of changes to their tasks. A notice is part of the transaction that causes it; it
 * wakes a sleeping session and ends a wait. While its prompt is queued, more events join it. No agent
 * is notified of its own action. When agents have worked unattended for too long, events are held until
 * a person speaks.
 */
import type { PromptRow, SessionRow, SessionWriter, Work } from "#engine/index.ts";
import {
  deliverAtEnd,
  deliverNotice,
  findOpenPrompt,
  type NoticeSource,
  platformSender,
} from "#engine/notices/index.ts";
import { treeTop } from "#engine/sessions/index.ts";
import { isHeldBack } from "#features/delegation/index.ts";
import type { BoardEvent, NoticeOf } from "#protocol/notices/notices.ts";
import { MAIN_THREAD } from "#protocol/sessions.ts";
import { findNotice, listHeld, saveNotice } from "./changes/record-queries.ts";
import type { TaskNoticeRow, TaskRow } from "./schema.ts";

const SENDER = platformSender("tasks", "tasks");
/** Maximum of events in one notice; the board shows the rest. */
const MAX_EVENTS = 39;
const MAX_HELD = 40;

/** An event for one thread of a session. */
export interface BoardNotice {
  sessionId: string;
  thread: string;
  event: BoardEvent;
}

/** Addresses an event to the assignee or, if there is none, to the agent that owns the board. */
export function noticeForAssignee(task: TaskRow, event: BoardEvent): BoardNotice {
  return task.assignee_id === null || task.assignee_id === task.session_id
    ? noticeForBoard(task, event)
    : { sessionId: task.assignee_id, thread: MAIN_THREAD, event };
}

export function noticeForBoard(task: TaskRow, event: BoardEvent): BoardNotice {
  return { sessionId: task.session_id, thread: task.thread, event };
}

export interface Cause {
  /** The session that caused the event. */
  sessionId: string | null;
  /** True if a person caused the event: then it is sent however long agents have worked unattended. */
  isPerson: boolean;
}

export async function sendBoardNotices(
  work: Work,
  notices: readonly BoardNotice[],
  cause: Cause,
): Promise<void> {
  const byThread = new Map<string, BoardNotice[]>();
  for (const one of notices) {
    if (one.sessionId === cause.sessionId) continue;
    const threadKey = JSON.stringify([one.sessionId, one.thread]);
    byThread.set(threadKey, [...(byThread.get(threadKey) ?? []), one]);
  }
  // Sorted by id, the order in which sessions are locked.
  for (const threadKey of [...byThread.keys()].sort()) {
    const some = byThread.get(threadKey) as [BoardNotice, ...BoardNotice[]];
    const session = await work.session(some[0].sessionId);
    const events = distinct(some.map(({ event }) => event));
    if (session) await deliver(work, session, some[0].thread, events, cause);
  }
}

function distinct(events: readonly BoardEvent[]): BoardEvent[] {
  return [...new Map(events.map((event) => [JSON.stringify(event), event])).values()];
}

/** Sends held events at the end of the command, because a person has spoken in the tree. */
export async function releaseHeldNotices(work: Work, boardId: string): Promise<void> {
  for (const { session_id: sessionId, thread } of await listHeld(work.tx, boardId)) {
    const session = await work.session(sessionId);
    if (!session) continue;
    deliverAtEnd(work, { sessionId, source: "tasks" }, () =>
      deliver(work, session, thread, [], { sessionId: null, isPerson: true }),
    );
  }
}

/** An event, and the prompt that delivers it. */
interface PendingEvent {
  prompt_id: string | null;
  event: BoardEvent;
}

async function deliver(
  work: Work,
  session: SessionWriter,
  thread: string,
  events: readonly BoardEvent[],
  { isPerson }: Cause,
): Promise<void> {
  // A session that is away finds the change on the board when it is back.
  if (!isReachable(session.row)) return;
  const { id: session_id } = session.row;
  const board_id = treeTop(session.row);
  const known = await findNotice(work.tx, session_id, thread);
  const row = { session_id, thread, prompt_id: null, held: null, ...known, board_id };
  const open = await findOpenPrompt(work, SENDER, [row]);
  const queued = open && boardNoticeOf(open);
  const fresh = distinct([...heldIn(row), ...events]);
  const source: NoticeSource<PendingEvent> = {
    thread,
    sender: SENDER,
    pending: [
      ...(queued?.items ?? []).map((event) => ({ prompt_id: row.prompt_id, event })),
      ...fresh.map((event) => ({ prompt_id: null, event })),
    ],
    compose: (rows) => ({
      kind: "board",
      items: rows.slice(0, MAX_EVENTS).map(({ event }) => event),
      hasMore: rows.length > MAX_EVENTS || queued?.hasMore === true,
    }),
    assign: (_rows, prompt_id) => saveNotice(work.tx, { ...row, prompt_id, held: null }),
    isHeld: async () => !isPerson && (await isHeldBack(work, session, thread)),
    hold: () => saveNotice(work.tx, { ...row, held: JSON.stringify(fresh.slice(0, MAX_HELD)) }),
  };
  await deliverNotice(work, session, source);
}

/** Returns the notice of a prompt; null for a prompt of an earlier version, which no event can join. */
function boardNoticeOf({ notice }: PromptRow): NoticeOf<"board"> | null {
  return notice === null ? null : (JSON.parse(notice) as NoticeOf<"board">);
}

/** Reads held events. Earlier versions held sentences. */
function heldIn({ held }: TaskNoticeRow): BoardEvent[] {
  const events = JSON.parse(held ?? "[]") as (BoardEvent | string)[];
  return events.map((event) =>
    typeof event === "string" ? { event: "note", text: event.replace(/^- /, "") } : event,
  );
}

function isReachable({ lifecycle }: SessionRow): boolean {
  return lifecycle === "active" || lifecycle === "hibernated";
}
