/**
 * Encryption at rest: AES-256-GCM under a key that is derived from the server's secret key, one for
 * each purpose. The location of a secret is authenticated with it, so a row that was copied
 * elsewhere cannot be opened. Every secret that passes here is redacted from log lines from then
 * on.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { keepSecret, pinSecret } from "./known-secrets.ts";

/** Location that a secret is bound to, such as its table and ids, in a fixed order. */
export type SealBinding = readonly string[];

export interface Sealer {
  seal(secret: string, place: SealBinding): string;
  /**
   * Undefined if the value was sealed with another secret key, for another purpose or another
   * location.
   */
  open(sealed: string, place: SealBinding): string | undefined;
  /**
   * True if `open` would succeed. The secret is not returned, so it need not be redacted from logs.
   */
  opens(sealed: string, place: SealBinding): boolean;
}

const CIPHER = "aes-256-gcm";
const VERSION = "v1.";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The purpose must never change: values sealed for the old one could not be opened any more. */
export function createSealer(secretKey: string, purpose: string): Sealer {
  pinSecret(secretKey);
  const key = Buffer.from(hkdfSync("sha256", secretKey, "", purpose, 32));
  return {
    seal(secret, place) {
      keepSecret(secret);
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(boundTo(place));
      const sealed = [nonce, cipher.update(secret, "utf8"), cipher.final(), cipher.getAuthTag()];
      return VERSION + Buffer.concat(sealed).toString("base64url");
    },
    open(sealed, place) {
      const secret = decrypt(key, sealed, place);
      if (secret !== undefined) keepSecret(secret);
      return secret;
    },
    opens: (sealed, place) => decrypt(key, sealed, place) !== undefined,
  };
}

function decrypt(key: Buffer, sealed: string, place: SealBinding): string | undefined {
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

/** JSON, so that two different locations never have the same bytes. */
function boundTo(place: SealBinding): Buffer {
  return Buffer.from(JSON.stringify(place));
}
