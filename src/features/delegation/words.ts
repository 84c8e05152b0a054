/** Words of others inside words of ours, so that none of them passes for a line of ours; pure. */

const LINE_END = /[\n\r\v\f\u0085\u2028\u2029]/;
/** What JSON leaves as it is, and what ends or turns a line all the same. */
const HIDDEN = /[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

export function inQuotes(text: string): string {
  return JSON.stringify(text).replace(
    HIDDEN,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

export function firstLine(text: string, maxChars: number): string {
  const line = text.trim().split(LINE_END, 1)[0] ?? "";
  return line.length <= maxChars ? line : `${line.slice(0, maxChars - 1)}…`;
}

/** Of all that one answer says together; each event gets its share, and at least a piece. */
const MAX_CHARS = 64_000;
const MIN_SHARE = 500;

export function shareOf(count: number): number {
  return Math.max(MIN_SHARE, Math.floor(MAX_CHARS / Math.max(1, count)));
}

/** A payload with no more of its text than that. */
export function cutPayload<P extends { text?: string }>(payload: P, maxChars: number): P {
  const { text } = payload;
  if (text === undefined || text.length <= maxChars) return payload;
  return { ...payload, text: text.slice(0, maxChars), isCut: true };
}
