/** Refusals and bugs as HTTP responses: the only place that knows status codes. */
import type { Context } from "hono";
import type { Log } from "#base/log.ts";
import { Refusal, type RefusalKind } from "#base/refusal.ts";

const STATUS: Record<RefusalKind, 400 | 401 | 403 | 404 | 409 | 413 | 415 | 429 | 503> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  too_large: 413,
  unsupported: 415,
  limit: 429,
  unavailable: 503,
};

export function refusalBody(refusal: Refusal) {
  const { code, message, details } = refusal;
  return { error: { code, message, ...(details ? { details } : {}) } };
}

export function refusalStatus(refusal: Refusal): number {
  return STATUS[refusal.kind];
}

export function answerError(log: Log, error: unknown, c: Context): Response {
  if (error instanceof Refusal) {
    if (error.retryAfterMs !== undefined)
      c.header("Retry-After", String(Math.ceil(error.retryAfterMs / 1_000)));
    if (error.kind === "unavailable")
      log.warn({ err: error, path: c.req.path }, "refused: unavailable");
    return c.json(refusalBody(error), STATUS[error.kind]);
  }
  log.error({ err: error, method: c.req.method, path: c.req.path }, "a request failed");
  return c.json(
    {
      error: {
        code: "internal_error",
        message: "Something went wrong on the server. It was logged; try again.",
      },
    },
    500,
  );
}
