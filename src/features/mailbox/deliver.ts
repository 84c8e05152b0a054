/**
 * A letter reaches its agent once. The row is written in the sender's transaction, and one prompt
 * tells all letters of a conversation that nobody has told yet: an agent at work finds it next in its
 * queue, one that sleeps has them when it is awake again, or is woken by what cannot wait. A letter is
 * delivered when that prompt has begun, or when its agent read it by itself; until then more letters
 * join the prompt. What its person, their own sessions and guests write is never told together.
 */

import type { PromptRow, SessionRow, SessionWriter, Work } from "#engine/index.ts";
import {
  admitPrompt,
  editPrompt,
  findPrompt,
  findSession,
  MAIN_THREAD,
  withdrawPrompt,
} from "#engine/sessions/index.ts";
import { isGone, isHeldBack } from "#features/delegation/index.ts";
import { isGuestThread } from "#protocol/guests.ts";
import { isOrchestrator } from "#protocol/sessions.ts";
import {
  listByPrompt,
  listHeldSessions,
  listUntold,
  listUntoldThreads,
  markAnnounced,
  markHeld,
  releaseHeld,
} from "./agent-queries.ts";
import type { LetterType } from "./contract.ts";
import { guestOf, isGuestLetter } from "./guest.ts";
import { type Audience, mailText, type Relation, type ToldLetter } from "./letter-text.ts";
import { findLetter } from "./queries.ts";
import type { LetterRow } from "./schema.ts";
import { hintLetter } from "./write-letter.ts";

const MAIL_CHANNEL = "mail";
/** In one prompt; the rest is told by the next. Of one person no more than that can wait. */
const MAX_TOLD = 200;

/** Cannot wait until its agent happens to be awake. */
const WAKING: ReadonlySet<LetterType> = new Set(["question", "escalation", "approval"]);

/** A letter that was just written, to a session that is locked. */
export async function deliver(
  work: Work,
  session: SessionWriter,
  letter: LetterRow,
): Promise<void> {
  hintOwners(work, [letter]);
  if (isGone(session.row)) return;
  if (session.row.lifecycle === "hibernated" && !(await wakes(work, session.row, letter))) return;
  await announce(work, session, letter.to_thread ?? MAIN_THREAD, groupOf(letter));
}

async function wakes(work: Work, row: SessionRow, letter: LetterRow): Promise<boolean> {
  if (row.awaiting === 1 || WAKING.has(letter.message_type)) return true;
  if (letter.reply_to_id === null) return false;
  const asked = await findLetter(work.tx, letter.reply_to_id);
  return asked?.message_type === "question" && asked.from_session_id === row.id;
}

/** It is awake again: it is told what there is, in each of its conversations. */
export async function announceAll(work: Work, session: SessionWriter): Promise<void> {
  for (const thread of await listUntoldThreads(work.tx, session.row.id))
    await announce(work, session, thread);
}

/** `cause`: whose letter it is for. */
export async function announce(
  work: Work,
  session: SessionWriter,
  thread: string,
  cause?: string,
): Promise<void> {
  if (isGone(session.row)) return;
  const untold = await listUntold(work.tx, session.row.id, thread);
  const groups = new Set(
    untold.filter(({ prompt_id }) => prompt_id === null).map((letter) => groupOf(letter)),
  );
  for (const group of groups) {
    // What a person says may be refused while it sleeps, which is no fault of who writes now. If it
    // is woken all the same, it is told everything.
    const isOthers = group === PERSON && cause !== PERSON;
    if (isOthers && session.row.lifecycle === "hibernated") continue;
    await tellGroup(work, session, thread, group);
  }
}

const PERSON = "person";

/** `person`: its own; `own`: sessions of that person; else the guest's. */
function groupOf(letter: LetterRow): string {
  if (isGuestLetter(letter)) return `guest:${guestOf(letter.from_owner_id)}`;
  return letter.from_user_id === null ? "own" : PERSON;
}

function audienceOf(group: string): Audience {
  return group.startsWith("guest:") ? "guest" : (group as Audience);
}

async function tellGroup(
  work: Work,
  session: SessionWriter,
  thread: string,
  group: string,
): Promise<void> {
  // Read again: telling one group may have woken it, and in waking it is told what there is.
  const all = (await listUntold(work.tx, session.row.id, thread)).filter(
    (letter) => groupOf(letter) === group,
  );
  const fresh = all.filter(({ prompt_id }) => prompt_id === null);
  if (fresh.length === 0) return;
  const waiting = await findWaiting(work, all);
  if (waiting === "coming") return;
  if (waiting) return join(work, session, waiting, all);
  if (group !== PERSON && (await isHeldBack(work, session, thread)))
    return markHeld(work.tx, fresh);
  const told = fresh.slice(0, MAX_TOLD);
  const id = work.ids.mint("pmt");
  // Marked first, for the same reason.
  await markAnnounced(work.tx, told, id);
  await admit(work, session, { id, thread, group, letters: told });
}

/** The prompt that tells some of them already and has not begun; `coming`: it is being admitted now. */
async function findWaiting(
  work: Work,
  letters: readonly LetterRow[],
): Promise<PromptRow | "coming" | undefined> {
  for (const id of promptsOf(letters)) {
    const prompt = await findPrompt(work.tx, id);
    if (!prompt) return "coming";
    if (isOpen(prompt)) return prompt;
  }
  return undefined;
}

function promptsOf(letters: readonly LetterRow[]): Set<string> {
  return new Set(letters.flatMap(({ prompt_id }) => prompt_id ?? []));
}

