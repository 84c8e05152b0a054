/** Resolves and locks the recipient of a message from the server's rows, or refuses. */

import { Refusal } from "#base/refusal.ts";
import type { Reader } from "#base/store/index.ts";
import { may, type RunRow, type SessionRow, type SessionWriter, type Work } from "#engine/index.ts";
import { findSession } from "#engine/sessions/index.ts";
import { roleOf } from "#engine/tools/index.ts";
import {
  findUser,
  isActiveMember,
  type PersonRow,
  type UserPrincipal,
} from "#features/auth/index.ts";
import { inQuotes } from "#features/delegation/index.ts";
import { findIdentity } from "#features/orchestrators/index.ts";
import { isOrchestrator } from "#protocol/sessions.ts";
import { isContact } from "../inbox/preference-queries.ts";
import { findMessage } from "../queries.ts";
import type { MessageRow } from "../schema.ts";
import {
  type Address,
  type AddressScope,
  recipientNotFound,
  requireResolved,
  resolveAddress,
} from "./resolve-address.ts";
import { acceptsMail, type RecipientFacts, reachOf, type SenderFacts } from "./rules.ts";

export type Sender = AddressScope &
  /**
   * `mayPrompt`: may write to their own agents, which treat a message like a prompt. `mayAnswer`:
   * may decide their agents' questions.
   */
  (
    | { session: null; ownerId: string; run: null; mayPrompt: boolean; mayAnswer: boolean }
    /** `run`: turn that sends the message. */
    | { session: SessionRow; run: Pick<RunRow, "thread" | "prompt_id"> }
  );

export type Recipient =
  | { kind: "user"; user: PersonRow }
  | { kind: "session"; session: SessionWriter };

export function personSender(user: UserPrincipal): Sender {
  const { orgId, userId: ownerId } = user;
  const mayPrompt = may(user, "session.prompt", { orgId, ownerId });
  const mayAnswer = may(user, "approval.decide", { orgId, ownerId });
  return { orgId, ownerId, session: null, run: null, mayPrompt, mayAnswer };
}

export function agentSender(row: SessionRow, run: Pick<RunRow, "thread" | "prompt_id">): Sender {
  return { orgId: row.org_id, ownerId: row.owner_id, session: row, run };
}

/** Recipient by name or by the message that is answered. */
export interface RecipientRef {
  to?: string | undefined;
  replyToId?: string | undefined;
}

/** Session to lock before anything is decided; empty if the recipient is a person or unknown. */
export async function listSessionsToLock(
  reader: Reader,
  scope: AddressScope,
  aim: RecipientRef,
): Promise<string[]> {
  const id = await findTargetSession(reader, scope, aim);
  const row = id === null ? undefined : await findSession(reader, id);
  return row?.org_id === scope.orgId ? [row.id] : [];
}

async function findTargetSession(
  reader: Reader,
  scope: AddressScope,
  { to, replyToId }: RecipientRef,
): Promise<string | null> {
  if (to !== undefined) {
    const resolved = await resolveAddress(reader, scope, to);
    return resolved.kind === "session" ? resolved.id : null;
  }
  const replied = replyToId === undefined ? undefined : await findMessage(reader, replyToId);
  return replied?.from_session_id ?? null;
}

/** Requires a message sent to the sender itself; messages to others give no right to reply. */
export async function requireAnswerable(
  reader: Reader,
  { orgId, ownerId, session }: Sender,
  id: string,
): Promise<MessageRow> {
  const message = await findMessage(reader, id);
  const isMine = session
    ? message?.to_session_id === session.id && message.fate !== "failed"
    : message?.to_user_id === ownerId;
  if (!message || message.org_id !== orgId || !isMine) {
    throw new Refusal(
      "not_found",
      "message_not_found",
      `No message ${JSON.stringify(id)} was sent to you. Use the id of a message you received, or omit replyToId and give a recipient.`,
    );
  }
  return message;
}

export async function requireAddress(
  reader: Reader,
  sender: Sender,
  { to }: RecipientRef,
  replied: MessageRow | undefined,
): Promise<Address> {
  if (to !== undefined) return requireResolved(reader, sender, to);
  if (!replied) throw recipientNotFound("");
  const { from_session_id, from_user_id } = replied;
  return from_session_id === null
    ? { kind: "user", id: from_user_id ?? "" }
    : { kind: "session", id: from_session_id };
}

/** True if the address is the sender of the answered message. */
export function isAnswerTo({ kind, id }: Address, replied: MessageRow | undefined): boolean {
  return (kind === "session" ? replied?.from_session_id : replied?.from_user_id) === id;
}

