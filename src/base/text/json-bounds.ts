/**
 * Limits on JSON from outside, checked on its bytes before it is parsed. Nesting and the number of
 * values decide the cost of parsing; text inside strings is cheap. The check takes one pass and
 * accepts any bytes, JSON or not.
 */
import { Refusal } from "../refusal.ts";

export interface JsonBounds {
  depth: number;
  /** Members of objects and arrays over all levels. */
  values: number;
}

const QUOTE = 34;
const COMMA = 44;
const BACKSLASH = 92;
const OPENING_LIST = 91;
const CLOSING_LIST = 93;
const OPENING_OBJECT = 123;
const CLOSING_OBJECT = 125;

/** Returns the limit that the bytes exceed; undefined if they keep both. */
export function exceededBound(bytes: Uint8Array, limits: JsonBounds): keyof JsonBounds | undefined {
  let depth = 0;
  let values = 0;
  for (let at = 0; at < bytes.length; at++) {
    // A switch, because a Set lookup costs several times as much and there may be millions of
    // bytes.
    switch (bytes[at]) {
      case QUOTE:
        at = endOfString(bytes, at);
        break;
      case COMMA:
        if (++values > limits.values) return "values";
        break;
      case OPENING_LIST:
      case OPENING_OBJECT:
        if (++depth > limits.depth) return "depth";
        if (++values > limits.values) return "values";
        break;
      case CLOSING_LIST:
      case CLOSING_OBJECT:
        depth -= 1;
        break;
      default:
    }
  }
  return undefined;
}

/** Index of the quote that ends the string that begins at `start`. */
export function endOfString(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}

export function requireJsonBounds(bytes: Uint8Array, limits: JsonBounds): void {
  const exceeded = exceededBound(bytes, limits);
  if (exceeded === "depth")
    throw new Refusal(
      "invalid",
      "json_too_deep",
      `The JSON is nested deeper than ${limits.depth} levels. Flatten it.`,
    );
  if (exceeded === "values")
    throw new Refusal(
      "too_large",
      "json_too_many_values",
      `The JSON has more than ${limits.values} values. Send less at once.`,
    );
}

/** Counts the members of a value that will become JSON; infinite if it is nested too deep. */
export function countValues(value: unknown, maxDepth: number): number {
  if (typeof value !== "object" || value === null) return 0;
  if (maxDepth === 0) return Number.POSITIVE_INFINITY;
  let count = 1;
  for (const key in value)
    count += 1 + countValues((value as Record<string, unknown>)[key], maxDepth - 1);
  return count;
}
