/**
 * Notifies a parent of its child's events, exactly once. The event is a row, written in the
 * transaction of its cause, and `engine/notices` delivers it: a busy parent finds the notice next
 * in its queue, a hibernated one is woken, an archived or ended one gets it when it comes back. A
 * row counts as delivered when that prompt starts, or when the parent reads it itself.
 */
import type { SessionWriter, Work } from "#engine/index.ts";
import {
  admitNotice,
  deliverAtEnd,
  deliverNotice,
  findOpenPrompt,
  type NoticeSource,
  platformSender,
  refreshNotice,
} from "#engine/notices/index.ts";
import type { ChildEvent, NoticeOf } from "#protocol/notices/notices.ts";
import { isEnded } from "../children/lifecycle.ts";
import { isHeldBack, WAKE_CHANNEL } from "../children/unattended.ts";
import type { WorkerEventPayload, WorkerEventType } from "../contract.ts";
import type { LinkRow, WaitRow, WorkerEventRow } from "../schema.ts";
import { closeWait } from "../waits/close-wait.ts";
import { findWait } from "../waits/wait-queries.ts";
import { foldedOf } from "./fold.ts";
import { makeRoom } from "./inbox.ts";
import {
  findEvent,
  insertEvent,
  listPendingEvents,
  listPendingThreads,
  markAnnounced,
  markRead,
} from "./inbox-queries.ts";
import { hintInbox, recordOrchestration } from "./note.ts";

const SENDER = platformSender("orchestration", WAKE_CHANNEL);

/** Reason for the end of a wait, other than an event of a child. */
type WaitEnded = NoticeOf<"children">["waitEnded"];

export interface ChildNotice {
  type: WorkerEventType;
  payload: WorkerEventPayload;
  /** Unique key of the cause; one cause makes one event. */
  causeKey: string;
  /**
   * True if a caller waits for this event: it is delivered even if the parent ended the child
   * itself.
   */
  isAwaited?: boolean;
}

/** Returns false if there is no parent, or if the parent ended the child itself. */
export async function notifyParent(
  work: Work,
  child: SessionWriter,
  link: LinkRow,
  { type, payload, causeKey, isAwaited = false }: ChildNotice,
): Promise<boolean> {
  if (link.is_silent === 1 && !isAwaited) return false;
  if (await findEvent(work.tx, causeKey)) return true;
  const parent = await work.session(link.parent_session_id);
  if (!parent) return false;
  const count = await insertEvent(work.tx, {
    id: work.ids.mint("evt"),
    org_id: link.org_id,
    session_id: parent.row.id,
    thread: link.parent_thread,
    child_id: child.row.id,
    child_name: child.row.title ?? child.row.id,
    type,
    payload: JSON.stringify(payload),
    cause_key: causeKey,
    prompt_id: null,
    read_at: null,
    at: work.now,
  });
  const detail = type.slice("worker.".length);
  const enqueued = { action: "inbox_enqueued", by: "system", childId: child.row.id } as const;
  await recordOrchestration(work, parent.row, { ...enqueued, detail });
  hintInbox(work, parent.row);
  await makeRoom(work, parent.row.id, count);
  await announce(work, parent, link.parent_thread);
  return true;
}

/** Queues a notice of the pending events, unless the parent is gone or waits for something else. */
export async function announce(
  work: Work,
  parent: SessionWriter,
  thread: string,
  waitEnded: WaitEnded = null,
): Promise<boolean> {
  const { row } = parent;
  if (isEnded(row)) return false;
  const pending = await listPendingEvents(work.tx, row.id, thread);
  const wait = pending.length === 0 ? undefined : await findWait(work.tx, row.id, thread);
  if (wait && !endsWait(wait, pending)) return false;
  const source = sourceOf(work, parent, thread, pending, waitEnded);
  if ((await deliverNotice(work, parent, source)) !== "queued") return false;
  if (wait) await closeWait(work, row.id, thread);
  return true;
}

function sourceOf(
  work: Work,
  parent: SessionWriter,
  thread: string,
  pending: readonly WorkerEventRow[],
  waitEnded: WaitEnded = null,
): NoticeSource<WorkerEventRow> {
  return {
    thread,
    sender: SENDER,
    pending,
    compose: (rows) => ({ kind: "children", waitEnded, items: rows.map(childEventOf) }),
    assign: (rows, promptId) => markAnnounced(work.tx, rows, promptId),
    isHeld: () => isHeldBack(work, parent, thread),
  };
}

/** Notifies a parent that its wait is over, together with any pending events. */
export async function wake(
  work: Work,
  parent: SessionWriter,
  thread: string,
  waitEnded: NonNullable<WaitEnded>,
): Promise<void> {
  if (isEnded(parent.row) || (await announce(work, parent, thread, waitEnded))) return;
  if (await isHeldBack(work, parent, thread)) return;
  const notice: NoticeOf<"children"> = { kind: "children", waitEnded, items: [] };
  await admitNotice(work, parent, { thread, sender: SENDER, notice });
}

/** A parent may wait for some of its children only; a question always ends the wait. */
function endsWait({ children }: WaitRow, pending: readonly WorkerEventRow[]): boolean {
  if (children === null) return true;
  const awaited = new Set(JSON.parse(children) as string[]);
  return pending
    .flatMap(foldedOf)
    .some(({ type, workerId }) => type === "worker.ask_user" || awaited.has(workerId));
}

/**
 * Delivers pending events at the end of the command, after the parent came back or a person wrote.
 */
export function deliverPendingAtEnd(work: Work, parent: SessionWriter): void {
  deliverAtEnd(work, { sessionId: parent.row.id, source: "children" }, async () => {
    for (const thread of await listPendingThreads(work.tx, parent.row.id))
      await announce(work, parent, thread);
  });
}

/** Ends the wait of a thread after an unrelated prompt; pending events follow that prompt. */
export async function endWait(work: Work, session: SessionWriter, thread: string): Promise<void> {
  if (!(await closeWait(work, session.row.id, thread))) return;
  deliverAtEnd(work, { sessionId: session.row.id, source: "children" }, async () => {
    await announce(work, session, thread);
  });
}

/**
 * Returns all pending events and marks them as read; the prompt that would deliver them is
 * withdrawn.
 */
export async function takePendingEvents(
  work: Work,
  parent: SessionWriter,
  thread: string,
): Promise<WorkerEventRow[]> {
  const pending = await listPendingEvents(work.tx, parent.row.id, thread);
  if (pending.length > 0) hintInbox(work, parent.row);
  await markRead(work.tx, pending, work.now);
  await refreshQueuedNotice(work, parent, pending);
  return pending;
}

/** Rewrites the queued prompt of changed events with those still pending, or withdraws it. */
export async function refreshQueuedNotice(
  work: Work,
  parent: SessionWriter,
  changed: readonly WorkerEventRow[],
): Promise<void> {
  const waiting = await findOpenPrompt(work, SENDER, changed);
  if (!waiting) return;
  const { thread } = waiting;
  const pending = await listPendingEvents(work.tx, parent.row.id, thread);
  await refreshNotice(work, parent, waiting, sourceOf(work, parent, thread, pending));
}

export function childEventOf({ type, child_id, child_name, payload }: WorkerEventRow): ChildEvent {
  return {
    type,
    childId: child_id,
    childName: child_name,
    payload: JSON.parse(payload) as WorkerEventPayload,
  };
}
