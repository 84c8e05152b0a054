/** A person's inbox over HTTP, by both of its names: everybody has their own, and nobody else's. */
import * as z from "zod";
import {
  command,
  defineRoute,
  type Person,
  type Principal,
  type Route,
  requireMay,
} from "#engine/index.ts";
import { requireUser } from "#features/policy/index.ts";
import { pageOf } from "#protocol/page.ts";
import { changeLetter, readAll, readThese } from "./change-letter.ts";
import { changeContacts, readContacts } from "./contacts.ts";
import {
  changedSchema,
  contactsChangeSchema,
  contactsSchema,
  countSchema,
  inboxQuery,
  letterChangeSchema,
  letterSchema,
  NON_ACTIONABLE,
  preferenceChangeSchema,
  preferencesSchema,
  replySchema,
  threadQuery,
} from "./contract.ts";
import { readBox, readThread, requireLetter } from "./inbox.ts";
import { changePreference, readPreferences } from "./preferences.ts";
import { readUnread } from "./queries.ts";
import { sendAsPerson } from "./send-letter.ts";
import { letterView } from "./views.ts";

const TAG = "Inbox";
const one = z.object({ letter: letterSchema });

export function personOf(principal: Principal, action: "mail.read" | "mail.write"): Person {
  requireMay(principal, action);
  const { orgId, userId } = requireUser(principal);
  return { orgId, userId };
}

function lookingRoutes(base: string): Route[] {
  return [
    defineRoute({
      method: "get",
      path: base,
      summary: "Letters to you, the newest first: a box of them, by type, sender and context",
      tag: TAG,
      query: inboxQuery,
      response: pageOf(letterSchema),
      handle: ({ engine, principal, query }) =>
        readBox(engine, personOf(principal, "mail.read"), query),
    }),
    defineRoute({
      method: "get",
      path: `${base}/count`,
      summary: "How many letters in your inbox you have not read",
      tag: TAG,
      response: countSchema,
      async handle({ engine, principal }) {
        const person = personOf(principal, "mail.read");
        return { count: await engine.store.read((reader) => readUnread(reader, person)) };
      },
    }),
    defineRoute({
      method: "get",
      path: `${base.replace(/s$/, "")}-threads/{threadId}`,
      aliases: [`${base}/threads/{threadId}`],
      summary: "An exchange of letters, oldest first; what in it is to you counts as read",
      tag: TAG,
      query: threadQuery,
      response: pageOf(letterSchema),
      handle: ({ engine, principal, params, query }) =>
        readThread(engine, personOf(principal, "mail.read"), params.threadId ?? "", query),
    }),
    defineRoute({
      method: "get",
      path: `${base}/{id}`,
      summary: "A letter that you or your agents wrote or got; it stays unread",
      tag: TAG,
      response: one,
      async handle({ engine, principal, params }) {
        const person = personOf(principal, "mail.read");
        const row = await engine.store.read((reader) =>
          requireLetter(reader, person, params.id ?? ""),
        );
        return { letter: letterView(row, person) };
      },
    }),
  ];
}

function changingRoutes(base: string): Route[] {
  return [
    defineRoute({
      method: "put",
      path: `${base}/read-all`,
      summary: "Mark everything in your inbox as read",
      tag: TAG,
      response: changedSchema,
      async handle({ engine, principal }) {
        return { changed: await readAll(engine, personOf(principal, "mail.write")) };
      },
    }),
    defineRoute({
      method: "put",
      path: `${base}/read-non-actionable`,
      summary: "Mark as read what asks nothing of you: messages and notifications",
      tag: TAG,
      response: changedSchema,
      async handle({ engine, principal }) {
        const person = personOf(principal, "mail.write");
        return { changed: await readAll(engine, person, NON_ACTIONABLE) };
      },
    }),
    defineRoute({
      method: "put",
      path: `${base}/{id}/read`,
      summary: "Mark a letter as read",
      tag: TAG,
      response: one,
      async handle({ engine, principal, params }) {
        const person = personOf(principal, "mail.write");
        const row = await command(engine, (work) =>
          changeLetter(work, person, params.id ?? "", { read: true }),
        );
        return { letter: letterView(row, person) };
      },
    }),
    defineRoute({
      method: "post",
      path: `${base}/{id}/reply`,
      summary: "Answer a letter; it goes to who wrote it, and what it answers counts as read",
      tag: TAG,
      body: replySchema,
      response: one,
      status: 201,
      takesIdempotencyKey: true,
      async handle({ engine, principal, params, body, idempotency }) {
        const person = personOf(principal, "mail.write");
        const mail = { content: body.content, replyToId: params.id ?? "" };
        const row = await sendAsPerson(engine, requireUser(principal), mail, idempotency);
        await command(engine, (work) => readThese(work, person, [mail.replyToId]));
        return { letter: letterView(row, person) };
      },
    }),
    defineRoute({
      method: "patch",
      path: `${base}/{id}`,
      summary: "Read a letter or not, put it away, or have it come back later",
      tag: TAG,
      body: letterChangeSchema,
      response: one,
      async handle({ engine, principal, params, body }) {
        const person = personOf(principal, "mail.write");
        const row = await command(engine, (work) =>
          changeLetter(work, person, params.id ?? "", body),
        );
        return { letter: letterView(row, person) };
      },
    }),
  ];
}

const settingRoutes: readonly Route[] = [
  defineRoute({
    method: "get",
    path: "/api/me/notification-preferences",
    summary: "How you hear of letters besides in your inbox, by type and by what they are about",
    tag: TAG,
    response: preferencesSchema,
    handle: ({ engine, principal }) => readPreferences(engine, personOf(principal, "mail.read")),
  }),
  defineRoute({
    method: "put",
    path: "/api/me/notification-preferences",
    summary: "Settle it for a type, or for a type and what it is about; the rest stays",
    tag: TAG,
    body: preferenceChangeSchema,
    response: preferencesSchema,
    handle: ({ engine, principal, body }) =>
      changePreference(engine, personOf(principal, "mail.write"), body),
  }),
  defineRoute({
    method: "get",
    path: "/api/me/mail-contacts",
    summary: "Whose agents may write to your orchestrator when it accepts mail from a list",
    tag: TAG,
    response: contactsSchema,
    handle: ({ engine, principal }) => readContacts(engine, personOf(principal, "mail.read")),
  }),
  defineRoute({
    method: "put",
    path: "/api/me/mail-contacts",
    summary: "Settle that list",
    tag: TAG,
    body: contactsChangeSchema,
    response: contactsSchema,
    async handle({ engine, principal, body }) {
      // As who may write to it at all: whoever is on the list begins turns of its agent.
      requireMay(principal, "session.manage");
      return changeContacts(engine, personOf(principal, "mail.write"), body.userIds);
    },
  }),
];

export const inboxRoutes: readonly Route[] = [
  ...["/api/me/inbox", "/api/me/notifications"].flatMap((base) => [
    ...lookingRoutes(base),
    ...changingRoutes(base),
  ]),
  ...settingRoutes,
];
