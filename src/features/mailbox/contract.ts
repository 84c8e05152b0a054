/** The mailbox on the wire: messages between people and agents, inboxes and their settings. */
import * as z from "zod";
import { cleanText } from "#base/text/clean-text.ts";
import { prose } from "#base/text/text-schemas.ts";
import { apiRoute } from "#protocol/api-route.ts";
import { MESSAGE_TYPES } from "#protocol/notices/notices.ts";
import { isoTime, PAGE_LIMIT_MAX, pageOf, pageQuery } from "#protocol/page.ts";
import { promptSchema } from "#protocol/sessions.ts";

export const LETTER_TYPES = MESSAGE_TYPES;
export type LetterType = (typeof LETTER_TYPES)[number];

/** They ask for nothing, so they may be read in one go. */
export const NON_ACTIONABLE: readonly LetterType[] = ["message", "notification"];

/** What the platform itself writes about; nobody else can write a letter that says so. */
export const LETTER_EVENTS = [
  "session.completed",
  "session.failed",
  "session.question",
  "session.approval",
  /** One letter for several sessions that are done, for those who switched it on. */
  "session.digest",
  "mail.loop_cut",
] as const;
export type LetterEvent = (typeof LETTER_EVENTS)[number];

/** Where letters to people go besides the page, when somebody has wired it. */
export const LETTER_CHANNELS = ["slack", "telegram", "email", "push"] as const;
export type LetterChannel = (typeof LETTER_CHANNELS)[number];

export const LETTER_BOXES = ["inbox", "snoozed", "archived", "sent", "all"] as const;
export type LetterBox = (typeof LETTER_BOXES)[number];

export const MAX_LETTER_CHARS = 32_000;
const MAX_TO_CHARS = 200;
const MAX_REF_CHARS = 500;
const MAX_CONTACTS = 200;
/** How often a letter may call forth another across people before the exchange is cut. */
export const MAX_HOPS = 8;

/** What became of a letter to an agent. A letter to a person has arrived when it is written. */
export const LETTER_FATES = [
  /** It is there: in the inbox, or its agent has begun to read it. */
  "delivered",
  /** Its agent works, sleeps or was put away, and reads it then. */
  "waiting",
  /** It will not be read; `fateReason` says why. */
  "failed",
] as const;
export type LetterFate = (typeof LETTER_FATES)[number];

/** How an approval, question or plan was closed. */
export const LETTER_DECISIONS = [
  "allowed",
  "denied",
  "revised",
  "answered",
  "expired",
  "cancelled",
] as const;
export type LetterDecision = (typeof LETTER_DECISIONS)[number];

const partySchema = z
  .object({
    kind: z.enum(["session", "user"]),
    id: z.string(),
    /** As they were called when it was written. */
    name: z.string(),
    /** Of an orchestrator, without the @. */
    handle: z.string().nullable(),
  })
  .meta({ id: "LetterParty" });
export type LetterParty = z.infer<typeof partySchema>;

export const letterSchema = z
  .object({
    id: z.string(),
    /** The first letter of the exchange. */
    threadId: z.string(),
    replyToId: z.string().nullable(),
    from: partySchema,
    to: partySchema,
    messageType: z.enum(LETTER_TYPES),
    /** Set: the platform wrote it about this. */
    eventType: z.enum(LETTER_EVENTS).nullable(),
    content: z.string(),
    contextSessionId: z.string().nullable(),
    contextTaskId: z.string().nullable(),
    /** Such as `github:acme/api:pr:42`, `approval:gat_…`, or `prompt:pmt_…` of a turn that failed. */
    contextRef: z.string().nullable(),
    /** Of an approval, question or plan: how it was closed; null while it is open. */
    decision: z.enum(LETTER_DECISIONS).nullable(),
    /** Where `contextRef` leads on the web: a pull request or an issue. */
    contextUrl: z.string().nullable(),
    fate: z.enum(LETTER_FATES),
    fateReason: z.string().nullable(),
    /** A request from outside to an agent of yours, which you may let through as an ordinary turn. */
    mayLetThrough: z.boolean(),
    /** When you let it through; null: you did not. Its sender is not told. */
    letThroughAt: isoTime.nullable(),
    read: z.boolean(),
    readAt: isoTime.nullable(),
    archivedAt: isoTime.nullable(),
    snoozedUntil: isoTime.nullable(),
    createdAt: isoTime,
  })
  .meta({ id: "Letter" });
export type Letter = z.infer<typeof letterSchema>;

export const letterContent = prose(MAX_LETTER_CHARS).refine(
  (text) => text.trim() !== "",
  "is empty",
);
const to = prose(MAX_TO_CHARS)
  .transform((text) => text.trim())
  .refine((text) => text !== "", "is empty")
  .describe(
    "Whom: a session's id, orchestrator, @handle of an orchestrator, or a person: their name if it is unique, @user:name, or their id.",
  );
