/** A person's inbox on the wire, under both of its names. */
import * as z from "zod";
import { apiRoute } from "#protocol/api-route.ts";
import { pageOf } from "#protocol/page.ts";
import {
  changedSchema,
  inboxQuery,
  messageChangeSchema,
  messageContent,
  messageSchema,
  threadQuery,
} from "../contract.ts";

const TAG = "Inbox";
const one = z.object({ message: messageSchema });
const page = pageOf(messageSchema);

const readingRoutes = <const Base extends string, const Threads extends string>(
  base: Base,
  threads: Threads,
) => ({
  list: apiRoute({
    method: "get",
    path: base,
    summary: "Messages to you, newest first; filter by folder, type, sender and context",
    tag: TAG,
    query: inboxQuery,
    response: page,
  }),
  count: apiRoute({
    method: "get",
    path: `${base}/count`,
    summary: "Number of unread messages in your inbox",
    tag: TAG,
    response: z.object({ count: z.number().int() }),
  }),
  thread: apiRoute({
    method: "get",
    path: `${threads}/{threadId}`,
    aliases: [`${base}/threads/{threadId}`],
    summary: "A thread of messages, oldest first; reading it marks messages to you as read",
    tag: TAG,
    query: threadQuery,
    response: page,
  }),
  get: apiRoute({
    method: "get",
    path: `${base}/{id}`,
    summary: "A message that you or your agents sent or received; it stays unread",
    tag: TAG,
    response: one,
  }),
});

const changingRoutes = <const Base extends string>(base: Base) => ({
  readAll: apiRoute({
    method: "put",
    path: `${base}/read-all`,
    summary: "Mark everything in your inbox as read",
    tag: TAG,
    response: changedSchema,
  }),
  readNonActionable: apiRoute({
    method: "put",
    path: `${base}/read-non-actionable`,
    summary: "Mark messages and notifications that need no action as read",
    tag: TAG,
    response: changedSchema,
  }),
  read: apiRoute({
    method: "put",
    path: `${base}/{id}/read`,
    summary: "Mark a message as read",
    tag: TAG,
    response: one,
  }),
  reply: apiRoute({
    method: "post",
    path: `${base}/{id}/reply`,
    summary: "Reply to the sender of a message; the message is marked as read",
    tag: TAG,
    body: z.strictObject({ content: messageContent }),
    response: one,
    status: 201,
    takesIdempotencyKey: true,
  }),
  update: apiRoute({
    method: "patch",
    path: `${base}/{id}`,
    summary: "Mark a message as read or unread, archive it or snooze it",
    tag: TAG,
    body: messageChangeSchema,
    response: one,
  }),
});

export const inboxApi = {
  ...readingRoutes("/api/me/inbox", "/api/me/inbox-threads"),
  ...changingRoutes("/api/me/inbox"),
};

/** Serves the inbox under its second name. */
export const notificationsApi = {
  ...readingRoutes("/api/me/notifications", "/api/me/notification-threads"),
  ...changingRoutes("/api/me/notifications"),
};
