/** A call that failed: refused by the server, or left without an answer. */

/** One field of a request that the server refused, and why. */
export interface ErrorDetail {
  path: string;
  message: string;
}

export class ApiError extends Error {
  /** HTTP status; 0 if no answer came. */
  readonly status: number;
  /** Stable; programs act on it. `network` if no answer came. */
  readonly code: string;
  readonly details: readonly ErrorDetail[];
  /** Time after which the server wants to be asked again, if it says so. */
  readonly retryAfterMs: number | undefined;

  constructor(
    status: number,
    code: string,
    message: string,
    options: { details?: readonly ErrorDetail[]; retryAfterMs?: number; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = "ApiError";
    this.status = status;
    this.code = code;
    this.details = options.details ?? [];
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** Reads the error out of an answer that is not a success. */
export function apiErrorFrom(status: number, retryAfter: string | null, body: unknown): ApiError {
  const error = isRecord(body) && isRecord(body.error) ? body.error : {};
  const code = typeof error.code === "string" ? error.code : `http_${status}`;
  const message =
    typeof error.message === "string" && error.message !== ""
      ? error.message
      : `The server answered ${status} without a reason.`;
  const details = Array.isArray(error.details) ? error.details.filter(isDetail) : [];
  // Only proxies write a date in place of seconds; it is ignored.
  const seconds = Number.parseInt(retryAfter ?? "", 10);
  return new ApiError(status, code, message, {
    details,
    ...(seconds >= 0 && { retryAfterMs: seconds * 1_000 }),
  });
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isDetail(value: unknown): value is ErrorDetail {
  return isRecord(value) && typeof value.path === "string" && typeof value.message === "string";
}
