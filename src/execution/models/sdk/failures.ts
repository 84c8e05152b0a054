/**
 * Maps failures of a provider to our codes. All facts about an error are gathered first (status,
 * headers, the provider's words), then judged in one place.
 */
import { FROM_PROVIDER_HEADER } from "#protocol/models.ts";
import { type ModelFailure, TURN_OVER } from "../model.ts";
import { type Headers, retryAfterMs } from "./retry-after.ts";
import { safeText } from "./safe-text.ts";

/** A wait longer than this is a used-up quota, not a busy moment. */
const QUOTA_AFTER_MS = 2 * 60_000;

const MAX_MODEL_CHARS = 200;
/** An error names itself at its beginning; patterns are not tried on more. */
const MAX_TEXT_CHARS = 4_000;

/** A failure that we detected ourselves. */
export class WireFault extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export interface FailureContext {
  /** Name of the provider for people. */
  provider: string;
  model: string;
  secrets: readonly string[];
  nowMs: number;
  /** True when an answer with a status of success had begun. */
  hasBegun: boolean;
  /** True when the provider is reached through the server's model gateway. */
  viaServer?: boolean;
}

interface ErrorFacts {
  status: number | null;
  headers: Headers;
  /** Provider's own name for the error, such as `overloaded_error`. */
  kind: string;
  text: string;
}

export function aborted(): ModelFailure {
  return { code: "model_aborted", message: "The request was stopped.", retryable: false };
}

export function failureOf(error: unknown, context: FailureContext): ModelFailure {
  if (error instanceof WireFault && error.code !== "model_stream_broken") {
    return build(error.code, "", {}, context);
  }
  const known = readError(error);
  if (context.viaServer && isTurnOver(known)) return turnOver();
  const waitMs = retryAfterMs(known.headers, context.nowMs);
  const code = codeOf(known, waitMs, context);
  const { text, status } = known;
  const failure = build(code, safeText(text, context.secrets), { status, waitMs }, context);
  if (!context.viaServer || !isServerAway(known, context)) return failure;
  return { ...failure, retryable: true, isServerAway: true };
}

/**
 * True for a refusal of the server's gateway, not of a provider: the turn has ended, or is being
 * stopped.
 */
function isTurnOver({ status, headers, kind }: ErrorFacts): boolean {
  return status === 403 && headers[FROM_PROVIDER_HEADER] === undefined && kind === "run_over";
}

function turnOver(): ModelFailure {
  const message = "The turn has ended or is stopping. Send a prompt to continue.";
  return { code: TURN_OVER, message, retryable: false };
}

/** Statuses of a server that is being restarted or is too busy, or of a proxy in front of it. */
const AWAY_STATUS = new Set([408, 429, 502, 503, 504]);

/** The gateway marks answers of a provider; all other failures are the server's or the network's. */
function isServerAway(
  { status, headers, kind }: ErrorFacts,
  { hasBegun }: FailureContext,
): boolean {
  if (status === null) return !hasBegun;
  if (!AWAY_STATUS.has(status) || headers[FROM_PROVIDER_HEADER] !== undefined) return false;
  // A spent budget is the server's refusal too, and waiting does not change it.
  return !/provider_(?:unreachable|redirected)|insufficient_quota/.test(kind);
}

function codeOf(known: ErrorFacts, waitMs: number | undefined, context: FailureContext): string {
  const named = codeOfWords(known, waitMs);
  if (named) return named;
  const { status } = known;
  if (status === null) return context.hasBegun ? "model_stream_broken" : "model_unavailable";
  if (status < 300) return "model_stream_broken";
  if (status === 429) return isFar(waitMs) ? "model_quota_exhausted" : "model_rate_limited";
  if (status === 402) return "model_quota_exhausted";
  if (status === 401 || status === 403) return "model_unauthorized";
  if (status === 404) return "model_not_found";
  if (status >= 500 || status === 408 || status === 409) return "model_unavailable";
  return "model_request_invalid";
}

/**
 * Code from the provider's words, which are more exact than its status; the status may even be one
 * of success.
 */
function codeOfWords(
  { status, kind, text }: ErrorFacts,
  waitMs: number | undefined,
): string | null {
  if (/insufficient_quota|billing_error|insufficient_credits/.test(kind))
    return "model_quota_exhausted";
  if (/credit balance is too low|exceeded your current quota/i.test(text))
    return "model_quota_exhausted";
  if (isTooLong(status, kind, text)) return "context_too_long";
  if (status !== null && status >= 300) return null;
  if (/overloaded/.test(kind)) return "model_unavailable";
  if (/rate_limit/.test(kind))
    return isFar(waitMs) ? "model_quota_exhausted" : "model_rate_limited";
  if (/authentication|permission|invalid_api_key/.test(kind)) return "model_unauthorized";
  if (/not_found/.test(kind)) return "model_not_found";
  return /invalid_request/.test(kind) ? "model_request_invalid" : null;
}

