/** Settings of signing in through somebody else's service, and of the owner's first password. */
import { readFileSync, statSync } from "node:fs";
import * as z from "zod";
import { Refusal } from "./refusal.ts";
import { pinSecret } from "./secrets/known-secrets.ts";

const MAX_SECRET_BYTES = 4_096;
const GITHUB_URL = "https://github.com";
const GITHUB_API_URL = "https://api.github.com";

/** Who one is must not be said in the clear, except to a program on this machine. */
const safeUrl = z
  .url({ protocol: /^https?$/, error: "an https:// address" })
  .refine(isSafe, "an https:// address without query; http:// is for this machine alone");

const line = z.string().min(1).max(500);

export const signInShape = {
  MUSTER_GITHUB_CLIENT_ID: line.optional(),
  MUSTER_GITHUB_CLIENT_SECRET: line.optional(),
  MUSTER_GITHUB_CLIENT_SECRET_FILE: line.optional(),
  MUSTER_GITHUB_URL: safeUrl.optional(),
  MUSTER_OIDC_ISSUER: safeUrl.optional(),
  MUSTER_OIDC_CLIENT_ID: line.optional(),
  MUSTER_OIDC_CLIENT_SECRET: line.optional(),
  MUSTER_OIDC_CLIENT_SECRET_FILE: line.optional(),
  MUSTER_OIDC_NAME: z
    .string()
    .trim()
    .min(1)
    .max(60)
    .regex(/^[^\p{Cc}\p{Cf}\p{Cs}]*$/u, "one line of plain text")
    .default("single sign-on"),
  MUSTER_OWNER_EMAIL: line.optional(),
  MUSTER_OWNER_PASSWORD_FILE: line.optional(),
};

type Given = z.infer<z.ZodObject<typeof signInShape>> & {
  MUSTER_GITHUB_API_URL?: string | undefined;
};

/** A file is read when a server starts: commands that only ask one need not be able to. */
export type SecretSource = { value: string } | { setting: string; file: string };

export interface SignInSettings {
  github: { clientId: string; secret: SecretSource; url: string; apiUrl: string } | undefined;
  oidc: { clientId: string; secret: SecretSource; issuer: string; name: string } | undefined;
  /** Set once, when the owner has none. */
  ownerPassword: SecretSource | undefined;
  ownerEmail: string | undefined;
}

export function signInSettings(given: Given): SignInSettings {
  const file = given.MUSTER_OWNER_PASSWORD_FILE;
  return {
    github: githubSettings(given),
    oidc: oidcSettings(given),
    ownerPassword: file === undefined ? undefined : { setting: "MUSTER_OWNER_PASSWORD_FILE", file },
    ownerEmail: given.MUSTER_OWNER_EMAIL,
  };
}

function githubSettings(given: Given): SignInSettings["github"] {
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
  // Else the tokens of one place would be shown to another.
  if (given.MUSTER_GITHUB_URL === undefined && api !== undefined && bare(api) !== GITHUB_API_URL)
    throw missing("MUSTER_GITHUB_URL");
  if (api !== undefined && !isSafe(api))
    throw invalid("MUSTER_GITHUB_API_URL: must be an https:// address to sign people in with it");
  const url = bare(given.MUSTER_GITHUB_URL ?? GITHUB_URL);
  const apiUrl = bare(api ?? (url === GITHUB_URL ? GITHUB_API_URL : `${url}/api/v3`));
  return { clientId, secret, url, apiUrl };
}

function oidcSettings(given: Given): SignInSettings["oidc"] {
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
    throw invalid(`${setting}: must not be given twice; leave out it or ${setting}_FILE`);
  if (value !== undefined) return { value };
  return file === undefined ? undefined : { setting: `${setting}_FILE`, file };
}

/** From then on it must not be read in a log line. */
export function readSecretSource(source: SecretSource): string {
  const secret = "value" in source ? source.value : readSecretFile(source);
  pinSecret(secret);
  return secret;
}

/** The line break that editors leave at the end is not part of it. */
function readSecretFile(source: Extract<SecretSource, { file: string }>): string {
  const { setting, file } = source;
  let text: string;
  try {
    if (statSync(file).size > MAX_SECRET_BYTES) throw new Error("it is too large");
    text = readFileSync(file, "utf8").replace(/\r?\n$/, "");
  } catch (error) {
    throw invalid(
      `${setting}: must be a file that can be read; ${file} cannot: ${(error as Error).message}`,
    );
  }
  if (text === "" || /[\r\n\0]/.test(text))
    throw invalid(`${setting}: must be a file with one line, and nothing else; ${file} is not`);
  return text;
}

function isSafe(text: string): boolean {
  const { protocol, hostname, search, hash, username } = new URL(text);
  if (search !== "" || hash !== "" || username !== "") return false;
  return protocol === "https:" || ["127.0.0.1", "localhost", "[::1]"].includes(hostname);
}

const bare = (url: string) => url.replace(/\/+$/, "");

function missing(setting: string): Refusal {
  return invalid(`${setting}: must be given too, or none of the settings it belongs to`);
}

function invalid(why: string): Refusal {
  return new Refusal(
    "invalid",
    "config_invalid",
    `A setting has a value that is not allowed.\n${why}`,
  );
}
