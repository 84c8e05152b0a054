/** API contract of the mailbox: messages between people and agents, inboxes and their settings. */

import * as z from "zod";
import { cleanText } from "#base/text/clean-text.ts";
import { prose } from "#base/text/text-schemas.ts";
import { apiRoute } from "#protocol/api-route.ts";
import { MESSAGE_TYPES } from "#protocol/notices/notices.ts";
import { isoTime, pageOf, pageQuery } from "#protocol/page.ts";
import { PAGE_LIMIT_MAX } from "#protocol/page-limits.ts";
import { promptSchema } from "#protocol/sessions.ts";

export { MESSAGE_TYPES };
export type MessageType = (typeof MESSAGE_TYPES)[number];

/** Message types that need no action; one request may mark all of them as read. */
export const NON_ACTIONABLE: readonly MessageType[] = ["message", "notification"];

/** Events that the platform writes messages about. Only the platform sets an event type. */
export const MESSAGE_EVENT_TYPES = [
  "session.completed",
  "session.failed",
  "session.question",
  "session.approval",
  /** One message for several completed sessions, for people who turned the digest on. */
  "session.digest",
  "mail.loop_cut",
] as const;
export type MessageEventType = (typeof MESSAGE_EVENT_TYPES)[number];

/**
 * Channels that deliver messages to people besides the web page, if the server has them configured.
 */
export const NOTIFICATION_CHANNELS = ["slack", "telegram", "email", "push"] as const;
export type NotificationChannel = (typeof NOTIFICATION_CHANNELS)[number];

export const MAIL_FOLDERS = ["inbox", "snoozed", "archived", "sent", "all"] as const;
export type MailFolder = (typeof MAIL_FOLDERS)[number];

export const MAX_MESSAGE_CHARS = 32_000;
const MAX_TO_CHARS = 200;
const MAX_REF_CHARS = 500;
const MAX_CONTACTS = 200;
/**
 * Hops between different people's sides, without a person writing, after which an exchange is cut
 * off.
 */
export const MAX_HOPS = 8;

/**
 * Delivery states of a message to an agent. A message to a person is delivered once it is written.
 */
export const MESSAGE_FATES = [
  /** The message is in the inbox, or its agent has started to read it. */
  "delivered",
  /** The agent is busy, hibernated or archived, and reads the message later. */
  "waiting",
  /** Nobody will read the message; `fateReason` gives the reason. */
  "failed",
] as const;
export type MessageFate = (typeof MESSAGE_FATES)[number];

/** Ways in which an approval, question or plan was closed. */
export const MESSAGE_DECISIONS = [
  "allowed",
  "denied",
  "revised",
  "answered",
  "expired",
  "cancelled",
] as const;
export type MessageDecision = (typeof MESSAGE_DECISIONS)[number];

const partySchema = z
  .object({
    kind: z.enum(["session", "user"]),
    id: z.string(),
    /** Name at the time of writing. */
    name: z.string(),
    /** Handle of an orchestrator, without the @; null for everybody else. */
    handle: z.string().nullable(),
  })
  .meta({ id: "MessageParty" });
export type MessageParty = z.infer<typeof partySchema>;

export const messageSchema = z
  .object({
    id: z.string(),
    /** Id of the first message of the thread. */
    threadId: z.string(),
    replyToId: z.string().nullable(),
    from: partySchema,
    to: partySchema,
    messageType: z.enum(MESSAGE_TYPES),
    /** Event that the platform wrote the message about; null if somebody else wrote it. */
    eventType: z.enum(MESSAGE_EVENT_TYPES).nullable(),
    content: z.string(),
    contextSessionId: z.string().nullable(),
    contextTaskId: z.string().nullable(),
    /**
     * Reference such as `github:acme/api:pr:42`, `approval:gat_…`, or `prompt:pmt_…` of a failed
     * turn.
     */
    contextRef: z.string().nullable(),
    /** Decision on the approval, question or plan; null while it is pending. */
    decision: z.enum(MESSAGE_DECISIONS).nullable(),
    /** Web address of the pull request or issue that `contextRef` names. */
    contextUrl: z.string().nullable(),
    fate: z.enum(MESSAGE_FATES),
    fateReason: z.string().nullable(),
    /** True for a guest's request to your agent that you may let through as an ordinary turn. */
    mayLetThrough: z.boolean(),
    /** Time when you let the request through; null if you did not. The sender never sees it. */
    letThroughAt: isoTime.nullable(),
    read: z.boolean(),
    readAt: isoTime.nullable(),
    archivedAt: isoTime.nullable(),
    snoozedUntil: isoTime.nullable(),
    createdAt: isoTime,
  })
  .meta({ id: "Message" });
