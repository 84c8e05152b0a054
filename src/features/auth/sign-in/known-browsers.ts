/**
 * Marks of browsers that somebody has signed in with. A mark opens nothing; it only keeps failures of
 * strangers from locking that browser out. It is signed with the stored password hash, so it belongs to one
 * account and is void when the password changes.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { hashSecret } from "../credentials/secrets.ts";

const ID_CHARS = 22;

/** `secret` belongs to the new session and makes the id as random. */
export function markBrowser(userId: string, passwordHash: string, secret: string): string {
  const id = hashSecret(`known browser ${secret}`).slice(0, ID_CHARS);
  return `${id}.${macOf(userId, passwordHash, id)}`;
}

/** Returns the id in a mark of this account; undefined for anything else. */
export function knownBrowser(
  mark: string | undefined,
  userId: string,
  passwordHash: string,
): string | undefined {
  const [id = "", mac = ""] = (mark ?? "").split(".");
  const expected = Buffer.from(macOf(userId, passwordHash, id));
  const given = Buffer.from(mac);
  return given.length === expected.length && timingSafeEqual(given, expected) ? id : undefined;
}

function macOf(userId: string, passwordHash: string, id: string): string {
  return createHmac("sha256", passwordHash).update(`${userId} ${id}`).digest("base64url");
}
