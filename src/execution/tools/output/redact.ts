/**
 * Removes secrets from the output of a tool, before a model or a journal sees it. This catches
 * accidents (a printed environment, a key in a file); an agent that wants to smuggle a secret out
 * can always spell it in another way, so secrets must not reach a sandbox in the first place.
 */
import { formsOf } from "#base/secrets/secret-forms.ts";
import { withoutSignedTokens } from "./signed-tokens.ts";

const REPLACEMENT = "[secret]";

/**
 * Repeats are bounded, or begin at a fixed word and take all that follows, so that no text makes
 * these patterns slow. Shapes that need more have a scanner of their own.
 */
const SHAPES: readonly RegExp[] = [
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?:(?!-----END )[\s\S])*(?:-----END [A-Z ]{0,40}PRIVATE KEY-----)?/g,
  /\bsk-(?=[\w-]{0,80}\d)[\w-]{20,}/g,
  // Tokens of every kind, also of kinds to come.
  /\bmst_[a-z]{2,10}_[\w-]{32}/g,
  /\bmrt_run_\w{1,100}\.\d{1,15}\.[\w-]{43}/g,
  /\bgh[pousr]_\w{20,}/g,
  /\bgithub_pat_\w{20,}/g,
  /\bglpat-[\w-]{20,}/g,
  /\bxox[abeoprs]-[\w-]{10,}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\bAIza[\w-]{35}/g,
  /\b[rs]k_live_\w{16,}/g,
  /\bnpm_[A-Za-z0-9]{36}\b/g,
  /\bhf_[A-Za-z0-9]{30,}/g,
];
const BEARER = /(?<=\bBearer\s{1,4})[\w.~+/=-]{16,}/gi;

export type Redactor = (text: string) => string;

export function createRedactor(secrets: readonly string[]): Redactor {
  const forms = new Set(secrets.flatMap(formsOf));
  // The longest first, so that a secret within a secret does not leave the rest of it behind.
  const words = [...forms].sort((a, b) => b.length - a.length).map(escapePattern);
  const given = words.length > 0 ? new RegExp(words.join("|"), "g") : null;
  return (text) => {
    let clean = given ? text.replace(given, REPLACEMENT) : text;
    for (const shape of SHAPES) clean = clean.replace(shape, REPLACEMENT);
    return withoutSignedTokens(clean, REPLACEMENT).replace(BEARER, REPLACEMENT);
  };
}

export interface GrowingRedactor {
  redact: Redactor;
  /** Redacts these too from now on. */
  add(secrets: readonly string[]): void;
}

/** Redactor for secrets that become known while the runner works; they are never forgotten again. */
export function createGrowingRedactor(base: Redactor): GrowingRedactor {
  const known = new Set<string>();
  let more: Redactor = (text) => text;
  return {
    redact: (text) => base(more(text)),
    add(secrets) {
      const before = known.size;
      for (const secret of secrets) known.add(secret);
      if (known.size > before) more = createRedactor([...known]);
    },
  };
}

function escapePattern(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/-]/g, "\\$&");
}
