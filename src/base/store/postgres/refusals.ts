/** Refusals for callers when PostgreSQL, or the connection to it, fails. */
import { Refusal } from "../../refusal.ts";

export function isDiskFull(error: unknown): boolean {
  return (error as { code?: unknown } | undefined)?.code === "53100";
}

export function diskFull(cause: unknown): Refusal {
  return refusal("The database's disk is full. Nothing was changed; try again shortly.", cause);
}

export function unavailable(cause: unknown): Refusal {
  return refusal("The database is unavailable. Nothing was changed; try again shortly.", cause);
}

export function unknownFate(cause: unknown): Refusal {
  return refusal(
    "The database was lost during this request, so it is unknown if it was stored. Check first, or send it again with the same Idempotency-Key.",
    cause,
  );
}

function refusal(message: string, cause: unknown): Refusal {
  return new Refusal("unavailable", "store_unavailable", message, { retryAfterMs: 2_000, cause });
}
