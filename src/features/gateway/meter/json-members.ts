/**
 * Lists the members of a JSON object with the bytes of their values, without parsing the values. It finds
 * what `JSON.parse` hides: a duplicate name, for which two parsers may take different values.
 */
import { endOfString } from "#base/text/json-bounds.ts";

export interface JsonMember {
  name: string;
  /** Bytes of the value, from `start` up to but without `end`. */
  start: number;
  end: number;
}

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const SPACE = 32;
const OPENING: ReadonlySet<number> = new Set([91, 123]);
const CLOSING: ReadonlySet<number> = new Set([93, 125]);

/** `bytes` must be the valid JSON of one object. */
export function membersOf(bytes: Buffer): JsonMember[] {
  const members: JsonMember[] = [];
  let at = bytes.indexOf("{") + 1;
  for (;;) {
    const nameStart = bytes.indexOf(QUOTE, at);
    if (nameStart < 0) return members;
    const nameEnd = endOfString(bytes, nameStart);
    const name = JSON.parse(bytes.toString("utf8", nameStart, nameEnd + 1)) as string;
    let start = bytes.indexOf(COLON, nameEnd) + 1;
    while ((bytes[start] as number) <= SPACE) start += 1;
    const end = endOfValue(bytes, start);
    members.push({ name, start, end });
    // A comma leads to the next member; a brace closes the object.
    if (bytes[end] !== COMMA) return members;
    at = end + 1;
  }
}

function endOfValue(bytes: Buffer, start: number): number {
  let depth = 0;
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) at = endOfString(bytes, at);
    else if (OPENING.has(byte)) depth += 1;
    else if (CLOSING.has(byte)) {
      if (depth === 0) return at;
      depth -= 1;
    } else if (byte === COMMA && depth === 0) return at;
  }
  return bytes.length;
}
