/**
 * Sends a message: resolves the recipient, checks permission and limits, counts hops, and delivers.
 * All of it is one transaction that locks the sessions involved first.
 */
import { notFound, Refusal } from "#base/refusal.ts";
import {
  command,
  type Engine,
  findRepeated,
  type IdempotentRequest,
  principalKey,
  type Work,
} from "#engine/index.ts";
import { findPrompt } from "#engine/sessions/index.ts";
import type { UserPrincipal } from "#features/auth/index.ts";
import { resolveSessionId } from "#protocol/names/session-ids.ts";
import { MAIN_THREAD } from "#protocol/sessions.ts";
import { countUnreadBetween, listByPrompt, markReadBy } from "../agents/agent-queries.ts";
import { deliver } from "../agents/deliver.ts";
import { guestThread } from "../agents/guest.ts";
import { countHops, exceedsHopLimit } from "../agents/hops.ts";
import type { MessageType, NewMessage } from "../contract.ts";
import { cutExchange, isCutOff } from "../keeping/cut-exchange.ts";
import { findMessage } from "../queries.ts";
import type { MessageRow } from "../schema.ts";
import { answerPendingQuestion, findPendingQuestion } from "./answer-question.ts";
import type { MessageDraft, MessageSide } from "./draft.ts";
import {
  isAnswerTo,
  listSessionsToLock,
  personSender,
  type Recipient,
  requireAddress,
  requireAnswerable,
  requireRecipient,
  type Sender,
} from "./recipient.ts";
import { sessionSide, userSide } from "./sides.ts";
import { writeMessage } from "./write-message.ts";

/** Limits of unread messages from one sender to one recipient. */
const UNREAD_BY_AGENT = 20;
const UNREAD_BY_PERSON = 50;
const UNREAD_OF_PERSON = 200;

export const LOOP_CUT =
  "Agents have answered each other too often without a person, so the message was not delivered, and your person was notified. Do not send it again. End your turn with what you know.";

export interface SentMessage {
  message: MessageRow;
  recipient: Recipient;
  /** True if the message exceeded the hop limit and is not delivered. */
  isCut: boolean;
}

/** `id`: id of the new message. The caller has locked the sessions of sender and recipient. */
export async function sendMessage(
  work: Work,
  sender: Sender,
  id: string,
  mail: NewMessage,
): Promise<SentMessage> {
  const { replyToId } = mail;
  const replied =
    replyToId === undefined ? undefined : await requireAnswerable(work.tx, sender, replyToId);
  const address = await requireAddress(work.tx, sender, mail, replied);
  const isAnswer = isAnswerTo(address, replied);
  const recipient = await requireRecipient(work, sender, address, {
    called: mail.to ?? address.id,
    isAnswer,
  });
  requireMayPrompt(sender, recipient);
  await requireRoom(work, sender, recipient);
  const draft = await draftOf(work, { sender, recipient, replied, isAnswer }, id, mail);
  if (recipient.kind === "user")
    return { message: await writeMessage(work, draft), recipient, isCut: false };
  if (exceedsHopLimit(draft.hops ?? 0)) {
    if (await isCutOff(work, draft)) throw new Refusal("limit", "hop_limit", LOOP_CUT);
    return { message: await cutExchange(work, draft), recipient, isCut: true };
  }
  const message = await writeMessage(work, draft);
  const { session } = recipient;
  const isOwner = sender.session === null && sender.ownerId === session.row.owner_id;
  const pendingQuestion =
    isOwner && isAnswer ? await findPendingQuestion(work, session, replied) : undefined;
  if (pendingQuestion) {
    requireMayAnswer(sender);
    await answerPendingQuestion(work, pendingQuestion, message.content, sender.ownerId ?? "");
    await markReadBy(work.tx, id, null, work.now);
  } else await deliver(work, session, message);
  return { message, recipient, isCut: false };
}

/**
 * A person's message to their own agent acts like a prompt and answers its questions. A key with
 * only the mail scope must not start by mail what it may not start by a prompt.
 */
function requireMayPrompt(sender: Sender, recipient: Recipient): void {
  if (sender.session !== null || sender.mayPrompt || recipient.kind === "user") return;
  if (recipient.session.row.owner_id !== sender.ownerId) return;
  throw new Refusal(
    "forbidden",
    "forbidden",
    "This credential may write to people and to other people's agents. Your own agents treat your messages as prompts: use a credential with the scope sessions:write.",
  );
}