/** True for too much of anything, images too: the remedy is always to send less. */
function isTooLong(status: number | null, kind: string, text: string): boolean {
  if (status === 413) return true;
  const mayBeInput = status === null || status < 300 || status === 400 || status === 422;
  return mayBeInput && (TOO_LONG_KIND.test(kind) || TOO_LONG.test(text));
}

const TOO_LONG_KIND = /context_length|context_window|request_too_large/;
const TOO_LONG =
  /prompt is too long|maximum context length|context (?:length|window|size)[^.]*(?:exceed|limit)|exceeds?[^.]*context (?:length|window|size)|too many (?:input )?tokens|(?:request|entity|payload|body|content|prompt|input|images?) (?:size )?(?:is |are )?too large|image exceeds/i;

function isFar(waitMs: number | undefined): boolean {
  return waitMs !== undefined && waitMs > QUOTA_AFTER_MS;
}

const SENTENCES: Readonly<Record<string, string>> = {
  model_unavailable:
    "{provider} is unavailable{detail}. The request is retried by itself; if the problem stays, choose another model.",
  model_rate_limited:
    "{provider} limits the request rate{detail}. The request is retried by itself; run fewer sessions at once to avoid this.",
  model_quota_exhausted:
    "The quota at {provider} is used up{detail}. Wait until it is reset, raise it there, or choose another model.",
  model_unauthorized:
    "{provider} does not accept the key{detail}. Check the key in the settings, and that it may use {model}.",
  model_not_found: "{provider} has no model {model}{detail}. Choose another model.",
  model_request_invalid:
    "{provider} does not accept the request{detail}. Check the model and the address in the settings, or choose another model.",
  context_too_long:
    "The conversation is longer than {model} can read{detail}. Start a fresh context with /clear, or choose a model with a larger context.",
  model_stream_broken:
    "The answer of {provider} broke off or was invalid{detail}. The request is retried by itself; if the problem stays, choose another model.",
  model_silent:
    "{provider} has sent nothing for too long{detail}. The request is retried by itself; if the problem stays, choose another model.",
  model_response_too_large:
    "The answer of {provider} is too large{detail}. Ask for less at once, or choose another model.",
};

const RETRYABLE = new Set([
  "model_unavailable",
  "model_rate_limited",
  "model_stream_broken",
  "model_silent",
]);

interface Detail {
  status?: number | null;
  waitMs?: number | undefined;
}

function build(code: string, text: string, detail: Detail, context: FailureContext): ModelFailure {
  const { status, waitMs } = detail;
  const said = [status && status >= 300 ? `status ${status}` : "", text].filter(Boolean).join(": ");
  const message = (SENTENCES[code] ?? SENTENCES.model_unavailable ?? "")
    .replace("{provider}", context.provider)
    .replace("{model}", () => context.model.slice(0, MAX_MODEL_CHARS))
    .replace("{detail}", () => (said ? ` (${said})` : ""));
  // A quota without a known reset would be asked for again in vain.
  const retryable =
    RETRYABLE.has(code) || (code === "model_quota_exhausted" && waitMs !== undefined);
  return {
    code,
    message,
    retryable,
    ...(retryable && waitMs !== undefined ? { retryAfterMs: waitMs } : {}),
  };
}

/**
 * Reads an error. Errors are objects of several packages, or a provider's data; only their fields
 * are trusted.
 */
function readError(error: unknown): ErrorFacts {
  const fields = asRecord(error);
  const body = bodyOf(fields);
  const inner = asRecord(body.error ?? asRecord(body.response).error ?? body);
  const words = [inner.type, inner.code, fields.type, fields.code].filter(
    (word) => typeof word === "string",
  );
  return {
    status: typeof fields.statusCode === "number" ? fields.statusCode : null,
    headers: asRecord(fields.responseHeaders) as Headers,
    kind: words.join(" ").toLowerCase(),
    text: (textOf(inner) ?? textOf(fields) ?? (typeof error === "string" ? error : "")).slice(
      0,
      MAX_TEXT_CHARS,
    ),
  };
}

function bodyOf(fields: Record<string, unknown>): Record<string, unknown> {
  const { responseBody } = fields;
  if (typeof responseBody !== "string") return asRecord(fields.data);
  try {
    const body: unknown = JSON.parse(responseBody);
    return asRecord(Array.isArray(body) ? body[0] : body);
  } catch {
    return {};
  }
}

function textOf({ message, error }: Record<string, unknown>): string | undefined {
  if (typeof message === "string" && message !== "") return message;
  return typeof error === "string" ? error : undefined;
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
