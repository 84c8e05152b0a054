/**
 * Quoting of other people's text inside ours, so that no part of it passes for a line of ours;
 * pure.
 */

const LINE_END = /[\n\r\v\f\u0085\u2028\u2029]/;
/**
 * Characters that JSON leaves unescaped although they break lines, change direction or are
 * invisible.
 */
const HIDDEN = /[\u007f-\u009f\u2028\u2029\p{Cf}]/gu;

export function inQuotes(text: string): string {
  return JSON.stringify(text).replace(HIDDEN, escaped);
}

/** Escapes each UTF-16 unit, as JSON does. */
function escaped(char: string): string {
  const units = Array.from({ length: char.length }, (_, at) => char.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}

export function firstLine(text: string, maxChars: number): string {
  const line = text.trim().split(LINE_END, 1)[0] ?? "";
  return line.length <= maxChars ? line : `${line.slice(0, maxChars - 1)}…`;
}

/** Limit of one notice or tool result; each event gets an equal share, and at least `MIN_SHARE`. */
const MAX_CHARS = 64_000;
const MIN_SHARE = 500;

export function shareOf(count: number): number {
  return Math.max(MIN_SHARE, Math.floor(MAX_CHARS / Math.max(1, count)));
}

/** True for a pending plan. It is never shortened: the part left out could say anything. */
export function isToDecide({ kind, isClosed }: { kind?: string; isClosed?: boolean }): boolean {
  return kind === "plan" && isClosed !== true;
}

/** Shortens the text of a payload for its parent, except a pending plan. */
export function cutPayload<
  P extends { text?: string; length?: number; kind?: string; isClosed?: boolean },
>(payload: P, maxChars: number): P {
  return isToDecide(payload) ? payload : cutText(payload, maxChars);
}

export function cutText<P extends { text?: string; length?: number }>(
  payload: P,
  maxChars: number,
): P {
  const { text } = payload;
  if (text === undefined || text.length <= maxChars) return payload;
  const length = payload.length ?? text.length;
  return { ...payload, text: text.slice(0, endOfPiece(text, maxChars)), isCut: true, length };
}

/** End of a piece of at most `limit` UTF-16 units that never splits a character. */
export function endOfPiece(text: string, limit: number): number {
  if (limit >= text.length) return text.length;
  const last = text.charCodeAt(limit - 1);
  return last >= 0xd800 && last <= 0xdbff ? limit - 1 : limit;
}