export type MailMessage = z.infer<typeof messageSchema>;

export const messageContent = prose(MAX_MESSAGE_CHARS).refine(
  (text) => text.trim() !== "",
  "is empty",
);
const to = prose(MAX_TO_CHARS)
  .transform((text) => text.trim())
  .refine((text) => text !== "", "is empty")
  .describe(
    "Recipient: a session's id, orchestrator, the @handle of an orchestrator, or a person by unique name, @user:name or id.",
  );
const id = z.string().min(1).max(MAX_TO_CHARS).transform(cleanText);

const messageFields = {
  content: messageContent,
  messageType: z.enum(MESSAGE_TYPES).optional(),
  contextTaskId: id.optional(),
  contextSessionId: id.optional(),
  contextRef: prose(MAX_REF_CHARS).optional(),
  replyToId: id.optional().describe("Id of the message that this one answers."),
};

/** New message. A reply needs no `to`; it goes to the sender of the message it answers. */
export const newMessageSchema = z
  .strictObject({ to: to.optional(), ...messageFields })
  .refine((message) => message.to !== undefined || message.replyToId !== undefined, {
    path: ["to"],
    message: "Give to or replyToId.",
  });
export type NewMessage = z.infer<typeof newMessageSchema>;

/** New message in the form of a notification; exactly one field names the recipient. */
export const emitSchema = z
  .strictObject({
    to: to.optional(),
    toHandle: to.optional(),
    toUserId: id.optional(),
    toSessionId: id.optional(),
    ...messageFields,
  })
  .refine(
    (message) =>
      [message.to, message.toHandle, message.toUserId, message.toSessionId].filter(
        (one) => one !== undefined,
      ).length === 1,
    { path: ["to"], message: "Give exactly one of to, toHandle, toUserId and toSessionId." },
  );
export type EmitRequest = z.infer<typeof emitSchema>;

const flag = z.stringbool();
export const inboxQuery = z.strictObject({
  box: z.enum(MAIL_FOLDERS).default("inbox"),
  unreadOnly: flag.optional(),
  messageType: z.enum(MESSAGE_TYPES).optional(),
  fromSessionId: id.optional(),
  fromUserId: id.optional(),
  contextSessionId: id.optional(),
  contextTaskId: id.optional(),
  contextRef: prose(MAX_REF_CHARS).optional(),
  ...pageQuery,
});
export type InboxQuery = z.infer<typeof inboxQuery>;

/** Query of a thread, which is read from its first message. */
export const threadQuery = z.strictObject({
  ...pageQuery,
  limit: z.coerce.number<number>().int().min(1).max(PAGE_LIMIT_MAX).default(PAGE_LIMIT_MAX),
});
export type ThreadQuery = z.infer<typeof threadQuery>;

const sessionMessagesQuery = z.strictObject({
  /** Includes messages that the agent has read. */
  all: flag.optional(),
  ...pageQuery,
});

export const messageChangeSchema = z
  .strictObject({
    read: z.boolean(),
    archived: z.boolean(),
    /** Time when the message returns unread; null returns it now. */
    snoozedUntil: z.iso
      .datetime({ offset: true })
      .transform((text) => Date.parse(text))
      .nullable(),
  })
  .partial()
  .refine((change) => Object.keys(change).length > 0, "Give at least one change.");
export type MessageChange = z.infer<typeof messageChangeSchema>;

/** One item per message type, and one per type and event with its own setting. */
const preferenceSchema = z
  .object({
    messageType: z.enum(MESSAGE_TYPES),
    /** Null applies to every event. */
    eventType: z.enum(MESSAGE_EVENT_TYPES).nullable(),
    /** Always true: every message to you is in your inbox. */
    deliverWeb: z.literal(true),
    deliverSlack: z.boolean(),
    deliverTelegram: z.boolean(),
    deliverEmail: z.boolean(),
    deliverPush: z.boolean(),
    /**
     * Collects completed sessions in one unread message; when off, their messages arrive already
     * read.
     */
    digest: z.boolean(),
    /** True if nobody has changed this preference. */
    isDefault: z.boolean(),
  })
  .meta({ id: "NotificationPreference" });
