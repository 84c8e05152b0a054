/**
 * Runs git against a repository that a credential opens. This happens in the runner itself, on
 * folders that no agent can write, and never in a sandbox, with a sandbox's limits. The credential
 * goes to git through a pipe: git asks a helper, and the helper reads the pipe, once. So the
 * credential is in no command line, no environment and no file. The helper answers for the
 * repository's own host alone, and redirects are not followed: a server must not send the runner,
 * or the credential, elsewhere.
 */
import { gitEnv } from "#base/git/git-env.ts";
import {
  type GitLimits,
  isLimitError,
  LIMITED_SETTINGS,
  runLimitedGit,
} from "#base/git/limited-git.ts";
import { Refusal } from "#base/refusal.ts";
import { createRedactor } from "#execution/tools/output/redact.ts";
import type { RepositoryAccess } from "#protocol/workspaces.ts";
import { type GitResult, lastWords, STOPPED, tookTooLong } from "./run-git.ts";

export type Credential = NonNullable<RepositoryAccess["credential"]>;

export interface CredentialedRemote {
  url: string;
  credential: Credential;
  /** Search path for git. */
  path: string;
}

export interface RemoteCall {
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  limits: GitLimits;
  timeoutMs: number;
  signal: AbortSignal;
}

/** File descriptor 3 is the pipe. Git also tells a helper what to keep or forget: that is ignored. */
const HELPER = '!f() { test "$1" = get && cat <&3; }; f';
const MAX_BYTES = 64 * 1024 ** 2;
const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

/** Undefined when there is no credential, or one that does not fit the address. */
export function openRemote(
  access: RepositoryAccess | null,
  path: string,
): CredentialedRemote | undefined {
  if (!access?.credential) return undefined;
  const { url, credential } = access;
  const { protocol, hostname, username, password } = new URL(url);
  const isSafe = protocol === "https:" || (protocol === "http:" && LOOPBACK.test(hostname));
  if (!isSafe || username || password) {
    throw new Refusal(
      "invalid",
      "credential_needs_https",
      "A credential is sent over https:// only. Use the repository's https:// address.",
    );
  }
  return { url, credential, path };
}

export async function runRemoteGit(
  { url, credential, path }: CredentialedRemote,
  { args, env, limits, timeoutMs, signal }: RemoteCall,
): Promise<GitResult> {
  const { protocol, origin } = new URL(url);
  const settings = {
    ...LIMITED_SETTINGS,
    "credential.helper": "",
    [`credential.${origin}.helper`]: HELPER,
    "http.followRedirects": "false",
    "push.followTags": "false",
  };
  const { exitCode, stdout, stderr, ended } = await runLimitedGit({
    args,
    cwd: "/",
    env: { PATH: path, ...gitEnv({ protocols: [protocol.slice(0, -1)], settings }), ...env },
    limits,
    maxBytes: MAX_BYTES,
    pipe: `username=${credential.username}\npassword=${credential.password}\n`,
    timeoutMs,
    signal,
  });
  const why = ENDINGS[ended]?.(timeoutMs);
  return {
    exitCode,
    stdout: stdout.toString("latin1"),
    stderr: why === undefined ? stderr : `${stderr.trimEnd()}\n${why}`,
  };
}

const ENDINGS: Partial<Record<string, (timeoutMs: number) => string>> = {
  time: tookTooLong,
  signal: () => STOPPED,
  size: () => "it said more than can be read",
};

/** Git's error output for people and models, without the credential. */
export function errorText(stderr: string, remote?: CredentialedRemote): string {
  const words = lastWords(stderr);
  if (!remote) return words;
  const { username, password } = remote.credential;
  return createRedactor([password, `${username}:${password}`])(words);
}

/** Advice for the error that git reported. */
export function adviceFor(stderr: string, { secret }: Credential): string {
  if (/Authentication failed|could not read (?:Username|Password)|error: 40[13]/i.test(stderr))
    return `The secret ${secret} was not accepted: it may be wrong, expired or lack the right. An admin can set it again (muster secrets set ${secret} --org).`;
  if (isLimitError(stderr))
    return "It is larger than this runner accepts. Use a smaller repository, or one with less history.";
  if (/error: 30\d/.test(stderr))
    return "The repository has moved, and a credential is not sent to the new address. An admin can change the repository's address.";
  if (/not found|error: 404/i.test(stderr))
    return `There is no such repository, or the secret ${secret} cannot see it. An admin can check the address and the secret.`;
  return "Check the repository's address, and that its server can be reached from the runner.";
}
