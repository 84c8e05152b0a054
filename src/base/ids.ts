/**
 * Ids: a prefix that names the kind, then 26 characters of Crockford base32: 50 bits of time, 20
 * bits that count within the millisecond, and 60 random bits. The ids of one process sort in the
 * order they were minted, and two processes never mint the same one.
 */
import { createHash, randomFillSync } from "node:crypto";

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const TIME_CHARS = 10;
const COUNT_CHARS = 4;
const RANDOM_CHARS = 12;

export type IdPrefix =
  | "org"
  | "usr"
  | "crd"
  | "ses"
  | "thr"
  | "pmt"
  | "run"
  | "rnr"
  | "ent"
  | "apr"
  | "rul"
  | "inv"
  | "lnk"
  | "rep"
  | "aud"
  | "wsp"
  | "psn"
  | "psv"
  | "out"
  | "tmr"
  | "srv"
  | "evt"
  | "bnd"
  | "tsk"
  | "frm"
  | "mcp"
  | "mem"
  | "shf"
  | "msg"
  | "gwc";

/** Mints ids. Injected wherever ids are made, so that a simulation can replay them. */
export interface Ids {
  mint(prefix: IdPrefix): string;
}

const POOL_BYTES = 4096;

export function createIds(now: () => number = Date.now): Ids {
  const pool = new Uint8Array(POOL_BYTES);
  let used = POOL_BYTES;
  let lastTime = -1;
  let timePart = "";
  let count = 0;
  return {
    mint(prefix) {
      const time = now();
      if (time !== lastTime) {
        timePart = encode(time, TIME_CHARS);
        lastTime = time;
        count = 0;
      }
      const place = encode(count++, COUNT_CHARS);
      if (used + RANDOM_CHARS > POOL_BYTES) {
        randomFillSync(pool);
        used = 0;
      }
      let random = "";
      for (let i = 0; i < RANDOM_CHARS; i++) {
        random += ALPHABET[(pool[used + i] as number) & 31];
      }
      used += RANDOM_CHARS;
      return `${prefix}_${timePart}${place}${random}`;
    },
  };
}

/** Derives an id from a seed, for things with a natural identity, such as a runner. */
export function idFrom(prefix: IdPrefix, seed: string): string {
  const digest = createHash("sha256").update(seed).digest();
  let text = "";
  for (let i = 0; i < TIME_CHARS + COUNT_CHARS + RANDOM_CHARS; i++) {
    text += ALPHABET[(digest[i] as number) & 31];
  }
  return `${prefix}_${text}`;
}

function encode(value: number, chars: number): string {
  let rest = value;
  let text = "";
  for (let i = 0; i < chars; i++) {
    text = (ALPHABET[rest % 32] as string) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}
