/** Settings for single sign-on, and for the owner's first password. */
import { readFileSync, statSync } from "node:fs";
import * as z from "zod";
import { Refusal } from "./refusal.ts";
import { pinSecret } from "./secrets/known-secrets.ts";

const MAX_SECRET_BYTES = 4_096;
const GITHUB_URL = "https://github.com";
const GITHUB_API_URL = "https://api.github.com";

/** Sign-in must be encrypted, except to a program on this machine. */
const safeUrl = z
  .url({ protocol: /^https?$/, error: "an https:// address" })
  .refine(isSafe, "an https:// address without a query; http:// is allowed for this machine only");

const shortText = z.string().min(1).max(500);

export const signInShape = {
  MUSTER_GITHUB_CLIENT_ID: shortText.optional(),
  MUSTER_GITHUB_CLIENT_SECRET: shortText.optional(),
  MUSTER_GITHUB_CLIENT_SECRET_FILE: shortText.optional(),
  MUSTER_GITHUB_URL: safeUrl.optional(),
  MUSTER_OIDC_ISSUER: safeUrl.optional(),
  MUSTER_OIDC_CLIENT_ID: shortText.optional(),
  MUSTER_OIDC_CLIENT_SECRET: shortText.optional(),
  MUSTER_OIDC_CLIENT_SECRET_FILE: shortText.optional(),
  MUSTER_OIDC_NAME: z
    .string()
    .trim()
    .min(1)
    .max(60)
    .regex(/^[^\p{Cc}\p{Cf}\p{Cs}]*$/u, "one line of plain text")
    .default("single sign-on"),
  MUSTER_OWNER_EMAIL: shortText.optional(),
  MUSTER_OWNER_PASSWORD_FILE: shortText.optional(),
};

type SignInVariables = z.infer<z.ZodObject<typeof signInShape>> & {
  MUSTER_GITHUB_API_URL?: string | undefined;
};

/**
 * A secret, or the file it is in. The file is read when a server starts: commands that only talk to
 * a server need not be able to read it.
 */
export type SecretSource = { value: string } | { setting: string; file: string };

export interface SignInSettings {
  github: { clientId: string; secret: SecretSource; url: string; apiUrl: string } | undefined;
  oidc: { clientId: string; secret: SecretSource; issuer: string; name: string } | undefined;
  /** Set once, if the owner has no password. */
  ownerPassword: SecretSource | undefined;
  ownerEmail: string | undefined;
}

export function signInSettings(given: SignInVariables): SignInSettings {
  const file = given.MUSTER_OWNER_PASSWORD_FILE;
  return {
    github: githubSettings(given),
    oidc: oidcSettings(given),
    ownerPassword: file === undefined ? undefined : { setting: "MUSTER_OWNER_PASSWORD_FILE", file },
    ownerEmail: given.MUSTER_OWNER_EMAIL,
  };
}

function githubSettings(given: SignInVariables): SignInSettings["github"] {
  const secret = secretSource(
    "MUSTER_GITHUB_CLIENT_SECRET",
    given.MUSTER_GITHUB_CLIENT_SECRET,
    given.MUSTER_GITHUB_CLIENT_SECRET_FILE,
  );
  const clientId = given.MUSTER_GITHUB_CLIENT_ID;
  if (clientId === undefined && secret === undefined) return undefined;
  if (clientId === undefined) throw missing("MUSTER_GITHUB_CLIENT_ID");
  if (secret === undefined) throw missing("MUSTER_GITHUB_CLIENT_SECRET");
  const api = given.MUSTER_GITHUB_API_URL;
  // Otherwise tokens of one server would be sent to another.
  if (given.MUSTER_GITHUB_URL === undefined && api !== undefined && bare(api) !== GITHUB_API_URL)
    throw missing("MUSTER_GITHUB_URL");
  if (api !== undefined && !isSafe(api))
    throw invalid("MUSTER_GITHUB_API_URL: must be an https:// address to sign people in with it");
  const url = bare(given.MUSTER_GITHUB_URL ?? GITHUB_URL);
  const apiUrl = bare(api ?? (url === GITHUB_URL ? GITHUB_API_URL : `${url}/api/v3`));
  return { clientId, secret, url, apiUrl };
}

function oidcSettings(given: SignInVariables): SignInSettings["oidc"] {
  const secret = secretSource(
    "MUSTER_OIDC_CLIENT_SECRET",
    given.MUSTER_OIDC_CLIENT_SECRET,
    given.MUSTER_OIDC_CLIENT_SECRET_FILE,
  );
  const { MUSTER_OIDC_ISSUER: issuer, MUSTER_OIDC_CLIENT_ID: clientId } = given;
  if (issuer === undefined && clientId === undefined && secret === undefined) return undefined;
  if (issuer === undefined) throw missing("MUSTER_OIDC_ISSUER");
  if (clientId === undefined) throw missing("MUSTER_OIDC_CLIENT_ID");
  if (secret === undefined) throw missing("MUSTER_OIDC_CLIENT_SECRET");
  return { clientId, secret, issuer, name: given.MUSTER_OIDC_NAME };
}

function secretSource(
  setting: string,
  value: string | undefined,
  file: string | undefined,
): SecretSource | undefined {
  if (value !== undefined && file !== undefined)
    throw invalid(`${setting}: must not be set twice; use either it or ${setting}_FILE`);
  if (value !== undefined) return { value };
  return file === undefined ? undefined : { setting: `${setting}_FILE`, file };
}

/** Reads the secret and redacts it from log lines from then on. */
export function readSecretSource(source: SecretSource): string {
  const secret = "value" in source ? source.value : readSecretFile(source);
  pinSecret(secret);
  return secret;
}

/** Strips the line break that editors add at the end. */
function readSecretFile(source: Extract<SecretSource, { file: string }>): string {
  const { setting, file } = source;
  let text: string;
  try {
    if (statSync(file).size > MAX_SECRET_BYTES) throw new Error("it is too large");
    text = readFileSync(file, "utf8").replace(/\r?\n$/, "");
  } catch (error) {
    throw invalid(
      `${setting}: must be a readable file; ${file} cannot be read: ${(error as Error).message}`,
    );
  }
  if (text === "" || /[\r\n\0]/.test(text))
    throw invalid(`${setting}: must be a file with exactly one line; ${file} is not`);
  return text;
}

function isSafe(text: string): boolean {
  const { protocol, hostname, search, hash, username } = new URL(text);
  if (search !== "" || hash !== "" || username !== "") return false;
  return protocol === "https:" || ["127.0.0.1", "localhost", "[::1]"].includes(hostname);
}

const bare = (url: string) => url.replace(/\/+$/, "");

function missing(setting: string): Refusal {
  return invalid(`${setting}: must be set too, or none of the settings it belongs to`);
}

function invalid(why: string): Refusal {
  return new Refusal("invalid", "config_invalid", `A setting has an invalid value.\n${why}`);
}
