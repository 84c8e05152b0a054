/**
 * A refusal is an error the caller can act on: it has a stable code and a sentence that says what
 * to do next. Each surface translates it once (HTTP status, frame, exit code). Anything else that
 * is thrown is a bug or a failure of the outside.
 */
export type RefusalKind =
  | "invalid"
  | "unauthenticated"
  | "forbidden"
  | "not_found"
  | "conflict"
  | "too_large"
  | "unsupported"
  | "limit"
  | "unavailable";

export interface RefusalDetail {
  path: string;
  message: string;
}

export interface RefusalExtra {
  details?: RefusalDetail[];
  retryAfterMs?: number;
  cause?: unknown;
}

export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly kind: RefusalKind;
  readonly code: string;
  readonly details: RefusalDetail[] | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(kind: RefusalKind, code: string, message: string, extra: RefusalExtra = {}) {
    super(message, { cause: extra.cause });
    this.kind = kind;
    this.code = code;
    this.details = extra.details;
    this.retryAfterMs = extra.retryAfterMs;
  }
}

/** Missing, deleted and forbidden things get the same refusal, so nobody learns what exists. */
export function notFound(what: string): Refusal {
  return new Refusal(
    "not_found",
    "not_found",
    `No such ${what}. Check the id, or list what you can see.`,
  );
}
