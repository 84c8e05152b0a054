/** Retention rules of the kernel's own tables. */

import { settledRows } from "../outbox/queries.ts";
import { KEY_KEPT_MS } from "../requests/idempotency.ts";
import { oldKeys } from "../requests/idempotency-queries.ts";
import { countPurgeable } from "../sessions/purge/purge-queries.ts";
import type { RetentionRule } from "./retention.ts";

const DAY_MS = 24 * 60 * 60_000;

/** Archived sessions are removed by the purger, together with all their rows. */
export const archivedSessions: RetentionRule = {
  kind: "sessions",
  summary:
    "Archived sessions with their transcripts and files, counted from when they were archived",
  defaultDays: 7,
  minDays: 1,
  countDue: countPurgeable,
};

export const kernelRetention: readonly RetentionRule[] = [
  archivedSessions,
  {
    kind: "deliveries",
    summary:
      "Outgoing deliveries that succeeded or were given up, counted from when they were created",
    defaultDays: 30,
    minDays: 1,
    countDue: settledRows.countDue,
    prune: settledRows.prune,
  },
  {
    kind: "idempotency_keys",
    summary: "Idempotency keys, counted from the request",
    defaultDays: KEY_KEPT_MS / DAY_MS,
    // A client may repeat a request for this long and must find its first answer.
    minDays: KEY_KEPT_MS / DAY_MS,
    countDue: oldKeys.countDue,
    prune: oldKeys.prune,
  },
];