export async function requireRecipient(
  work: Work,
  sender: Sender,
  address: Address,
  { called, isAnswer }: { called: string; isAnswer: boolean },
): Promise<Recipient> {
  const found = await findRecipient(work, sender, address);
  if (!found || !(await mayReach(work.tx, sender, found))) throw recipientNotFound(called);
  if (found.kind === "session") refuseSelf(sender, found.session.row);
  // Replies to a sender are always allowed.
  const reach = isAnswer
    ? "free"
    : reachOf(await senderFacts(work.tx, sender), recipientFacts(found));
  if (reach === "none") throw recipientNotFound(called);
  if (found.kind === "session") {
    if (reach === "consent") await requireConsent(work.tx, sender, found.session.row);
    refuseEnded(found.session.row);
  }
  return found;
}

async function findRecipient(
  work: Work,
  { orgId, ownerId }: Sender,
  { kind, id }: Address,
): Promise<Recipient | undefined> {
  if (kind === "user") {
    const user = await findUser(work.tx, id);
    return user && user.org_id === orgId && isActiveMember(user) ? { kind, user } : undefined;
  }
  const session = await work.sessionWithParent(id);
  if (session?.row.org_id !== orgId) return undefined;
  // A session whose owner left counts as not found.
  const { owner_id: recipientOwnerId } = session.row;
  const user =
    recipientOwnerId === null || recipientOwnerId === ownerId
      ? undefined
      : await findUser(work.tx, recipientOwnerId);
  return user && !isActiveMember(user) ? undefined : { kind, session };
}

/** Agents of an owner who left may write to each other, and to nobody else. */
async function mayReach(
  reader: Reader,
  { session, ownerId }: Sender,
  to: Recipient,
): Promise<boolean> {
  const recipientOwnerId = to.kind === "user" ? to.user.id : to.session.row.owner_id;
  if (session === null || ownerId === null || recipientOwnerId === ownerId) return true;
  const owner = await findUser(reader, ownerId);
  return owner !== undefined && isActiveMember(owner);
}

async function senderFacts(
  reader: Reader,
  { session: row, ownerId }: Sender,
): Promise<SenderFacts> {
  if (row === null) return { kind: "user", id: ownerId ?? "" };
  const { id, parent_session_id: parentId } = row;
  const parent = parentId === null ? undefined : await findSession(reader, parentId);
  const hasOrchestrator = parent !== undefined && isOrchestrator(parent);
  return { kind: "session", id, ownerId, role: roleOf(row), parentId, hasOrchestrator };
}

function recipientFacts(recipient: Recipient): RecipientFacts {
  if (recipient.kind === "user") return { kind: "user", id: recipient.user.id };
  const { id, owner_id: ownerId, parent_session_id: parentId, kind } = recipient.session.row;
  return { kind: "session", id, ownerId, parentId, isOrchestrator: isOrchestrator({ kind }) };
}

function refuseSelf({ session }: Sender, { id }: SessionRow): void {
  if (session?.id !== id) return;
  throw new Refusal(
    "conflict",
    "recipient_self",
    "This is your own session. Choose another recipient.",
  );
}

/** Every refused sender gets the same text. It may confirm the handle, since handles are public. */
async function requireConsent(
  reader: Reader,
  { orgId, ownerId: senderId }: Sender,
  { owner_id: ownerId }: SessionRow,
): Promise<void> {
  const person = { orgId, userId: ownerId ?? "" };
  const identity = await findIdentity(reader, person);
  const rule = identity?.accepts_agent_mail ?? "none";
  const isListed = senderId !== null && (await isContact(reader, person, senderId));
  if (acceptsMail({ rule, isFromOrg: senderId === null, isListed })) return;
  const name = (await findUser(reader, person.userId))?.name ?? person.userId;
  throw new Refusal(
    "forbidden",
    "mail_not_accepted",
    `This agent does not accept your messages. Write to its owner instead: ${inQuotes(`@user:${name}`)}, or ${person.userId}.`,
  );
}

/** Refuses an ended session, except an orchestrator, which can always come back. */
function refuseEnded({ id, lifecycle, kind }: SessionRow): void {
  if (lifecycle !== "terminated" || isOrchestrator({ kind })) return;
  throw new Refusal(
    "conflict",
    "recipient_ended",
    `Session ${id} has ended and reads no more messages. Write to its parent or to its owner.`,
  );
}
