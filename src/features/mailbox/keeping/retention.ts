/** Retention of messages: read or archived messages are deleted after a year. Unread ones stay. */
import type { RetentionRule } from "#engine/index.ts";
import { settledLetters } from "./purge-queries.ts";

export const lettersRetention: RetentionRule = {
  kind: "messages",
  summary: "Messages of the mailbox, so long after they were archived, or else read",
  defaultDays: 365,
  minDays: 7,
  countDue: settledLetters.countDue,
  prune: settledLetters.prune,
};
