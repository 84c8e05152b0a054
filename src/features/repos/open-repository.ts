/**
 * Credentials of a session's repository, for the runner that works on the session. Only the organisation's
 * secrets are used, never a person's own: otherwise whoever sets up a repository could have such a secret
 * sent to a host of their choice by naming it. The credentials go to machines of the organisation and of
 * admins; any other person's machine would let that person read them.
 */
import { Refusal } from "#base/refusal.ts";
import type { Reader } from "#base/store/index.ts";
import type { Brief, Engine, RepositoryOpener, SessionRow } from "#engine/index.ts";
import { findUser, isActiveMember } from "#features/auth/index.ts";
import type { Secrets } from "#features/secrets/index.ts";
import type { GitIdentity, RepositoryAccess } from "#protocol/workspaces.ts";
import { githubWebUrl, parseAddress, requireSafeForCredential } from "./addresses.ts";
import { type ResolvedRepo, resolveRepo } from "./resolve-repo.ts";

export interface OpenerOptions {
  secrets: Pick<Secrets, "read">;
  githubApiUrl: string;
}

/** Hosts that accept tokens require some user name with them; most ignore its value. */
const TOKEN_USER = "x-access-token";
/** A shorter password could not be told from other words in text that agents are shown. */
const MIN_PASSWORD_CHARS = 8;
const VISIBLE = /^[\x21-\x7e]+$/;

export function createRepositoryOpener({ secrets, githubApiUrl }: OpenerOptions): RepositoryOpener {
  return async (engine, session, runner) => {
    const { org_id: orgId, repo: address } = session;
    if (address === null) return undefined;
    const repo = await engine.store.read((reader) => resolveRepo(reader, orgId, address));
    if (!repo) return undefined;
    const { fullName, provider, url, branch: defaultBranch } = repo;
    const opened = { fullName, provider, url, defaultBranch };
    if (repo.credential === null) return { ...opened, credential: null, apiUrl: null };
    await refuseStrangers(engine, runner.scope);
    const credential = await readCredential(engine, secrets, orgId, repo);
    return { ...opened, credential, apiUrl: apiOf(repo, githubApiUrl) };
  };
}

async function refuseStrangers({ store }: Engine, scope: string): Promise<void> {
  if (scope === "org") return;
  const owner = await store.read((reader) => findUser(reader, scope.replace(/^user:/, "")));
  if (owner && isActiveMember(owner) && owner.role === "admin") return;
  throw new Refusal(
    "forbidden",
    "runner_not_trusted",
    "This repository needs a credential of the organisation, which is not sent to a member's own machine. Run the session on a runner of the organisation.",
  );
}

async function readCredential(
  engine: Engine,
  secrets: Pick<Secrets, "read">,
  orgId: string,
  { fullName, url, provider, credential }: ResolvedRepo,
): Promise<NonNullable<RepositoryAccess["credential"]>> {
  const secret = credential ?? "";
  const address = parseAddress(url);
  requireSafeForCredential(address);
  if (address.kind !== "web") {
    throw unusable(`Credentials are for https:// addresses only, and ${fullName} has another.`);
  }
  const value = (await read(engine, secrets, orgId, secret))?.trim();
  if (value === undefined) {
    throw unusable(
      `The repository ${fullName} uses the secret ${secret}, which the organisation does not have. An admin can store it (muster secrets set ${secret} --org).`,
    );
  }
  const colon = provider === "github" ? -1 : value.indexOf(":");
  const username = colon > 0 ? value.slice(0, colon) : TOKEN_USER;
  const password = value.slice(colon + 1);
  const isUsable = [username, password].every((word) => VISIBLE.test(word));
  if (!isUsable || password.length < MIN_PASSWORD_CHARS) {
    throw unusable(
      `The secret ${secret} does not contain a usable credential. Store a token alone, or user:password, on one line and with at least ${MIN_PASSWORD_CHARS} characters.`,
    );
  }
  return { secret, username, password };
}

/** Runners send a frame again that is refused as unavailable; retrying would not help here. */
async function read(
  engine: Engine,
  secrets: Pick<Secrets, "read">,
  orgId: string,
  name: string,
): Promise<string | undefined> {
  try {
    return await secrets.read(engine, { orgId }, name);
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== "secret_key_changed") throw error;
    throw new Refusal("conflict", error.code, error.message);
  }
}

/** Returns the API of the same GitHub that the repository is on, which alone gets its token. */
function apiOf({ provider, url }: ResolvedRepo, githubApiUrl: string): string | null {
  if (provider !== "github") return null;
  return new URL(githubWebUrl(githubApiUrl)).origin === new URL(url).origin ? githubApiUrl : null;
}

function unusable(message: string): Refusal {
  return new Refusal("conflict", "repo_credential_unusable", message);
}

/** Git identity of a session: an agent commits as the session's owner. */
export async function briefIdentity(
  reader: Reader,
  { repo, owner_id: ownerId }: SessionRow,
): Promise<Brief | undefined> {
  if (repo === null || ownerId === null) return undefined;
  const user = await findUser(reader, ownerId);
  if (!user) return undefined;
  return { instructions: [], files: [], setup: null, identity: identityOf(user) };
}

/**
 * Builds a git identity without characters that git would read as the end of a name, an address or a line.
 */
export function identityOf(user: { id: string; name: string; email: string | null }): GitIdentity {
  const clean = (text: string) =>
    text
      .replaceAll(/[<>"\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, "")
      .trim()
      .replace(/^[-.,:;']+/, "")
      .slice(0, 200)
      .trim();
  const email = clean(user.email ?? "");
  return {
    name: clean(user.name) || "Muster",
    email: /^[^\s@]+@[^\s@]+$/.test(email) ? email : `${clean(user.id)}@noreply.muster.invalid`,
  };
}
