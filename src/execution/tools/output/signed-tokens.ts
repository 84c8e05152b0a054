/**
 * Finds JSON web tokens in a text: three parts with dots between them. One pass, whatever the text
 * is.
 */

/** A header or a claim begins with `{"`, which is this in base64. */
const PART_START = "eyJ";
const MIN_PART_CHARS = 10;
/** Characters of a part. */
const RUN = /[\w-]+/g;
const WORD = /\w/;

export function withoutSignedTokens(text: string, replacement: string): string {
  if (!text.includes(`.${PART_START}`)) return text;
  const runs = [...text.matchAll(RUN)].map(({ index, 0: run }) => ({
    start: index,
    end: index + run.length,
  }));
  let safe = "";
  let from = 0;
  for (let at = 0; at + 2 < runs.length; at++) {
    const [header, claims, signature] = runs.slice(at, at + 3) as [Run, Run, Run];
    if (!areParts(text, header, claims, signature)) continue;
    const start = tokenStart(text, header);
    if (start === undefined) continue;
    safe += text.slice(from, start) + replacement;
    from = signature.end;
    // The signature is part of this token, and of no other.
    at += 2;
  }
  return from === 0 ? text : safe + text.slice(from);
}

interface Run {
  start: number;
  end: number;
}

function areParts(text: string, header: Run, claims: Run, signature: Run): boolean {
  return (
    isJoined(text, header, claims) &&
    isJoined(text, claims, signature) &&
    text.startsWith(PART_START, claims.start) &&
    claims.end - claims.start >= PART_START.length + MIN_PART_CHARS &&
    signature.end - signature.start >= MIN_PART_CHARS
  );
}

function isJoined(text: string, left: Run, right: Run): boolean {
  return right.start === left.end + 1 && text[left.end] === ".";
}

/** First place in the run where a header can begin: at a word's beginning, and long enough. */
function tokenStart(text: string, { start, end }: Run): number | undefined {
  const last = end - PART_START.length - MIN_PART_CHARS;
  for (let at = text.indexOf(PART_START, start); at >= 0 && at <= last; ) {
    if (at === 0 || !WORD.test(text[at - 1] as string)) return at;
    at = text.indexOf(PART_START, at + 1);
  }
  return undefined;
}
