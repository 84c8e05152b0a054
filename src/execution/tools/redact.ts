/**
 * Takes secrets out of what a tool gave back, before a model or a journal sees it. This catches
 * accidents (a printed environment, a key in a file); an agent that wants to smuggle a secret out
 * can always spell it in another way, so secrets must not reach a sandbox in the first place.
 */
const REPLACEMENT = "[secret]";
/** Shorter ones would be found everywhere. */
const MIN_SECRET_LENGTH = 8;

/** Repeats are bounded, or begin at a fixed word, so that no text makes these slow. */
const SHAPES: readonly RegExp[] = [
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?:(?!-----END )[\s\S])*(?:-----END [A-Z ]{0,40}PRIVATE KEY-----)?/g,
  /\bsk-(?=[\w-]{0,80}\d)[\w-]{20,}/g,
  /\bmst_(?:key|link|web|rnr)_[\w-]{32}/g,
  /\bgh[pousr]_\w{20,}/g,
  /\bgithub_pat_\w{20,}/g,
  /\bglpat-[\w-]{20,}/g,
  /\bxox[abeoprs]-[\w-]{10,}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\bAIza[\w-]{35}/g,
  /\b[rs]k_live_\w{16,}/g,
  /\bnpm_[A-Za-z0-9]{36}\b/g,
  /\bhf_[A-Za-z0-9]{30,}/g,
  /\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}/g,
  /(?<=\bBearer\s{1,4})[\w.~+/=-]{16,}/gi,
];

export type Redactor = (text: string) => string;

export function createRedactor(secrets: readonly string[]): Redactor {
  const forms = new Set(secrets.flatMap(formsOf));
  // The longest first, so that a secret within a secret does not leave the rest of it behind.
  const words = [...forms].sort((a, b) => b.length - a.length).map(escapePattern);
  const given = words.length > 0 ? new RegExp(words.join("|"), "g") : null;
  return (text) => {
    let clean = given ? text.replace(given, REPLACEMENT) : text;
    for (const shape of SHAPES) clean = clean.replace(shape, REPLACEMENT);
    return clean;
  };
}

function escapePattern(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/-]/g, "\\$&");
}

/** How a secret is commonly written. */
function formsOf(secret: string): string[] {
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
 * Base64 of a text that has the secret in it looks one of three ways, after how many bytes come
 * before it. Characters that depend on the neighbours are left out.
 */
function base64Forms(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64");
    const start = Math.ceil((before * 8) / 6);
    const form = text.slice(start, Math.floor(((before + bytes.length) * 8) / 6));
    return [form, form.replaceAll("+", "-").replaceAll("/", "_")];
  });
}
