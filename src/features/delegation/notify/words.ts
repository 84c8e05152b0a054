/** Words of others inside words of ours, so that none of them passes for a line of ours; pure. */

const LINE_END = /[\n\r\v\f\u0085\u2028\u2029]/;
/** What JSON leaves as it is, and what ends a line, turns it or is not seen all the same. */
const HIDDEN = /[\u007f-\u009f\u2028\u2029\p{Cf}]/gu;

export function inQuotes(text: string): string {
  return JSON.stringify(text).replace(HIDDEN, escaped);
}

/** Of two units, as JSON has it. */
function escaped(char: string): string {
  const units = Array.from({ length: char.length }, (_, at) => char.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
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

/** A plan that waits to be decided; what is decided by its beginning alone could say anything after it. */
export function isToDecide({ kind, isClosed }: { kind?: string; isClosed?: boolean }): boolean {
  return kind === "plan" && isClosed !== true;
}

/** A payload as its parent reads it, with no more of its text than that. */
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

/** Where a piece of a text ends that is to have at most `limit` units: never inside a character. */
export function endOfPiece(text: string, limit: number): number {
  if (limit >= text.length) return text.length;
  const last = text.charCodeAt(limit - 1);
  return last >= 0xd800 && last <= 0xdbff ? limit - 1 : limit;
}
