/**
 * Lets a guest's request through: the owner has their agent work on it in an ordinary turn, with
 * the agent's own rights. The prompt belongs to the owner and names sender and recipient of the
 * request. A request is let through once, and its message shows the time; a second click returns
 * the first prompt.
 */
import { notFound, Refusal } from "#base/refusal.ts";
import { quoteLines } from "#base/text/clean-text.ts";
import { may, type PromptRow, sessionResource, type Work } from "#engine/index.ts";
import { admitPrompt } from "#engine/sessions/index.ts";
import { inQuotes } from "#features/delegation/index.ts";
import type { UserPrincipal } from "#features/policy/index.ts";
import { MAIN_THREAD } from "#protocol/sessions.ts";
import { isGuestMessage } from "../agents/guest.ts";
import { findMessage, saveLetThrough } from "../queries.ts";
import type { MessageRow } from "../schema.ts";
import { hintMessage } from "./write-message.ts";

export async function letThrough(
  work: Work,
  person: UserPrincipal,
  messageId: string,
  { promptId, runId }: { promptId: string; runId: string },
): Promise<PromptRow> {
  const message = await requireReceived(work, person, messageId);
  if (message.to_session_id === null || !isGuestMessage(message)) throw notARequest();
  const session = await work.sessionWithParent(message.to_session_id);
  if (!session || !may(person, "session.prompt", sessionResource(session.row)))
    throw notFound("message");
  const { prompt, repeated } = await admitPrompt(work, session, {
    id: promptId,
    runId,
    content: requestText(message),
    thread: MAIN_THREAD,
    mode: "followup",
    author: { kind: "user", id: person.userId, name: person.name },
    origin: { channelType: "mail", channelId: null, scopeKey: null, replyRef: message.id },
    createdBy: `user:${person.userId}`,
    dispatchId: null,
    causeKey: `let_through:${message.id}`,
    attachments: [],
    runOptions: null,
  });
  await saveLetThrough(work.tx, message.id, work.now);
  hintMessage(work, person.userId, message.id);
  if (!repeated)
    await work.reportChange({
      orgId: person.orgId,
      by: `user:${person.userId}`,
      area: "guest_request",
      action: "let_through",
      subjectId: message.id,
      session: session.row,
    });
  return prompt;
}

/** A missing message and one to somebody else get the same error. */
async function requireReceived(
  work: Work,
  { orgId, userId }: UserPrincipal,
  id: string,
): Promise<MessageRow> {
  const message = await findMessage(work.tx, id);
  if (message?.org_id !== orgId || message.to_owner_id !== userId) throw notFound("message");
  return message;
}

function notARequest(): Refusal {
  return new Refusal(
    "conflict",
    "not_a_guest_request",
    "Only a message from another person or their agent to one of your agents can be let through. Write to your agent yourself instead.",
  );
}

/** Names and content written by somebody else are quoted. */
function requestText(message: MessageRow): string {
  return [
    "[request] Your person let this request from somebody else through. Work on it as if your person had sent it, with your usual permissions.",
    `From: ${nameOf(message.from_name, message.from_handle)}\nTo: ${nameOf(message.to_name, message.to_handle)}`,
    quoteLines(message.content),
    `To reply, call mailbox_send with replyToId ${message.id}.`,
  ].join("\n\n");
}

function nameOf(name: string, handle: string | null): string {
  return handle === null ? inQuotes(name) : `@${handle} (${inQuotes(name)})`;
}