const id = z.string().min(1).max(MAX_TO_CHARS).transform(cleanText);

const letterFields = {
  content: letterContent,
  messageType: z.enum(LETTER_TYPES).optional(),
  contextTaskId: id.optional(),
  contextSessionId: id.optional(),
  contextRef: prose(MAX_REF_CHARS).optional(),
  replyToId: id.optional().describe("The letter it answers."),
};

/** A reply needs no `to`: it goes to who wrote the letter. */
export const newLetterSchema = z
  .strictObject({ to: to.optional(), ...letterFields })
  .refine((letter) => letter.to !== undefined || letter.replyToId !== undefined, {
    path: ["to"],
    message: "Say to whom, or which letter it answers.",
  });
export type NewLetter = z.infer<typeof newLetterSchema>;

/** The same by other names; exactly one says to whom. */
export const emitSchema = z
  .strictObject({
    to: to.optional(),
    toHandle: to.optional(),
    toUserId: id.optional(),
    toSessionId: id.optional(),
    ...letterFields,
  })
  .refine(
    (letter) =>
      [letter.to, letter.toHandle, letter.toUserId, letter.toSessionId].filter(
        (one) => one !== undefined,
      ).length === 1,
    { path: ["to"], message: "Give exactly one of to, toHandle, toUserId and toSessionId." },
  );
export type EmitRequest = z.infer<typeof emitSchema>;

const flag = z.stringbool();
export const inboxQuery = z.strictObject({
  box: z.enum(LETTER_BOXES).default("inbox"),
  unreadOnly: flag.optional(),
  messageType: z.enum(LETTER_TYPES).optional(),
  fromSessionId: id.optional(),
  fromUserId: id.optional(),
  contextSessionId: id.optional(),
  contextTaskId: id.optional(),
  contextRef: prose(MAX_REF_CHARS).optional(),
  ...pageQuery,
});
export type InboxQuery = z.infer<typeof inboxQuery>;

/** An exchange is read from its beginning. */
export const threadQuery = z.strictObject({
  ...pageQuery,
  limit: z.coerce.number<number>().int().min(1).max(PAGE_LIMIT_MAX).default(PAGE_LIMIT_MAX),
});
export type ThreadQuery = z.infer<typeof threadQuery>;

const sessionLettersQuery = z.strictObject({
  /** Also what its agent has read. */
  all: flag.optional(),
  ...pageQuery,
});

export const letterChangeSchema = z
  .strictObject({
    read: z.boolean(),
    archived: z.boolean(),
    /** It comes back unread then; null: now. */
    snoozedUntil: z.iso
      .datetime({ offset: true })
      .transform((text) => Date.parse(text))
      .nullable(),
  })
  .partial()
  .refine((change) => Object.keys(change).length > 0, "Say what is to be changed.");
export type LetterChange = z.infer<typeof letterChangeSchema>;

/** One of these for each type, and for each type and event that was set apart. */
const preferenceSchema = z
  .object({
    messageType: z.enum(LETTER_TYPES),
    /** Null: whatever it is about. */
    eventType: z.enum(LETTER_EVENTS).nullable(),
    /** Always: what is written to you is in your inbox. */
    deliverWeb: z.literal(true),
    deliverSlack: z.boolean(),
    deliverTelegram: z.boolean(),
    deliverEmail: z.boolean(),
    deliverPush: z.boolean(),
    /** Sessions that are done are collected in one unread letter; off: their letters come read. */
    digest: z.boolean(),
    /** Nobody has set it. */
    isDefault: z.boolean(),
  })
  .meta({ id: "NotificationPreference" });
export type NotificationPreference = z.infer<typeof preferenceSchema>;

const preferencesSchema = z.object({
  items: z.array(preferenceSchema),
  /** Those of the channels that this server can reach you by. */
  channels: z.array(z.enum(LETTER_CHANNELS)),
});

const preferenceChangeSchema = z.strictObject({
  messageType: z.enum(LETTER_TYPES),
  eventType: z.enum(LETTER_EVENTS).nullable().default(null),
  deliverWeb: z.boolean().optional(),
  deliverSlack: z.boolean().optional(),
  deliverTelegram: z.boolean().optional(),
  deliverEmail: z.boolean().optional(),
  deliverPush: z.boolean().optional(),
  /** Only for `notification` about `session.completed`. */
  digest: z.boolean().optional(),
});
export type PreferenceChange = z.infer<typeof preferenceChangeSchema>;

/** People whose agents may write to yours when it accepts mail from a list. */
const contactsSchema = z.object({
  items: z.array(z.object({ userId: z.string(), name: z.string() })),
});

const one = z.object({ letter: letterSchema });
const page = pageOf(letterSchema);
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
    query: sessionLettersQuery,
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
    body: newLetterSchema,
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
