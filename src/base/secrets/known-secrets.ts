/**
 * Secrets that this process has used. Each is registered when it is opened for use, and is removed
 * from every text that leaves in a log line or an error. The list is global to the process, so no
 * caller can forget to pass it on. People choose the secrets and their number, so the list is
 * limited in count and size; the process's own secrets are pinned and never evicted.
 */
import { formsOf, MIN_SECRET_LENGTH } from "./secret-forms.ts";

const REDACTED = "[redacted]";
const MAX_KNOWN = 1_000;
/** Characters of all forms together; a usual token has about 500. */
const MAX_FORM_CHARS = 4 * 1024 ** 2;
/** Longer values are known only by their first `PREFIX_CHARS` characters. */
const MAX_SECRET_CHARS = 4 * 1024;
const PREFIX_CHARS = 512;
/** No form is shorter, so forms are indexed by their first characters. */
const START_CHARS = MIN_SECRET_LENGTH;

interface Form {
  text: string;
  /** True if only the beginning is known; everything after it is redacted too. */
  isPrefix: boolean;
}

interface Known {
  forms: readonly Form[];
  chars: number;
}

/** Keyed by the secret or its known prefix; the most recently used last. */
const known = new Map<string, Known>();
let knownChars = 0;
/** Keys of the process's own secrets. */
const pinned = new Set<string>();
/** Forms by their first characters, the longest first. */
const byStart = new Map<string, Form[]>();

/**
 * Redacts the value from all later log lines. A value too short to be told from ordinary words is
 * ignored.
 */
export function keepSecret(value: string): void {
  const key = keyOf(value);
  if (pinned.has(key)) return;
  const before = known.get(key);
  if (before) {
    known.delete(key);
    known.set(key, before);
    return;
  }
  const made = entryOf(value, key);
  if (made.forms.length === 0) return;
  known.set(key, made);
  knownChars += made.chars;
  indexForms(made.forms);
  while (known.size > MAX_KNOWN || knownChars > MAX_FORM_CHARS) {
    const [oldest] = known.keys();
    if (oldest === undefined) return;
    forget(oldest);
  }
}

/** Registers a secret from the settings, which is never evicted. */
export function pinSecret(value: string): void {
  const key = keyOf(value);
  if (pinned.has(key)) return;
  forget(key);
  pinned.add(key);
  indexForms(entryOf(value, key).forms);
}

/** Redacts in one pass, so the time depends on the text and not on the number of secrets. */
export function withoutSecrets(text: string): string {
  if (byStart.size === 0) return text;
  let safe = "";
  let from = 0;
  for (let at = 0; at + START_CHARS <= text.length; ) {
    const form = longestFormAt(text, at);
    if (!form) {
      at += 1;
      continue;
    }
    safe += text.slice(from, at) + REDACTED;
    at = form.isPrefix ? text.length : at + form.text.length;
    from = at;
  }
  return from === 0 ? text : safe + text.slice(from);
}

/** Finds the longest form, so that a shorter one does not leave the rest of it behind. */
function longestFormAt(text: string, at: number): Form | undefined {
  const forms = byStart.get(text.slice(at, at + START_CHARS));
  return forms?.find((form) => text.startsWith(form.text, at));
}

/**
 * The part of a value that is stored. A part is copied, because a slice would keep the whole string
 * in memory.
 */
function keyOf(value: string): string {
  const secret = value.trim();
  const kept = secret.length > MAX_SECRET_CHARS ? secret.slice(0, PREFIX_CHARS) : secret;
  return kept.length === value.length ? kept : Buffer.from(kept, "utf16le").toString("utf16le");
}

function entryOf(value: string, key: string): Known {
  const isPrefix = value.trim().length > MAX_SECRET_CHARS;
  const texts = [...new Set(formsOf(key))];
  const forms = texts.map((text) => ({ text, isPrefix }));
  return { forms, chars: texts.reduce((sum, text) => sum + text.length, 0) };
}

function indexForms(forms: readonly Form[]): void {
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
