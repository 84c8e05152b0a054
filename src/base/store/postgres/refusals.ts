/** Refusals for callers when PostgreSQL, or the connection to it, fails. */
import { Refusal } from "../../refusal.ts";

export function isDiskFull(error: unknown): boolean {
  return (error as { code?: unknown } | undefined)?.code === "53100";
}

export function diskFull(cause: unknown): Refusal {
  return refusal(
    "The disk of the database is full. Nothing was changed; try again shortly.",
    cause,
  );
}

export function unavailable(cause: unknown): Refusal {
  return refusal(
    "The database cannot be reached now. Nothing was changed; try again shortly.",
    cause,
  );
}

export function unknownFate(cause: unknown): Refusal {
  return refusal(
    "The database was lost while it stored this, so nobody knows yet whether it did. Look first, or send it again with the same Idempotency-Key.",
    cause,
  );
}

function refusal(message: string, cause: unknown): Refusal {
  return new Refusal("unavailable", "store_unavailable", message, { retryAfterMs: 2_000, cause });
}