/** What it says can still be changed, and is nothing but letters. */
function isOpen({ state, cause_key }: PromptRow): boolean {
  const isWaiting = state === "queued" || state === "collecting";
  return isWaiting && cause_key?.startsWith(`${MAIL_CHANNEL}:`) === true;
}

async function join(
  work: Work,
  session: SessionWriter,
  waiting: PromptRow,
  all: readonly LetterRow[],
): Promise<void> {
  const joining = all.filter(({ prompt_id }) => prompt_id === null || prompt_id === waiting.id);
  const told = joining.slice(0, MAX_TOLD);
  if (told.every(({ prompt_id }) => prompt_id !== null)) return;
  await markAnnounced(work.tx, told, waiting.id);
  await editPrompt(work, session, waiting, await textOf(work, session.row, told));
}

interface Telling {
  id: string;
  thread: string;
  group: string;
  letters: readonly LetterRow[];
}

async function admit(work: Work, session: SessionWriter, telling: Telling): Promise<void> {
  const { id, thread, group, letters } = telling;
  const [first] = letters as [LetterRow];
  const isPerson = group === PERSON;
  await admitPrompt(work, session, {
    id,
    runId: work.ids.mint("run"),
    content: await textOf(work, session.row, letters),
    thread,
    // Nobody but its person cuts what it is doing, or has their words put together with others.
    mode: isPerson ? undefined : "followup",
    author: isPerson
      ? { kind: "user", id: first.from_user_id as string, name: first.from_name }
      : { kind: "system", id: "mailbox", name: "Muster" },
    origin: { channelType: MAIL_CHANNEL, channelId: null, scopeKey: null, replyRef: first.id },
    createdBy: isPerson ? `user:${first.from_user_id}` : "system",
    dispatchId: null,
    causeKey: `${MAIL_CHANNEL}:${id}`,
    attachments: [],
    runOptions: null,
  });
}

async function textOf(
  work: Work,
  reader: SessionRow,
  letters: readonly LetterRow[],
): Promise<string> {
  const [first] = letters as [LetterRow];
  const audience = audienceOf(groupOf(first));
  const isGuests = isOrchestrator(reader) && isGuestThread(first.to_thread ?? MAIN_THREAD);
  return mailText(await relate(work, reader, letters), audience, { isGuests });
}

/** With what each sender is to the reader. */
export async function relate(
  work: Work,
  reader: SessionRow,
  letters: readonly LetterRow[],
): Promise<ToldLetter[]> {
  const told: ToldLetter[] = [];
  for (const letter of letters)
    told.push({ letter, relation: await relationOf(work, reader, letter) });
  return told;
}

async function relationOf(work: Work, reader: SessionRow, letter: LetterRow): Promise<Relation> {
  const { from_session_id: fromId } = letter;
  if (isGuestLetter(letter)) {
    if (letter.from_owner_id === null) return "org";
    return fromId === null ? "guest_person" : "guest_agent";
  }
  if (fromId === null) return "person";
  if (fromId === reader.parent_session_id) return "parent";
  const from = await findSession(work.tx, fromId);
  if (!from) return "own";
  if (from.parent_session_id === reader.id) return "child";
  if (isOrchestrator(from)) return "orchestrator";
  const isSibling =
    from.parent_session_id !== null && from.parent_session_id === reader.parent_session_id;
  return isSibling ? "sibling" : "own";
}

/** Those that can still be taken from the prompt that is to tell them. */
export async function takeable(work: Work, letters: readonly LetterRow[]): Promise<LetterRow[]> {
  const closed = new Set<string>();
  for (const id of promptsOf(letters)) {
    const prompt = await findPrompt(work.tx, id);
    if (!prompt || !isOpen(prompt)) closed.add(id);
  }
  return letters.filter(({ prompt_id }) => prompt_id === null || !closed.has(prompt_id));
}

/** These were taken: the prompts that were to tell them say what is left, or go. */
export async function retell(
  work: Work,
  session: SessionWriter,
  taken: readonly LetterRow[],
): Promise<void> {
  for (const promptId of promptsOf(taken)) {
    const prompt = await findPrompt(work.tx, promptId);
    if (!prompt) continue;
    const left = (await listByPrompt(work.tx, promptId)).filter(({ fate }) => fate === "waiting");
    if (left.length === 0) await withdrawPrompt(work, session, prompt);
    else await editPrompt(work, session, prompt, await textOf(work, session.row, left));
  }
}

/** A person has spoken in the tree: what was held back goes out, to who sleeps only if it wakes. */
export async function release(work: Work, { row }: SessionWriter): Promise<void> {
  for (const id of await listHeldSessions(work.tx, row.org_id, row.root_session_id)) {
    const session = await work.session(id);
    if (!session) continue;
    await releaseHeld(work.tx, id);
    for (const thread of await listUntoldThreads(work.tx, id)) {
      const isDue =
        session.row.lifecycle !== "hibernated" || (await isAnyWaking(work, session.row, thread));
      if (isDue) await announce(work, session, thread);
    }
  }
}

async function isAnyWaking(work: Work, row: SessionRow, thread: string): Promise<boolean> {
  for (const letter of await listUntold(work.tx, row.id, thread))
    if (await wakes(work, row, letter)) return true;
  return false;
}

/** Whoever looks at these letters looks again. */
export function hintOwners(work: Work, letters: readonly LetterRow[]): void {
  for (const letter of letters) {
    const owners = new Set([letter.from_owner_id, letter.to_owner_id]);
    for (const ownerId of owners) if (ownerId !== null) hintLetter(work, ownerId, letter.id);
  }
}
