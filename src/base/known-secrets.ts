/**
 * Secrets that this process has had in its hands. Each goes in when it is opened for use, and is
 * taken out of every text that leaves by a log line or an error. It is one list for the process, so
 * that no caller can forget to hand it on; it holds the latest, so that it cannot grow for ever.
 */
import { formsOf } from "./secret-forms.ts";

const REDACTED = "[redacted]";
const MAX_KNOWN = 1_000;

/** Forms by the secret, the latest last. */
const known = new Map<string, readonly string[]>();

/** From now on it must not be read in a log line. What is too short to be told from words is not kept. */
export function keepSecret(value: string): void {
  const forms = known.get(value) ?? inLength(formsOf(value.trim()));
  if (forms.length === 0) return;
  known.delete(value);
  known.set(value, forms);
  if (known.size <= MAX_KNOWN) return;
  const [oldest] = known.keys();
  if (oldest !== undefined) known.delete(oldest);
}

export function withoutSecrets(text: string): string {
  let safe = text;
  for (const forms of known.values()) {
    for (const form of forms) if (safe.includes(form)) safe = safe.replaceAll(form, REDACTED);
  }
  return safe;
}

/** The longest first, so that a part of a form does not leave the rest of it behind. */
function inLength(forms: readonly string[]): string[] {
  return [...new Set(forms)].sort((a, b) => b.length - a.length);
}
