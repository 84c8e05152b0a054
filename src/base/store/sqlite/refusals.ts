/** Refusals for callers when SQLite, or the machine under it, fails. */
import { Refusal } from "../../refusal.ts";

export function closed(): Refusal {
  return new Refusal(
    "unavailable",
    "store_unavailable",
    "The server is stopping. Try again shortly.",
    {
      retryAfterMs: 2_000,
    },
  );
}

/** The reading thread is gone; the next read starts another. */
export function unreadable(cause: unknown): Refusal {
  return new Refusal(
    "unavailable",
    "store_unavailable",
    "The database file cannot be read at the moment. Try again shortly.",
    {
      retryAfterMs: 2_000,
      cause,
    },
  );
}

/** Error codes that blame the machine, not the statement. */
const OUTSIDE_FAULT = /^SQLITE_(FULL|IOERR|BUSY|LOCKED|NOMEM|CANTOPEN|READONLY|PROTOCOL)/;

export function asRefusal(error: unknown): unknown {
  const code = String((error as { code?: unknown } | undefined)?.code ?? "");
  if (!OUTSIDE_FAULT.test(code)) return error;
  const why = code.startsWith("SQLITE_FULL")
    ? "The disk is full."
    : "The database file cannot be written at the moment.";
  return new Refusal(
    "unavailable",
    "store_unavailable",
    `${why} Nothing was changed; try again shortly.`,
    {
      retryAfterMs: 2_000,
      cause: error,
    },
  );
}

/** True for a refusal that was caused by a full disk. */
export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Refusal)) return false;
  const code = String((error.cause as { code?: unknown } | undefined)?.code ?? "");
  // The index of the log cannot grow on a full disk either.
  return code.startsWith("SQLITE_FULL") || code.startsWith("SQLITE_IOERR_SHM");
}
