/**
 * The forms in which a secret leaks by accident: plain, in JSON, in a URL, in hexadecimal and in
 * base64. Pure.
 */

/** Shorter secrets would match everywhere. No form is shorter than this. */
export const MIN_SECRET_LENGTH = 8;

/** Lists the common encodings of a secret. */
export function formsOf(secret: string): string[] {
  if (secret.length < MIN_SECRET_LENGTH) return [];
  const bytes = Buffer.from(secret);
  const encoded = encodeURIComponent(secret.toWellFormed());
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encoded,
    encoded.replaceAll(/%../g, (code) => code.toLowerCase()),
    new URLSearchParams([["", secret]]).toString().slice(1),
    bytes.toString("hex"),
    bytes.toString("hex").toUpperCase(),
    ...base64Forms(bytes),
  ].filter((form) => form.length >= MIN_SECRET_LENGTH);
}

/**
 * Base64 of a text that contains the secret looks one of three ways, depending on the number of
 * bytes before it. Characters that depend on neighbouring bytes are left out.
 */
function base64Forms(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64");
    const start = Math.ceil((before * 8) / 6);
    const form = text.slice(start, Math.floor(((before + bytes.length) * 8) / 6));
    return [form, form.replaceAll("+", "-").replaceAll("/", "_")];
  });
}
