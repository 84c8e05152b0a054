/**
 * Secrets that this process has had in its hands. Each goes in when it is opened for use, and is
 * taken out of every text that leaves by a log line or an error. It is one list for the process, so
 * that no caller can forget to hand it on. People choose what is in it, and how much: so it is
 * bounded in number and in size, and what the process itself lives by is never put out of it.
 */
import { formsOf, MIN_SECRET_LENGTH } from "./secret-forms.ts";

const REDACTED = "[redacted]";
const MAX_KNOWN = 1_000;
/** Of all forms together; a usual token has some 500. */
const MAX_FORM_CHARS = 4 * 1024 ** 2;
/** A key of usual length is known whole; a longer value by its beginning. */
const MAX_SECRET_CHARS = 4 * 1024;
const LONG_KNOWN_BY_CHARS = 512;
/** No form is shorter, so each can be looked for by how it begins. */
const START_CHARS = MIN_SECRET_LENGTH;

interface Form {
  text: string;
  /** Only the beginning is known: all that follows goes with it. */
  isStart: boolean;
}

interface Known {
  forms: readonly Form[];
  chars: number;
}

/** By the secret, or by its beginning; the latest last. */
const known = new Map<string, Known>();
let knownChars = 0;
/** The process's own. */
const pinned = new Set<string>();
/** Forms by how they begin. */
const byStart = new Map<string, Form[]>();

/** From now on it must not be read in a log line. What is too short to be told from words is not kept. */
export function keepSecret(value: string): void {
  const key = keyOf(value);
  if (pinned.has(key)) return;
  const before = known.get(key);
  if (before) {
    known.delete(key);
    known.set(key, before);
    return;
  }
  const made = knownOf(value, key);
  if (made.forms.length === 0) return;
  known.set(key, made);
  knownChars += made.chars;
  find(made.forms);
  while (known.size > MAX_KNOWN || knownChars > MAX_FORM_CHARS) {
    const [oldest] = known.keys();
    if (oldest === undefined) return;
    forget(oldest);
  }
}

/** For what the process itself lives by, which comes from its settings: it stays whatever else comes. */
export function pinSecret(value: string): void {
  const key = keyOf(value);
  if (pinned.has(key)) return;
  forget(key);
  pinned.add(key);
  find(knownOf(value, key).forms);
}

/** In one pass, so that its time depends on the text and not on how many secrets are known. */
export function withoutSecrets(text: string): string {
  if (byStart.size === 0) return text;
  let safe = "";
  let from = 0;
  for (let at = 0; at + START_CHARS <= text.length; ) {
    const form = longestAt(text, at);
    if (!form) {
      at += 1;
      continue;
    }
    safe += text.slice(from, at) + REDACTED;
    at = form.isStart ? text.length : at + form.text.length;
    from = at;
  }
  return from === 0 ? text : safe + text.slice(from);
}

/** The longest, so that a part of a form does not leave the rest of it behind. */
function longestAt(text: string, at: number): Form | undefined {
  const forms = byStart.get(text.slice(at, at + START_CHARS));
  return forms?.find((form) => text.startsWith(form.text, at));
}

/** So much of a value as is kept. It is copied where it is a part: a part would hold the whole. */
function keyOf(value: string): string {
  const secret = value.trim();
  const kept = secret.length > MAX_SECRET_CHARS ? secret.slice(0, LONG_KNOWN_BY_CHARS) : secret;
  return kept.length === value.length ? kept : Buffer.from(kept, "utf16le").toString("utf16le");
}

function knownOf(value: string, key: string): Known {
  const isStart = value.trim().length > MAX_SECRET_CHARS;
  const texts = [...new Set(formsOf(key))];
  const forms = texts.map((text) => ({ text, isStart }));
  return { forms, chars: texts.reduce((sum, text) => sum + text.length, 0) };
}

function find(forms: readonly Form[]): void {
  for (const form of forms) {
    const start = form.text.slice(0, START_CHARS);
    const others = byStart.get(start) ?? [];
    byStart.set(
      start,
      [...others, form].sort((a, b) => b.text.length - a.text.length),
    );
  }
}

function forget(key: string): void {
  const gone = known.get(key);
  if (!gone) return;
  known.delete(key);
  knownChars -= gone.chars;
  for (const form of gone.forms) {
    const start = form.text.slice(0, START_CHARS);
    const rest = byStart.get(start)?.filter((other) => other !== form) ?? [];
    if (rest.length === 0) byStart.delete(start);
    else byStart.set(start, rest);
  }
}