/** A reply that answers a question is a decision, so it needs the permission to decide. */
function requireMayAnswer(sender: Sender): void {
  if (sender.session !== null || sender.mayAnswer) return;
  throw new Refusal(
    "forbidden",
    "forbidden",
    "A reply to this message answers an agent's pending question: use a credential with the scope approvals.",
  );
}

async function requireRoom(work: Work, sender: Sender, recipient: Recipient): Promise<void> {
  const { session, ownerId } = sender;
  const from = session
    ? ({ kind: "session", id: session.id } as const)
    : ({ kind: "user", id: ownerId ?? "" } as const);
  const to =
    recipient.kind === "user"
      ? ({ kind: "user", id: recipient.user.id } as const)
      : ({ kind: "session", id: recipient.session.row.id } as const);
  const agentLimit = to.kind === "session" ? UNREAD_BY_AGENT : UNREAD_BY_PERSON;
  const limit = session ? agentLimit : UNREAD_OF_PERSON;
  if ((await countUnreadBetween(work.tx, { from, to }, limit)) < limit) return;
  throw new Refusal(
    "limit",
    "mailbox_full",
    `${limit} of your messages to this recipient are unread, which is the limit. Continue without an answer, and send the rest when some have been read.`,
    { retryAfterMs: 60_000 },
  );
}

interface Exchange {
  sender: Sender;
  recipient: Recipient;
  replied: MessageRow | undefined;
  isAnswer: boolean;
}

async function draftOf(
  work: Work,
  exchange: Exchange,
  id: string,
  mail: NewMessage,
): Promise<MessageDraft> {
  const { sender, replied } = exchange;
  const from = sender.session
    ? await sessionSide(work.tx, sender.session, sender.run.thread)
    : await userSide(work.tx, sender.ownerId);
  const to = await recipientSide(work, exchange);
  const { contextSessionId: about } = mail;
  return {
    id,
    orgId: sender.orgId,
    from,
    to,
    type: mail.messageType ?? "message",
    content: mail.content,
    replyTo: replied,
    contextSessionId: about === undefined ? null : resolveSessionId(about, sender.ownerId),
    contextTaskId: mail.contextTaskId ?? null,
    contextRef: mail.contextRef ?? null,
    hops: await hopsFor(work, exchange, from, to),
  };
}

function recipientSide(work: Work, exchange: Exchange): Promise<MessageSide> {
  const { recipient } = exchange;
  if (recipient.kind === "user") return userSide(work.tx, recipient.user.id);
  return sessionSide(work.tx, recipient.session.row, threadFor(exchange));
}

/**
 * A reply goes to the thread of the answered message; a guest's new message goes to the guest's own
 * thread.
 */
function threadFor({ sender, recipient, replied, isAnswer }: Exchange): string {
  if (recipient.kind === "user") return MAIN_THREAD;
  if (isAnswer && replied?.from_thread) return replied.from_thread;
  const { owner_id: ownerId } = recipient.session.row;
  return sender.ownerId === ownerId ? MAIN_THREAD : guestThread(sender.ownerId);
}

/**
 * A person starts at zero hops, and so does an agent whose owner asks it to reply. Any other sender
 * continues from the message it answers and from those its turn was given.
 */
async function hopsFor(
  work: Work,
  { sender, replied }: Exchange,
  from: MessageSide,
  to: MessageSide,
): Promise<number> {
  if (!sender.run) return 0;
  const { prompt_id: promptId } = sender.run;
  const delivered = await listByPrompt(work.tx, promptId);
  const isAsked = replied && (await findPrompt(work.tx, promptId))?.author_kind === "user";
  return countHops(
    replied && !isAsked ? [...delivered, replied] : delivered,
    from.ownerId,
    to.ownerId,
  );
}

export interface PersonMessage extends Omit<NewMessage, "messageType"> {
  messageType?: MessageType | undefined;
}

export function sendAsPerson(
  engine: Engine,
  user: UserPrincipal,
  mail: PersonMessage,
  idempotency?: IdempotentRequest,
): Promise<MessageRow> {
  const id = engine.ids.mint("msg");
  const sender = personSender(user);
  return command(engine, async (work) => {
    await work.sessionsWithParents(await listSessionsToLock(work.tx, sender, mail));
    const repeated = await findRepeated(work, principalKey(user), idempotency, id);
    if (repeated === undefined) await sendMessage(work, sender, id, mail as NewMessage);
    const message = await findMessage(work.tx, repeated ?? id);
    if (!message) throw notFound("message");
    return message;
  });
}
