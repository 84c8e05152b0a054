/** Letters that people send over HTTP, and the letters that were sent to their sessions. */
import * as z from "zod";
import { notFound } from "#base/refusal.ts";
import { decodeCursor, pageOf } from "#engine/cursor.ts";
import {
  type Action,
  command,
  defineRoute,
  may,
  type Principal,
  type Route,
  requireMay,
  type SessionRow,
  sessionThing,
} from "#engine/index.ts";
import { findSession, promptView } from "#engine/sessions/index.ts";
import { requireUser, type UserPrincipal } from "#features/policy/index.ts";
import { pageOf as pageSchema } from "#protocol/page.ts";
import { promptSchema } from "#protocol/sessions.ts";
import { failLetter, listSessionLetters, listWaiting } from "./agent-queries.ts";
import {
  changedSchema,
  emitSchema,
  letterSchema,
  newLetterSchema,
  sessionLettersQuery,
} from "./contract.ts";
import { hintOwners, retell, takeable } from "./deliver.ts";
import { letThrough } from "./let-through.ts";
import { sendAsPerson } from "./send-letter.ts";
import { mailOf } from "./tools.ts";
import { letterView } from "./views.ts";

const TAG = "Mailbox";
const LETTERS = "letters:session";
const one = z.object({ letter: letterSchema });
const nothing = z.strictObject({});

function writerOf(principal: Principal): UserPrincipal {
  requireMay(principal, "mail.write");
  return requireUser(principal);
}

const sending: readonly Route[] = [
  defineRoute({
    method: "post",
    path: "/api/messages",
    summary: "Write a letter: to a session, an agent by its @handle, or a person",
    tag: TAG,
    body: newLetterSchema,
    response: one,
    status: 201,
    takesIdempotencyKey: true,
    async handle({ engine, principal, body, idempotency }) {
      const person = writerOf(principal);
      return { letter: letterView(await sendAsPerson(engine, person, body, idempotency), person) };
    },
  }),
  defineRoute({
    method: "post",
    path: "/api/notifications/emit",
    summary: "The same, as a notification; exactly one field says to whom",
    tag: TAG,
    body: emitSchema,
    response: one,
    status: 201,
    takesIdempotencyKey: true,
    async handle({ engine, principal, body, idempotency }) {
      const person = writerOf(principal);
      const letter = await sendAsPerson(engine, person, mailOf(body), idempotency);
      return { letter: letterView(letter, person) };
    },
  }),
];

const lettingThrough = defineRoute({
  method: "post",
  path: "/api/messages/{id}/let-through",
  summary: "Have your agent work on somebody else's request as an ordinary turn",
  tag: TAG,
  body: nothing,
  response: z.object({ prompt: promptSchema }),
  status: 202,
  async handle({ engine, principal, params }) {
    const person = writerOf(principal);
    const ids = { promptId: engine.ids.mint("pmt"), runId: engine.ids.mint("run") };
    const prompt = await command(engine, (work) => letThrough(work, person, params.id ?? "", ids));
    return { prompt: promptView(prompt) };
  },
});

/** Its person's; nobody else's is there. */
function requireOwn(
  principal: Principal,
  action: Action,
  session: SessionRow | undefined,
): asserts session is SessionRow {
  const isOwn = principal.kind === "user" && session?.owner_id === principal.userId;
  if (!session || !isOwn || !may(principal, action, sessionThing(session)))
    throw notFound("session");
}

/** Both names for the same. */
function sessionRoutes(name: "messages" | "notifications"): Route[] {
  const path = `/api/sessions/{id}/${name}`;
  return [
    defineRoute({
      method: "get",
      path,
      summary: "The letters that a session's agent has not read, or all, the newest first",
      tag: TAG,
      query: sessionLettersQuery,
      response: pageSchema(letterSchema),
      async handle({ engine, principal, params, query }) {
        const { all = false, limit, cursor } = query;
        const before = decodeCursor(LETTERS, cursor);
        return engine.store.read(async (reader) => {
          const session = await findSession(reader, params.id ?? "");
          requireOwn(principal, "mail.read", session);
          const filter = { sessionId: session.id, unreadOnly: !all, before, limit: limit + 1 };
          const rows = await listSessionLetters(reader, filter);
          return pageOf(
            LETTERS,
            rows,
            limit,
            ({ created_at: at, id }) => ({ at, id }),
            (row) => letterView(row, requireUser(principal)),
          );
        });
      },
    }),
    defineRoute({
      method: "put",
      path: `${path}/read`,
      summary: "Mark as read what a session's agent was not told yet; it is not told any more",
      tag: TAG,
      body: nothing,
      response: changedSchema,
      async handle({ engine, principal, params }) {
        return command(engine, async (work) => {
          const session = await work.family(params.id ?? "");
          requireOwn(principal, "mail.write", session?.row);
          if (!session) throw notFound("session");
          const letters = await takeable(work, await listWaiting(work.tx, session.row.id));
          for (const { id } of letters) await failLetter(work.tx, id, "read_by_owner", work.now);
          await retell(work, session, letters);
          hintOwners(work, letters);
          return { changed: letters.length };
        });
      },
    }),
  ];
}

export const sendRoutes: readonly Route[] = [
  ...sending,
  lettingThrough,
  ...sessionRoutes("messages"),
  ...sessionRoutes("notifications"),
];
