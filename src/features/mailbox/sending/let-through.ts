/**
 * Lets a guest's request through: the owner has their agent work on it in an ordinary turn, with
 * the agent's own rights. The prompt belongs to the owner and names sender and recipient of the
 * request. A request is let through once, and its message shows the time; a second click returns
 * the first prompt.
 */
import { notFound, Refusal } from "#base/refusal.ts";
import { quoteLines } from "#base/text/clean-text.ts";
import { may, type PromptRow, sessionThing, type Work } from "#engine/index.ts";
import { admitPrompt } from "#engine/sessions/index.ts";
import { inQuotes } from "#features/delegation/index.ts";
import type { UserPrincipal } from "#features/policy/index.ts";
import { MAIN_THREAD } from "#protocol/sessions.ts";
import { isGuestLetter } from "../agents/guest.ts";
import { findLetter, saveLetThrough } from "../queries.ts";
import type { LetterRow } from "../schema.ts";
import { hintLetter } from "./write-letter.ts";

export async function letThrough(
  work: Work,
  person: UserPrincipal,
  letterId: string,
  { promptId, runId }: { promptId: string; runId: string },
): Promise<PromptRow> {
  const letter = await requireReceived(work, person, letterId);
  if (letter.to_session_id === null || !isGuestLetter(letter)) throw notARequest();
  const session = await work.family(letter.to_session_id);
  if (!session || !may(person, "session.prompt", sessionThing(session.row)))
    throw notFound("letter");
  const { prompt, repeated } = await admitPrompt(work, session, {
    id: promptId,
    runId,
    content: requestText(letter),
    thread: MAIN_THREAD,
    mode: "followup",
    author: { kind: "user", id: person.userId, name: person.name },
    origin: { channelType: "mail", channelId: null, scopeKey: null, replyRef: letter.id },
    createdBy: `user:${person.userId}`,
    dispatchId: null,
    causeKey: `let_through:${letter.id}`,
    attachments: [],
    runOptions: null,
  });
  await saveLetThrough(work.tx, letter.id, work.now);
  hintLetter(work, person.userId, letter.id);
  if (!repeated)
    await work.tell({
      orgId: person.orgId,
      by: `user:${person.userId}`,
      area: "guest_request",
      action: "let_through",
      subjectId: letter.id,
      session: session.row,
    });
  return prompt;
}

/** A missing message and one to somebody else get the same error. */
async function requireReceived(
  work: Work,
  { orgId, userId }: UserPrincipal,
  id: string,
): Promise<LetterRow> {
  const letter = await findLetter(work.tx, id);
  if (letter?.org_id !== orgId || letter.to_owner_id !== userId) throw notFound("letter");
  return letter;
}

function notARequest(): Refusal {
  return new Refusal(
    "conflict",
    "not_a_guest_request",
    "Only a letter from outside to one of your agents can be let through. Write to your agent yourself instead.",
  );
}

/** Names and content written by somebody else are quoted. */
function requestText(letter: LetterRow): string {
  return [
    "[request] Your person lets this request of somebody else through. Work on it as if your person had asked for it, within your usual rights.",
    `From: ${nameOf(letter.from_name, letter.from_handle)}\nTo: ${nameOf(letter.to_name, letter.to_handle)}`,
    quoteLines(letter.content),
    `To answer, call mailbox_send with replyToId ${letter.id}.`,
  ].join("\n\n");
}

function nameOf(name: string, handle: string | null): string {
  return handle === null ? inQuotes(name) : `@${handle} (${inQuotes(name)})`;
}
