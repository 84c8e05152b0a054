/** Sign-in from the settings: services, and the owner's first password. */
import type { Config } from "#base/config.ts";
import type { Log } from "#base/log.ts";
import { Refusal } from "#base/refusal.ts";
import { readSecretSource, type SignInSettings } from "#base/sign-in-settings.ts";
import { type Auth, createProviderSignIn } from "#features/auth/index.ts";

type ProviderSignIn = ReturnType<typeof createProviderSignIn>;
type Parts = Omit<Parameters<typeof createProviderSignIn>[0], "github" | "oidc">;

export const LOOPBACK = new Set(["127.0.0.1", "::1", "localhost"]);

/** Reads secrets from files, so a start fails if one cannot be read. */
export function createSignIn({ github, oidc }: SignInSettings, parts: Parts): ProviderSignIn {
  return createProviderSignIn({
    ...parts,
    github: github && { ...github, clientSecret: readSecretSource(github.secret) },
    oidc: oidc && { ...oidc, clientSecret: readSecretSource(oidc.secret) },
  });
}

export async function setOwnerPassword(
  { ownerPassword, ownerEmail }: SignInSettings,
  auth: Auth,
  ownerId: string,
  log: Log,
): Promise<void> {
  if (ownerPassword === undefined) return;
  const read = () => readSecretSource(ownerPassword);
  const wasSet = await auth.setFirstPassword(ownerId, read, ownerEmail);
  if (wasSet) log.info({}, "the owner's first password was set from its file");
}

/** Refuses to start where others can reach the server, but only a file on this machine allows signing in. */
export async function refuseStrangers(
  { host }: Config,
  auth: Auth,
  providers: ProviderSignIn,
): Promise<void> {
  if (LOOPBACK.has(host)) return;
  if ((await auth.hasPasswordSignIn()) || (await providers.hasProviderSignIn())) return;
  throw new Refusal(
    "invalid",
    "sign_in_required",
    `MUSTER_HOST is ${host}, which others can reach, and no admin could sign in from there. Start on 127.0.0.1 and set a password with: npx muster password, or link an account in the settings; or give MUSTER_OWNER_EMAIL and MUSTER_OWNER_PASSWORD_FILE. Then start again.`,
  );
}
