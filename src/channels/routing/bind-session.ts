/** Binds a new session to the web, and to the conversation that it was created for. */
import { Refusal } from "#base/refusal.ts";
import type { Listener, SessionRow, Work } from "#engine/index.ts";
import { saveBinding } from "./queries.ts";
import { channelTypeOf, isScopeOf, webScopeKey } from "./scope-keys.ts";

export const bindNewSession: Listener = async (work, event) => {
  if (event.type !== "session_created") return;
  const { row } = event.session;
  const { owner_id: userId, scope_key } = row;
  if (userId === null) return;
  await bind(work, row, userId, webScopeKey(userId, row.id));
  if (scope_key === null) return;
  if (!isScopeOf(userId, scope_key)) throw foreignScope(userId);
  await bind(work, row, userId, scope_key);
};

function foreignScope(userId: string): Refusal {
  return new Refusal(
    "forbidden",
    "scope_not_yours",
    `A scope key names one of your conversations: it starts with user:${userId}:, followed by the channel and the place. Leave scopeKey out, or use one of your own.`,
  );
}

function bind(
  work: Work,
  { id, org_id }: SessionRow,
  userId: string,
  scopeKey: string,
): Promise<number> {
  return saveBinding(work.tx, {
    id: work.ids.mint("bnd"),
    org_id,
    session_id: id,
    channel_type: channelTypeOf(scopeKey),
    channel_id: scopeKey,
    scope_key: scopeKey,
    user_id: userId,
    queue_mode: null,
    created_at: work.now,
  });
}
