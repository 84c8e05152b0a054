/** Routes of a person's inbox, under both of its names. Everybody reaches only their own. */
import {
  command,
  type Person,
  type Principal,
  type Route,
  requireMay,
  serve,
} from "#engine/index.ts";
import { requireUser } from "#features/policy/index.ts";
import { mailboxApi, NON_ACTIONABLE } from "../contract.ts";
import { readUnread } from "../queries.ts";
import { sendAsPerson } from "../sending/send-message.ts";
import { messageView } from "../views.ts";
import { changeMessage, markMessagesRead, readAll } from "./change-message.ts";
import { changeContacts, readContacts } from "./contacts.ts";
import { inboxApi, notificationsApi } from "./contract.ts";
import { listFolder, readThread, requireMessage } from "./inbox.ts";
import { changePreference, readPreferences } from "./preferences.ts";

export function personOf(principal: Principal, action: "mail.read" | "mail.write"): Person {
  requireMay(principal, action);
  const { orgId, userId } = requireUser(principal);
  return { orgId, userId };
}

type InboxApi = typeof inboxApi | typeof notificationsApi;

/** Paths with fixed segments come before paths with parameters. */
function readingRoutes(api: InboxApi): Route[] {
  return [
    serve(api.list, ({ engine, principal, query }) =>
      listFolder(engine, personOf(principal, "mail.read"), query),
    ),
    serve(api.count, async ({ engine, principal }) => {
      const person = personOf(principal, "mail.read");
      return { count: await engine.store.read((reader) => readUnread(reader, person)) };
    }),
    serve(api.thread, ({ engine, principal, params, query }) =>
      readThread(engine, personOf(principal, "mail.read"), params.threadId, query),
    ),
    serve(api.get, async ({ engine, principal, params }) => {
      const person = personOf(principal, "mail.read");
      const row = await engine.store.read((reader) => requireMessage(reader, person, params.id));
      return { message: messageView(row, person) };
    }),
  ];
}

function changingRoutes(api: InboxApi): Route[] {
  return [
    serve(api.readAll, async ({ engine, principal }) => {
      return { changed: await readAll(engine, personOf(principal, "mail.write")) };
    }),
    serve(api.readNonActionable, async ({ engine, principal }) => {
      const person = personOf(principal, "mail.write");
      return { changed: await readAll(engine, person, NON_ACTIONABLE) };
    }),
    serve(api.read, async ({ engine, principal, params }) => {
      const person = personOf(principal, "mail.write");
      const row = await command(engine, (work) =>
        changeMessage(work, person, params.id, { read: true }),
      );
      return { message: messageView(row, person) };
    }),
    serve(api.reply, async ({ engine, principal, params, body, idempotency }) => {
      const person = personOf(principal, "mail.write");
      const mail = { content: body.content, replyToId: params.id };
      const row = await sendAsPerson(engine, requireUser(principal), mail, idempotency);
      await command(engine, (work) => markMessagesRead(work, person, [mail.replyToId]));
      return { message: messageView(row, person) };
    }),
    serve(api.update, async ({ engine, principal, params, body }) => {
      const person = personOf(principal, "mail.write");
      const row = await command(engine, (work) => changeMessage(work, person, params.id, body));
      return { message: messageView(row, person) };
    }),
  ];
}

const settingRoutes: readonly Route[] = [
  serve(mailboxApi.preferences, ({ engine, principal }) =>
    readPreferences(engine, personOf(principal, "mail.read")),
  ),
  serve(mailboxApi.setPreference, ({ engine, principal, body }) =>
    changePreference(engine, personOf(principal, "mail.write"), body),
  ),
  serve(mailboxApi.contacts, ({ engine, principal }) =>
    readContacts(engine, personOf(principal, "mail.read")),
  ),
  serve(mailboxApi.setContacts, async ({ engine, principal, body }) => {
    // The same permission as for the mail rule: people on the list can start turns of the agent.
    requireMay(principal, "session.manage");
    return changeContacts(engine, personOf(principal, "mail.write"), body.userIds);
  }),
];

export const inboxRoutes: readonly Route[] = [
  ...[inboxApi, notificationsApi].flatMap((api) => [...readingRoutes(api), ...changingRoutes(api)]),
  ...settingRoutes,
];
