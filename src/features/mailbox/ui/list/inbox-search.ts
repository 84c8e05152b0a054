/** Inbox filters in the address: a box and restrictions. Pure. */
import type { MailFolder, MessageType } from "#features/mailbox/contract.ts";
import type { MessageFilter } from "#surfaces/web/kit/api/query-keys.ts";
import { TYPES } from "../message-words.ts";

export const BOXES = {
  inbox: "Inbox",
  snoozed: "Snoozed",
  archived: "Archived",
  sent: "Sent",
} as const satisfies Partial<Record<MailFolder, string>>;
export type Box = keyof typeof BOXES;

/** Filter by sender: `user:` or `session:`, then the id. */
export type Sender = `${"user" | "session"}:${string}`;

/** Filter by the subject of messages: `session:`, `task:` or `ref:`, then the id or the reference. */
export type Context = `${"session" | "task" | "ref"}:${string}`;

export interface InboxSearch {
  box?: Exclude<Box, "inbox">;
  unread?: true;
  type?: MessageType;
  from?: Sender;
  about?: Context;
}

export const INBOX_SEARCH = ["box", "unread", "type", "from", "about"] as const;

export function readInboxSearch(search: Record<string, unknown>): InboxSearch {
  const read: InboxSearch = {};
  const { box, unread, type, from, about } = search;
  if (isOf(BOXES, box) && box !== "inbox") read.box = box;
  if (unread === true || unread === "true") read.unread = true;
  if (isOf(TYPES, type)) read.type = type;
  if (isSender(from)) read.from = from;
  if (isContext(about)) read.about = about;
  return read;
}

export function filterOf({ unread, type, from, about, ...search }: InboxSearch): MessageFilter {
  const box: Box = search.box ?? "inbox";
  const filter: MessageFilter = { box };
  if (type !== undefined) filter.messageType = type;
  // Archived messages have no unread count, and in "sent" the reader is the sender.
  if (unread === true && box === "inbox") filter.unreadOnly = true;
  if (from !== undefined && box !== "sent") Object.assign(filter, senderFilter(from));
  if (about !== undefined) Object.assign(filter, contextFilter(about));
  return filter;
}

export function isFiltered(search: InboxSearch): boolean {
  const { box: _, ...filter } = filterOf(search);
  return Object.keys(filter).length > 0;
}

function senderFilter(from: Sender): Pick<MessageFilter, "fromUserId" | "fromSessionId"> {
  const id = from.slice(from.indexOf(":") + 1);
  return from.startsWith("user:") ? { fromUserId: id } : { fromSessionId: id };
}

function contextFilter(
  about: Context,
): Pick<MessageFilter, "contextSessionId" | "contextTaskId" | "contextRef"> {
  const value = about.slice(about.indexOf(":") + 1);
  if (about.startsWith("session:")) return { contextSessionId: value };
  return about.startsWith("task:") ? { contextTaskId: value } : { contextRef: value };
}

function isContext(value: unknown): value is Context {
  return typeof value === "string" && /^(session|task|ref):./.test(value);
}

function isSender(value: unknown): value is Sender {
  return typeof value === "string" && /^(user|session):./.test(value);
}

function isOf<T extends object>(words: T, value: unknown): value is keyof T {
  return typeof value === "string" && Object.hasOwn(words, value);
}