export type NotificationPreference = z.infer<typeof preferenceSchema>;

const preferencesSchema = z.object({
  items: z.array(preferenceSchema),
  /** Channels that this server can reach you by. */
  channels: z.array(z.enum(NOTIFICATION_CHANNELS)),
});

const preferenceChangeSchema = z.strictObject({
  messageType: z.enum(MESSAGE_TYPES),
  eventType: z.enum(MESSAGE_EVENT_TYPES).nullable().default(null),
  deliverWeb: z.boolean().optional(),
  deliverSlack: z.boolean().optional(),
  deliverTelegram: z.boolean().optional(),
  deliverEmail: z.boolean().optional(),
  deliverPush: z.boolean().optional(),
  /** Allowed only for type `notification` and event `session.completed`. */
  digest: z.boolean().optional(),
});
export type PreferenceChange = z.infer<typeof preferenceChangeSchema>;

/** People whose agents may write to your orchestrator when it accepts mail from a list. */
const contactsSchema = z.object({
  items: z.array(z.object({ userId: z.string(), name: z.string() })),
});

const one = z.object({ message: messageSchema });
const page = pageOf(messageSchema);
/** Number of messages that a route changed. */
export const changedSchema = z.object({ changed: z.number().int() });
const INBOX = "Inbox";
const MAILBOX = "Mailbox";
const nothing = z.strictObject({});

const sessionRoutes = <const Base extends string>(base: Base) => ({
  list: apiRoute({
    method: "get",
    path: base,
    summary: "Messages to a session's agent, newest first: the unread ones, or all",
    tag: MAILBOX,
    query: sessionMessagesQuery,
    response: page,
  }),
  readAll: apiRoute({
    method: "put",
    path: `${base}/read`,
    summary: "Mark messages as read before a session's agent gets them; it will not get them",
    tag: MAILBOX,
    body: nothing,
    response: changedSchema,
  }),
});

export const sessionMessagesApi = sessionRoutes("/api/sessions/{id}/messages");
/** Serves the messages of a session under their second name. */
export const sessionNotificationsApi = sessionRoutes("/api/sessions/{id}/notifications");

const PREFERENCES = "/api/me/notification-preferences";
const CONTACTS = "/api/me/mail-contacts";

export const mailboxApi = {
  send: apiRoute({
    method: "post",
    path: "/api/messages",
    summary: "Send a message to a session, to an agent by its @handle, or to a person",
    tag: MAILBOX,
    body: newMessageSchema,
    response: one,
    status: 201,
    takesIdempotencyKey: true,
  }),
  emit: apiRoute({
    method: "post",
    path: "/api/notifications/emit",
    summary: "Send a notification; exactly one field names the recipient",
    tag: MAILBOX,
    body: emitSchema,
    response: one,
    status: 201,
    takesIdempotencyKey: true,
  }),
  letThrough: apiRoute({
    method: "post",
    path: "/api/messages/{id}/let-through",
    summary: "Have your agent work on somebody else's request as an ordinary turn",
    tag: MAILBOX,
    body: nothing,
    response: z.object({ prompt: promptSchema }),
    status: 202,
  }),
  preferences: apiRoute({
    method: "get",
    path: PREFERENCES,
    summary: "Channels that notify you of messages besides your inbox, by type and event",
    tag: INBOX,
    response: preferencesSchema,
  }),
  setPreference: apiRoute({
    method: "put",
    path: PREFERENCES,
    summary: "Set the channels for a message type, or for a type and an event; others stay",
    tag: INBOX,
    body: preferenceChangeSchema,
    response: preferencesSchema,
  }),
  contacts: apiRoute({
    method: "get",
    path: CONTACTS,
    summary: "People whose agents may write to your orchestrator when it accepts mail from a list",
    tag: INBOX,
    response: contactsSchema,
  }),
  setContacts: apiRoute({
    method: "put",
    path: CONTACTS,
    summary: "Replace the list of contacts",
    tag: INBOX,
    body: z.strictObject({ userIds: z.array(id).max(MAX_CONTACTS) }),
    response: contactsSchema,
  }),
};
