/** Retention of messages: read or archived messages are deleted after a year. Unread ones stay. */
import type { RetentionRule } from "#engine/index.ts";
import { settledMessages } from "./purge-queries.ts";

export const messagesRetention: RetentionRule = {
  kind: "messages",
  summary: "Messages of the mailbox, so long after they were archived, or else read",
  defaultDays: 365,
  minDays: 7,
  countDue: settledMessages.countDue,
  prune: settledMessages.prune,
};
