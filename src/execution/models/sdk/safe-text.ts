/**
 * Makes a provider's own words fit to be shown: short, on one line, without anything that is or
 * looks like a key. Some providers repeat the key they were given in their answer.
 */
import { redactText } from "#base/log.ts";

const MAX_CHARS = 300;
const REDACTED = "[redacted]";
/** Long runs of letters and digits; ids of requests match too, names of models have dashes. */
const LOOKS_LIKE_KEY = /(?=\w*\d)(?=\w*[A-Za-z])\w{20,}/g;
const NAMED_SECRET =
  /\b((?:api[-_ ]?key|token|secret|password)["']?\s*[:=]\s*["']?)[^\s"',}]{6,}/gi;

export function safeText(text: string, secrets: readonly string[] = []): string {
  let safe = text.slice(0, MAX_CHARS * 10);
  for (const secret of secrets) {
    if (secret.length >= 4) safe = safe.replaceAll(secret, REDACTED);
  }
  safe = redactText(safe)
    .replace(NAMED_SECRET, `$1${REDACTED}`)
    .replace(LOOKS_LIKE_KEY, REDACTED)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be shown
    .replace(/[\u0000-\u001f\u007f\s]+/g, " ")
    .trim();
  return safe.length > MAX_CHARS ? `${safe.slice(0, MAX_CHARS - 1)}…` : safe;
}
