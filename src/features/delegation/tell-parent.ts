/**
 * What becomes of a child reaches its parent, exactly once. The event is a row, written in the
 * transaction that makes it true, and one prompt tells all rows that nobody has been told of: a
 * parent at work finds it next in its queue, one that sleeps is woken, one that is archived or ended
 * has them when it comes back. A row counts as told when that prompt has begun, or when the parent
 * read it by itself; until then more rows join the same prompt.
 */
import type { PromptRow, SessionWriter, Work } from "#engine/index.ts";
import { editPrompt, findPrompt, withdrawPrompt } from "#engine/sessions/index.ts";
import { closeWait } from "./close-wait.ts";
import type { WorkerEventPayload, WorkerEventType } from "./contract.ts";
import { foldedOf } from "./fold.ts";
import { makeRoom } from "./inbox.ts";
import {
  findEvent,
  insertEvent,
  listUntold,
  listUntoldThreads,
  markAnnounced,
  markRead,
} from "./inbox-queries.ts";
import { isGone } from "./lives.ts";
import { hintInbox, note } from "./note.ts";
import { sayAsPlatform } from "./say.ts";
import type { LinkRow, WaitRow, WorkerEventRow } from "./schema.ts";
import { isHeldBack } from "./unattended.ts";
import { findWait } from "./wait-queries.ts";
import { readCallOf, wakeText } from "./wake-text.ts";

export interface News {
  type: WorkerEventType;
  payload: WorkerEventPayload;
  /** The same cause is told once. */
  causeKey: string;
  /** Somebody asked to hear of it by name: it is told although the parent ended the child itself. */
  isAwaited?: boolean;
}

/** False: there is nobody who could be told, or the parent wants to hear nothing of this child. */
export async function tellParent(
  work: Work,
  child: SessionWriter,
  link: LinkRow,
  { type, payload, causeKey, isAwaited = false }: News,
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
  await note(work, parent.row, { ...enqueued, detail });
  hintInbox(work, parent.row);
  await makeRoom(work, parent.row.id, count);
  await announce(work, parent, link.parent_thread);
  return true;
}

/** Puts what is untold into the parent's queue, unless it is away or waits for something else. */
export async function announce(
  work: Work,
  parent: SessionWriter,
  thread: string,
  preface?: string,
): Promise<boolean> {
  const { row } = parent;
  if (isGone(row)) return false;
  const untold = await listUntold(work.tx, row.id, thread);
  if (untold.length === 0) return false;
  const wait = await findWait(work.tx, row.id, thread);
  if (wait && !endsWait(wait, untold)) return false;
  const waiting = await findWaitingPrompt(work, untold);
  if (!waiting && (await isHeldBack(work, parent, thread))) return false;
  if (wait) await closeWait(work, row.id, thread);
  const text = wakeText(untold.map(toldOf), readCallOf(row));
  const content = preface === undefined ? text : `${preface}\n\n${text}`;
  const id = waiting?.id ?? work.ids.mint("pmt");
  // Marked first: a parent that sleeps is told what there is in waking, and must not be told twice.
  await markAnnounced(work.tx, untold, id);
  if (waiting) await editPrompt(work, parent, waiting, content);
  else await sayAsPlatform(work, parent, id, { thread, content });
  return true;
}

/** Its wait is over: it is told why, with all that is untold, or with nothing else. */
export async function wake(
  work: Work,
  parent: SessionWriter,
  thread: string,
  { why, alone }: { why: string; alone: string },
): Promise<void> {
  if (isGone(parent.row) || (await announce(work, parent, thread, why))) return;
  if (await isHeldBack(work, parent, thread)) return;
  await sayAsPlatform(work, parent, work.ids.mint("pmt"), { thread, content: alone });
}

/** A parent may wait for some of its children only; a question is never held back. */
function endsWait({ children }: WaitRow, untold: readonly WorkerEventRow[]): boolean {
  if (children === null) return true;
  const awaited = new Set(JSON.parse(children) as string[]);
  return untold
    .flatMap(foldedOf)
    .some(({ type, workerId }) => type === "worker.ask_user" || awaited.has(workerId));
}

async function findWaitingPrompt(
  work: Work,
  rows: readonly WorkerEventRow[],
): Promise<PromptRow | undefined> {
  const id = rows.find(({ prompt_id }) => prompt_id !== null)?.prompt_id;
  const prompt = id == null ? undefined : await findPrompt(work.tx, id);
  return prompt?.state === "queued" ? prompt : undefined;
}

/** It is back, or a person is: it is told what there is. */
export async function tellWhatWaits(work: Work, parent: SessionWriter): Promise<void> {
  for (const thread of await listUntoldThreads(work.tx, parent.row.id))
    await announce(work, parent, thread);
}

/** Something came that the thread was not waiting for; it has the rest with it. */
export async function endWait(work: Work, session: SessionWriter, thread: string): Promise<void> {
  if (await closeWait(work, session.row.id, thread)) await announce(work, session, thread);
}

/** Hands over all that is untold, now and for good: the prompt that was to tell it is taken back. */
export async function readUntold(
  work: Work,
  parent: SessionWriter,
  thread: string,
): Promise<WorkerEventRow[]> {
  const untold = await listUntold(work.tx, parent.row.id, thread);
  if (untold.length > 0) hintInbox(work, parent.row);
  await markRead(work.tx, untold, work.now);
  await retell(work, parent, untold);
  return untold;
}

/** Rows have changed: the prompt that is to tell them, if it waits, says what is still to be told. */
export async function retell(
  work: Work,
  parent: SessionWriter,
  changed: readonly WorkerEventRow[],
): Promise<void> {
  const waiting = await findWaitingPrompt(work, changed);
  if (!waiting) return;
  const untold = await listUntold(work.tx, parent.row.id, waiting.thread);
  if (untold.length === 0) return withdrawPrompt(work, parent, waiting);
  await markAnnounced(work.tx, untold, waiting.id);
  await editPrompt(work, parent, waiting, wakeText(untold.map(toldOf), readCallOf(parent.row)));
}

export function toldOf({ type, child_id, child_name, payload }: WorkerEventRow) {
  return {
    type,
    childId: child_id,
    childName: child_name,
    payload: JSON.parse(payload) as WorkerEventPayload,
  };
}
