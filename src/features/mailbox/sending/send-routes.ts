/** Routes for messages that people send, and for messages to their sessions. */
import { notFound } from "#base/refusal.ts";
import {
  type Action,
  command,
  may,
  type Principal,
  type Route,
  requireMay,
  type SessionRow,
  serve,
  sessionResource,
} from "#engine/index.ts";
import { decodeCursor, pageOf } from "#engine/requests/index.ts";
import { findSession, promptView } from "#engine/sessions/index.ts";
import { requireUser, type UserPrincipal } from "#features/policy/index.ts";
import { failMessage, listSessionMessages, listWaiting } from "../agents/agent-queries.ts";
import { hintOwners, refreshPrompts, withdrawable } from "../agents/deliver.ts";
import { mailboxApi, sessionMessagesApi, sessionNotificationsApi } from "../contract.ts";
import { toNewMessage } from "../tools.ts";
import { messageView } from "../views.ts";
import { letThrough } from "./let-through.ts";
import { sendAsPerson } from "./send-message.ts";

const MESSAGES = "messages:session";

function requireWriter(principal: Principal): UserPrincipal {
  requireMay(principal, "mail.write");
  return requireUser(principal);
}

const sendingRoutes: readonly Route[] = [
  serve(mailboxApi.send, async ({ engine, principal, body, idempotency }) => {
    const person = requireWriter(principal);
    return { message: messageView(await sendAsPerson(engine, person, body, idempotency), person) };
  }),
  serve(mailboxApi.emit, async ({ engine, principal, body, idempotency }) => {
    const person = requireWriter(principal);
    const message = await sendAsPerson(engine, person, toNewMessage(body), idempotency);
    return { message: messageView(message, person) };
  }),
  serve(mailboxApi.letThrough, async ({ engine, principal, params }) => {
    const person = requireWriter(principal);
    const ids = { promptId: engine.ids.mint("pmt"), runId: engine.ids.mint("run") };
    const prompt = await command(engine, (work) => letThrough(work, person, params.id, ids));
    return { prompt: promptView(prompt) };
  }),
];

/** Requires a session of the caller; any other counts as not found. */
function requireOwn(
  principal: Principal,
  action: Action,
  session: SessionRow | undefined,
): asserts session is SessionRow {
  const isOwn = principal.kind === "user" && session?.owner_id === principal.userId;
  if (!session || !isOwn || !may(principal, action, sessionResource(session)))
    throw notFound("session");
}

function sessionRoutes(api: typeof sessionMessagesApi | typeof sessionNotificationsApi): Route[] {
  return [
    serve(api.list, async ({ engine, principal, params, query }) => {
      const { all = false, limit, cursor } = query;
      const before = decodeCursor(MESSAGES, cursor);
      return engine.store.read(async (reader) => {
        const session = await findSession(reader, params.id);
        requireOwn(principal, "mail.read", session);
        const filter = { sessionId: session.id, unreadOnly: !all, before, limit: limit + 1 };
        const rows = await listSessionMessages(reader, filter);
        return pageOf(
          MESSAGES,
          rows,
          limit,
          ({ created_at: at, id }) => ({ at, id }),
          (row) => messageView(row, requireUser(principal)),
        );
      });
    }),
    serve(api.readAll, async ({ engine, principal, params }) => {
      return command(engine, async (work) => {
        const session = await work.sessionWithParent(params.id);
        requireOwn(principal, "mail.write", session?.row);
        if (!session) throw notFound("session");
        const messages = await withdrawable(work, await listWaiting(work.tx, session.row.id));
        for (const { id } of messages) await failMessage(work.tx, id, "read_by_owner", work.now);
        await refreshPrompts(work, session, messages);
        hintOwners(work, messages);
        return { changed: messages.length };
      });
    }),
  ];
}

export const sendRoutes: readonly Route[] = [
  ...sendingRoutes,
  ...sessionRoutes(sessionMessagesApi),
  ...sessionRoutes(sessionNotificationsApi),
];
