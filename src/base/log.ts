/**
 * Structured log lines with redaction. Secrets are recognised by the name of their field, by the
 * look of the text, and by value if this process has used them. They are removed from names, values
 * and the message before the line is formatted: people choose their secrets and must not be able to
 * break a line with one. The content of prompts and transcripts is never logged.
 */
import { pino } from "pino";
import { withoutSecrets } from "./secrets/known-secrets.ts";

import { withoutUrlPasswords } from "./secrets/url-passwords.ts";

import { terminalJson } from "./text/visible-text.ts";

export interface Log {
  debug(fields: object, text: string): void;
  info(fields: object, text: string): void;
  warn(fields: object, text: string): void;
  error(fields: object, text: string): void;
  child(fields: object): Log;
}

export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const SECRET_FIELD =
  /^(authorization|cookie|set-cookie|token|key|apikey|api_key|secret|password|passphrase|credential)s?$/i;
const SECRET_TEXT =
  /\b(?:Bearer\s+[\w.~+/=-]{8,}|sk-[\w-]{8,}|mst_[\w-]{8,}|mrt_[\w.-]{8,}|gh[pousr]_\w{20,}|xox[abprs]-[\w-]{10,})/g;
/** Field names as our own code writes them; a user's secret must not rename a field. */
const OWN_NAME = /^[a-z][A-Za-z_]{0,31}$/;
const REDACTED = "[redacted]";
const MAX_DEPTH = 6;

export function redactText(text: string): string {
  return withoutUrlPasswords(withoutSecrets(text).replace(SECRET_TEXT, REDACTED), REDACTED);
}

export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return redactText(value);
  if (typeof value === "number" || typeof value === "bigint") return redactNumber(value);
  if (value === null || typeof value !== "object") return value;
  if (depth >= MAX_DEPTH) return "[deep]";
  if (value instanceof Error) return describeError(value, depth);
  if (Array.isArray(value)) return value.map((item) => redact(item, depth + 1));
  const safe: Record<string, unknown> = {};
  for (const [name, item] of Object.entries(value)) {
    const safeName = OWN_NAME.test(name) ? name : redactText(name);
    safe[safeName] = SECRET_FIELD.test(name) ? REDACTED : redact(item, depth + 1);
  }
  return safe;
}

function redactNumber(value: number | bigint): unknown {
  const text = String(value);
  return withoutSecrets(text) === text ? value : REDACTED;
}

function describeError(error: Error, depth: number): unknown {
  const { name, message, stack, cause } = error;
  const code = (error as { code?: unknown }).code;
  return {
    name: redactText(String(name)),
    message: redactText(String(message)),
    ...(code === undefined ? {} : { code: redact(code, depth + 1) }),
    ...(stack === undefined ? {} : { stack: redactText(String(stack)) }),
    ...(cause === undefined ? {} : { cause: redact(cause, depth + 1) }),
  };
}

export interface LogOptions {
  level: LogLevel;
  /**
   * Destination of lines; standard error by default, because standard output belongs to commands.
   */
  write?: (line: string) => void;
}

export function createLog({ level, write }: LogOptions): Log {
  const destination = write ? { write } : pino.destination({ dest: 2, sync: true });
  // Logs are read on terminals, and a name chosen by a stranger must not control one.
  const stream = { write: (line: string) => void destination.write(terminalJson(line)) };
  const sink = pino(
    {
      level,
      base: null,
      formatters: {
        level: (label) => ({ level: label }),
        log: (fields) => redact(fields) as Record<string, unknown>,
      },
      hooks: {
        logMethod([fields, text], method) {
          method.call(this, fields, redactText(String(text)));
        },
      },
    },
    stream,
  );
  return wrap(sink);
}

function wrap(sink: pino.Logger): Log {
  return {
    debug: (fields, text) => sink.debug(fields, text),
    info: (fields, text) => sink.info(fields, text),
    warn: (fields, text) => sink.warn(fields, text),
    error: (fields, text) => sink.error(fields, text),
    child: (fields) => wrap(sink.child(redact(fields) as Record<string, unknown>)),
  };
}

export const silentLog: Log = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  child: () => silentLog,
};
