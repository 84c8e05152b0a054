/** Commands and patterns that reach for files that usually hold secrets. */
import { isSecretPath } from "#protocol/secret-paths.ts";
import type { ShellReading } from "./bash-commands.ts";
import { matchesGlob } from "./patterns.ts";
import type { Word } from "./shell-lexer.ts";

/** What a glob is tried on, to see whether it would find a secret. */
const SAMPLES = [
  ".env",
  ".env.local",
  "id_rsa",
  "id_ed25519",
  "server.pem",
  "credentials",
  ".git-credentials",
  ".npmrc",
  ".netrc",
  ".ssh",
  ".aws",
];
/** A glob with fewer letters says nothing about what is wanted. */
const MIN_LITERAL = 2;

/** Whether a command names such a file, as an argument, within one, or as its input. */
export function readsSecrets({ commands }: ShellReading): boolean {
  return commands.some(
    ({ words, redirects }) =>
      words.slice(1).some(namesSecret) ||
      redirects.some(({ operator, target }) => operator.startsWith("<") && namesSecret(target)),
  );
}

function namesSecret({ text, globs }: Word): boolean {
  return text
    .split(/[\s=:@,'"]+/)
    .some((piece) => isSecretPath(piece) || (globs && isSecretGlob(piece)));
}

export function isSecretGlob(pattern: string): boolean {
  if (isSecretPath(pattern)) return true;
  const name = pattern.replace(/^.*\//s, "");
  if (name.replaceAll(/[*?]|\[[^\]]*\]/g, "").length < MIN_LITERAL) return false;
  const simple = name.replaceAll(/\[[^\]]*\]/g, "?");
  return SAMPLES.some((sample) => matchesGlob(simple, sample, "text"));
}
