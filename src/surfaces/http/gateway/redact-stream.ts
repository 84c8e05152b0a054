/**
 * Removes secrets from a byte stream, however it is split. Only bytes that could begin a secret are held
 * back, so that text passes as it is written.
 */
import { Transform } from "node:stream";
import { formsOf } from "#base/secrets/secret-forms.ts";

const REDACTED = Buffer.from("[redacted]");

export function redactStream(secrets: readonly string[]): Transform {
  const needles = [...new Set(secrets.flatMap(formsOf))]
    .sort((a, b) => b.length - a.length)
    .map((form) => Buffer.from(form));
  let held = Buffer.alloc(0);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const bytes = without(needles, held.length === 0 ? chunk : Buffer.concat([held, chunk]));
      const end = bytes.length - startedAtEnd(needles, bytes);
      held = Buffer.from(bytes.subarray(end));
      done(null, bytes.subarray(0, end));
    },
    flush(done) {
      done(null, held);
    },
  });
}

/** Removes the needles, longest first, each in one pass. */
function without(needles: readonly Buffer[], given: Buffer): Buffer {
  return needles.reduce(withoutOne, given);
}

function withoutOne(bytes: Buffer, needle: Buffer): Buffer {
  const parts: Buffer[] = [];
  let from = 0;
  for (let at = bytes.indexOf(needle); at >= 0; at = bytes.indexOf(needle, from)) {
    parts.push(bytes.subarray(from, at), REDACTED);
    from = at + needle.length;
  }
  return from === 0 ? bytes : Buffer.concat([...parts, bytes.subarray(from)]);
}

/** Number of last bytes that could begin a needle. */
function startedAtEnd(needles: readonly Buffer[], bytes: Buffer): number {
  let most = 0;
  for (const needle of needles) {
    const first = needle[0] as number;
    const tail = Math.max(0, bytes.length - needle.length + 1);
    for (let at = bytes.indexOf(first, tail); at >= 0; at = bytes.indexOf(first, at + 1)) {
      const count = bytes.length - at;
      if (count <= most) break;
      if (needle.subarray(0, count).equals(bytes.subarray(at))) most = count;
    }
  }
  return most;
}
