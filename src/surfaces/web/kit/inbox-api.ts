/** The calls about letters, how one wants to hear of them, and who may write to one's agent. */
import type {
  Letter,
  LetterBox,
  LetterChannel,
  LetterEvent,
  LetterType,
  NotificationPreference,
} from "#features/mailbox/contract.ts";
import type { Agent } from "#features/orchestrators/contract.ts";
import type { Page } from "#protocol/page.ts";
import type { Prompt } from "#protocol/sessions.ts";
import { callApi } from "./api-client.ts";

export interface LetterFilter {
  box: LetterBox;
  unreadOnly?: boolean;
  messageType?: LetterType;
  fromSessionId?: string;
  fromUserId?: string;
  contextSessionId?: string;
  contextTaskId?: string;
  contextRef?: string;
}

export interface LetterChange {
  read?: boolean;
  archived?: boolean;
  /** An instant in ISO; null brings it back now. */
  snoozedUntil?: string | null;
}

export interface NewLetter {
  to: string;
  content: string;
  messageType: LetterType;
}

export interface Preferences {
  items: NotificationPreference[];
  channels: LetterChannel[];
}

export interface PreferenceChange {
  messageType: LetterType;
  eventType: LetterEvent | null;
  deliverSlack?: boolean;
  deliverTelegram?: boolean;
  deliverEmail?: boolean;
  deliverPush?: boolean;
  /** Only for sessions that are done. */
  digest?: boolean;
}

export interface MailContact {
  userId: string;
  name: string;
}

const INBOX = "/api/me/inbox";
const PREFERENCES = "/api/me/notification-preferences";
const CONTACTS = "/api/me/mail-contacts";
const letter = (id: string) => `${INBOX}/${encodeURIComponent(id)}`;
const THREAD_LIMIT = 200;

export const inboxApi = {
  /** Has one's agent work on somebody else's request as an ordinary turn. */
  letThrough: (id: string) =>
    callApi<{ prompt: Prompt }>(`/api/messages/${encodeURIComponent(id)}/let-through`, {
      method: "POST",
      body: {},
    }),
  count: (signal: AbortSignal) => callApi<{ count: number }>(`${INBOX}/count`, { signal }),
  list: (filter: LetterFilter, cursor: string | undefined, signal: AbortSignal) =>
    callApi<Page<Letter>>(INBOX, { query: { ...filter, cursor }, signal }),
  /** Oldest first; what in it is for the one who asks counts as read from now on. */
  thread: (threadId: string, cursor: string | undefined, signal: AbortSignal) =>
    callApi<Page<Letter>>(`${INBOX}-threads/${encodeURIComponent(threadId)}`, {
      query: { limit: THREAD_LIMIT, cursor },
      signal,
    }),
  change: (id: string, body: LetterChange) =>
    callApi<{ letter: Letter }>(letter(id), { method: "PATCH", body }),
  readNonActionable: () =>
    callApi<{ changed: number }>(`${INBOX}/read-non-actionable`, { method: "PUT", body: {} }),
  /** To whoever wrote that letter. */
  reply: (replyToId: string, content: string, idempotencyKey: string) =>
    callApi<{ letter: Letter }>("/api/messages", {
      method: "POST",
      body: { replyToId, content },
      idempotencyKey,
    }),
  send: (body: NewLetter, idempotencyKey: string) =>
    callApi<{ letter: Letter }>("/api/messages", { method: "POST", body, idempotencyKey }),

  listAgents: (signal: AbortSignal) => callApi<Page<Agent>>("/api/me/org-agents", { signal }),
  readPreferences: (signal: AbortSignal) => callApi<Preferences>(PREFERENCES, { signal }),
  changePreference: (body: PreferenceChange) =>
    callApi<unknown>(PREFERENCES, { method: "PUT", body }),
  readContacts: (signal: AbortSignal) => callApi<{ items: MailContact[] }>(CONTACTS, { signal }),
  setContacts: (userIds: readonly string[]) =>
    callApi<{ items: MailContact[] }>(CONTACTS, { method: "PUT", body: { userIds } }),
};
