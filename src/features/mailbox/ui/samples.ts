/** Sample messages for tests. */
import type { MailMessage } from "#features/mailbox/contract.ts";

export const ME = { kind: "user", id: "usr_me", name: "Ada", handle: null } as const;
export const SESSION = { kind: "session", id: "ses_1", name: "Otters", handle: null } as const;

export function message(change: Partial<MailMessage> = {}): MailMessage {
  return {
    id: "msg_1",
    threadId: "msg_1",
    replyToId: null,
    from: SESSION,
    to: ME,
    messageType: "message",
    eventType: null,
    content: "Hello",
    contextSessionId: null,
    contextTaskId: null,
    contextRef: null,
    decision: null,
    contextUrl: null,
    fate: "delivered",
    fateReason: null,
    mayLetThrough: false,
    letThroughAt: null,
    read: false,
    readAt: null,
    archivedAt: null,
    snoozedUntil: null,
    createdAt: "2026-03-01T09:00:00.000Z",
    ...change,
  };
}
