/**
 * Providers' keys at rest: AES-256-GCM under a key that comes from the server's secret key. What a
 * sealed key is for is sealed with it, so a row that was copied to another name or organisation, or
 * pointed to another address, opens nothing.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { Refusal } from "#base/refusal.ts";

export interface KeyPlace {
  orgId: string;
  name: string;
  baseUrl: string;
}

export interface KeySealer {
  seal(apiKey: string, place: KeyPlace): string;
  /** Refuses when it was sealed under another secret key, or for another place. */
  open(sealed: string, place: KeyPlace): string;
}

const CIPHER = "aes-256-gcm";
const VERSION = "v1.";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export function createKeySealer(secretKey: string): KeySealer {
  const key = Buffer.from(hkdfSync("sha256", secretKey, "", "muster model provider keys", 32));
  return {
    seal(apiKey, place) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(boundTo(place));
      const sealed = [nonce, cipher.update(apiKey, "utf8"), cipher.final(), cipher.getAuthTag()];
      return VERSION + Buffer.concat(sealed).toString("base64url");
    },
    open(sealed, place) {
      const apiKey = decrypt(key, sealed, place);
      if (apiKey === undefined) throw secretKeyChanged(place.name);
      return apiKey;
    },
  };
}

function decrypt(key: Buffer, sealed: string, place: KeyPlace): string | undefined {
  const bytes = Buffer.from(sealed.slice(VERSION.length), "base64url");
  if (!sealed.startsWith(VERSION) || bytes.length < NONCE_BYTES + TAG_BYTES) return undefined;
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(boundTo(place));
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    const start = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
    return Buffer.concat([start, decipher.final()]).toString("utf8");
  } catch {
    return undefined;
  }
}

/** As JSON, so that no two places are written alike. */
function boundTo({ orgId, name, baseUrl }: KeyPlace): Buffer {
  return Buffer.from(JSON.stringify([orgId, name, baseUrl]));
}

function secretKeyChanged(name: string): Refusal {
  return new Refusal(
    "unavailable",
    "secret_key_changed",
    `The stored key of the provider ${name} cannot be read: the server's secret key is not the one it was stored under. Put the old one back (MUSTER_SECRET_KEY, or secret.key in the data folder), or give the provider's key again.`,
  );
}
