/**
 * Guest turns: turns that another person's message started. A guest is neither the agent's owner
 * nor one of the owner's sessions. In a guest turn the agent may look at states and reply, and do
 * nothing else, however the model reads the message. The server's rows decide which turns are guest
 * turns.
 */

import type { Reader } from "#base/store/index.ts";
import type { RunRow, SessionRow } from "#engine/index.ts";
import type { CallToJudge, Judge } from "#engine/tools/index.ts";
import { GUEST_THREAD, isGuestThread } from "#protocol/notices/guests.ts";
import { isOrchestrator } from "#protocol/sessions.ts";
import type { NewMessage } from "../contract.ts";
import { findMessage } from "../queries.ts";
import type { MessageRow } from "../schema.ts";
import { resolveAddress } from "../sending/resolve-address.ts";
import { listByPrompt } from "./agent-queries.ts";

const ORG = "org";

type Owners = Pick<MessageRow, "from_owner_id" | "to_owner_id">;

export function isGuestMessage({ from_owner_id, to_owner_id }: Owners): boolean {
  return from_owner_id !== to_owner_id;
}

/** One key for a person and all their agents. */
export function guestOf(fromOwnerId: string | null): string {
  return fromOwnerId ?? ORG;
}

export function guestThread(fromOwnerId: string | null): string {
  return `${GUEST_THREAD}${guestOf(fromOwnerId)}`;
}

/**
 * Added to a question that the agent asks its owner in a guest turn, so that the owner knows whom
 * the answer may reach.
 */
export const GUEST_NOTE =
  "The agent asks this while it answers somebody else's message; your answer may be passed on to them.";

/** Finds the guest whose message started the turn; undefined for a turn of the owner's side. */
export async function findGuest(
  reader: Reader,
  { kind }: Pick<SessionRow, "kind">,
  { thread, prompt_id }: Pick<RunRow, "thread" | "prompt_id">,
): Promise<string | undefined> {
  // Only orchestrators accept messages from other people's side.
  if (!isOrchestrator({ kind })) return undefined;
  if (isGuestThread(thread)) return thread.slice(GUEST_THREAD.length);
  const message = (await listByPrompt(reader, prompt_id)).find(isGuestMessage);
  return message && guestOf(message.from_owner_id);
}

/**
 * Tools that show states and no content of transcripts, memories or files, which a guest could have
 * repeated to them. An allow list, so that a new tool is not open to guests by default.
 */
const GUEST_TOOLS: ReadonlySet<string> = new Set([
  "ask_user_question",
  "list_personas",
  "list_repos",
  "list_sessions",
  "mailbox_check",
  "my_tasks",
  "task_list",
  "todo",
]);
const MESSAGE_TOOLS: ReadonlySet<string> = new Set(["mailbox_send", "emit_notification"]);

const REASON =
  "guest_turn: This turn answers somebody else's message. You may only look at states (list_sessions, task_list), reply (mailbox_send with replyToId), and ask or write to your own person. If more should be done, tell your person, who can ask you for it in their own conversation.";

export const judgeGuest: Judge = async (work, call) => {
  const { session, run, tool } = call;
  if (GUEST_TOOLS.has(tool)) return undefined;
  const guest = await findGuest(work.tx, session.row, run);
  if (guest === undefined) return undefined;
  const isAllowed = MESSAGE_TOOLS.has(tool) && (await isForGuestOrOwner(work.tx, call, guest));
  return isAllowed ? undefined : { verdict: "deny", reason: REASON };
};

/** True for a reply to the guest, and for a message to the agent's owner. */
async function isForGuestOrOwner(
  reader: Reader,
  { session: { row }, input }: CallToJudge,
  guest: string,
): Promise<boolean> {
  const { replyToId, ...mail } = input as Partial<NewMessage> & Record<string, string | undefined>;
  const { to = mail.toSessionId ?? mail.toUserId, toHandle } = mail;
  // A handle names another agent: neither the owner nor a reply, which needs no name.
  if (toHandle !== undefined) return false;
  const scope = { orgId: row.org_id, ownerId: row.owner_id, session: row };
  const resolved = to === undefined ? undefined : await resolveAddress(reader, scope, to);
  if (resolved?.kind === "user" && resolved.id === row.owner_id) return true;
  if (replyToId === undefined) return false;
  const message = await findMessage(reader, replyToId);
  if (message?.to_session_id !== row.id || guestOf(message.from_owner_id) !== guest) return false;
  if (!isGuestMessage(message)) return false;
  if (resolved === undefined) return true;
  const { from_session_id, from_user_id } = message;
  return "id" in resolved && (resolved.id === from_session_id || resolved.id === from_user_id);
}
