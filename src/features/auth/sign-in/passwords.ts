/**
 * Passwords: scrypt with a salt for each, compared in constant time. A password that does not exist is
 * checked like one that does, so that timing tells nobody who has an account.
 */
import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { addressGroup } from "#base/net/address-group.ts";
import { Refusal } from "#base/refusal.ts";

/** N, r, p: 32 MiB and some hundred milliseconds per guess. */
const COST = { N: 2 ** 15, r: 8, p: 3 } as const;
const MAX_MEMORY_BYTES = 64 * 1024 * 1024;
const SALT_BYTES = 16;
const HASH_BYTES = 32;
/** Hashing shares its threads with the disk, which must not wait for people who guess. */
const MAX_AT_ONCE = 2;
const MAX_WAITING = 64;
/** Keeps one party from filling the queue of strangers alone. */
const MAX_WAITING_FROM = 16;

/** Address of an unknown person; known people go first. */
export type Stranger = { address: string } | undefined;

interface WaitingCheck {
  group: string | undefined;
  begin: () => void;
}

let working = 0;
const known: WaitingCheck[] = [];
const strangers: WaitingCheck[] = [];

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const { N, r, p } = COST;
  const key = await derive(password, salt, COST);
  return ["scrypt", N, r, p, salt.toString("base64url"), key.toString("base64url")].join("$");
}

/** Checks a password. Without a hash it takes as long and returns false. */
export async function isPassword(
  password: string,
  stored: string | undefined,
  from?: Stranger,
): Promise<boolean> {
  const [, N, r, p, salt = "", hash = ""] = (stored ?? impossibleHash()).split("$");
  const cost = { N: Number(N), r: Number(r), p: Number(p) };
  const key = await derive(password, Buffer.from(salt, "base64url"), cost, from);
  const wanted = Buffer.from(hash, "base64url");
  return wanted.length === key.length && timingSafeEqual(wanted, key) && stored !== undefined;
}

/** A hash that no password has. */
function impossibleHash(): string {
  const { N, r, p } = COST;
  const [salt, key] = [Buffer.alloc(SALT_BYTES), Buffer.alloc(HASH_BYTES)];
  return ["scrypt", N, r, p, salt.toString("base64url"), key.toString("base64url")].join("$");
}

async function derive(
  password: string,
  salt: Buffer,
  cost: { N: number; r: number; p: number },
  from?: Stranger,
): Promise<Buffer> {
  await takeSlot(from);
  try {
    return await new Promise((resolve, reject) => {
      const options = { ...cost, maxmem: MAX_MEMORY_BYTES };
      // Normalised, because keyboards compose the same characters in different ways.
      scrypt(password.normalize("NFKC"), salt, HASH_BYTES, options, (error, key) =>
        error ? reject(error) : resolve(key),
      );
    });
  } finally {
    const next = known.shift() ?? strangers.shift();
    if (next) next.begin();
    else working--;
  }
}

function takeSlot(from: Stranger): Promise<void> {
  if (working < MAX_AT_ONCE) {
    working++;
    return Promise.resolve();
  }
  const group = from && addressGroup(from.address);
  const origin = from ? strangers : known;
  const isCrowding =
    from && origin.filter((other) => other.group === group).length >= MAX_WAITING_FROM;
  if (isCrowding || origin.length >= MAX_WAITING)
    throw new Refusal(
      "limit",
      "sign_in_busy",
      "Too many sign-ins at once. Try again in a moment.",
      {
        retryAfterMs: 5_000,
      },
    );
  // The finishing check hands its slot over.
  return new Promise((resolve) => origin.push({ group, begin: resolve }));
}

/** Refuses the few passwords that are tried first; the minimum length does the rest. */
export function refuseWeakPassword(password: string, email: string | null): void {
  const plain = password.toLowerCase();
  const isRepeated = new Set(plain).size < 4;
  if (!isRepeated && plain !== email?.toLowerCase()) return;
  throw new Refusal(
    "invalid",
    "password_weak",
    "This password is easy to guess. Use several unrelated words.",
  );
}
