/**
 * Routes a prompt that names no session: to the session that its conversation is bound to, if its sender may
 * prompt that one, otherwise to the sender's own orchestrator. Finding the session, starting it and admitting
 * the prompt are one command, so an accepted prompt always has a session.
 */
import {
  command,
  type Engine,
  findRepeated,
  type IdempotentRequest,
  may,
  principalKey,
  type SessionWriter,
  sessionResource,
  type Work,
} from "#engine/index.ts";
import { admitFrom, findPrompt, findSession, promptView } from "#engine/sessions/index.ts";
import type { UserPrincipal } from "#features/auth/index.ts";
import { ensureRunning } from "#features/orchestrators/index.ts";
import type { Origin, Prompt, QueueMode } from "#protocol/sessions.ts";
import { MAIN_THREAD } from "#protocol/sessions.ts";
import type { RoutedPrompt } from "./contract.ts";
import { findBinding } from "./queries.ts";
import { scopeKeyOf, threadOf, webScopeKey } from "./scope-keys.ts";

export async function routePrompt(
  engine: Engine,
  sender: UserPrincipal,
  request: RoutedPrompt,
  idempotent: IdempotentRequest | undefined,
): Promise<Prompt> {
  const ids = { id: engine.ids.mint("pmt"), runId: engine.ids.mint("run") };
  const { content, mode } = request;
  const scopeKey = scopeKeyOf(sender.userId, request);
  const row = await command(engine, async (work) => {
    const repeated = await findRepeated(work, principalKey(sender), idempotent, ids.id);
    const earlier = repeated === undefined ? undefined : await findPrompt(work.tx, repeated);
    if (earlier) return earlier;
    const { session, queueMode, thread } = await destination(work, sender, scopeKey);
    const { prompt } = await admitFrom(work, session, sender, {
      ...ids,
      content,
      thread,
      mode: mode ?? queueMode,
      attachments: [],
      origin: originOf(sender, request, scopeKey),
    });
    return prompt;
  });
  return promptView(row);
}

interface Destination {
  session: SessionWriter;
  queueMode: QueueMode | undefined;
  thread: string;
}

async function destination(
  work: Work,
  sender: UserPrincipal,
  scopeKey: string | null,
): Promise<Destination> {
  const bound = scopeKey === null ? undefined : await boundSession(work, sender, scopeKey);
  if (bound) return bound;
  const { session } = await ensureRunning(work, sender);
  // Each conversation with the orchestrator has its own thread, and threads run side by side.
  const thread = (scopeKey === null ? null : threadOf(scopeKey)) ?? MAIN_THREAD;
  return { session, queueMode: undefined, thread };
}

async function boundSession(
  work: Work,
  sender: UserPrincipal,
  scopeKey: string,
): Promise<Destination | undefined> {
  const binding = await findBinding(work.tx, sender.orgId, scopeKey);
  // Read before it is locked: the alternative may need the organisation's lock, which comes first.
  const row = binding && (await findSession(work.tx, binding.session_id));
  if (!row || !may(sender, "session.prompt", sessionResource(row))) return undefined;
  const isOver = row.lifecycle === "archived" || row.lifecycle === "terminated";
  // A sender who names an ended session by its own key gets a refusal; a conversation elsewhere continues
  // with the orchestrator.
  if (isOver && scopeKey !== webScopeKey(sender.userId, row.id)) return undefined;
  const session = await work.sessionWithParent(row.id);
  const queueMode = binding.queue_mode ?? undefined;
  return session && { session, queueMode, thread: MAIN_THREAD };
}

/**
 * Origin as the sender states it, for people to read. Replies go to a reference that only a channel itself
 * can give, never to an address in the request.
 */
function originOf(sender: UserPrincipal, request: RoutedPrompt, scopeKey: string | null): Origin {
  const { channelType = sender.channel, channelId = null, metadata } = request;
  return { channelType, channelId, scopeKey, replyRef: null, ...(metadata ? { metadata } : {}) };
}
