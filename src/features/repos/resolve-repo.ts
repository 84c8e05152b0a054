/** Repository lookups for other parts: one by name or address, or all that exist. */
import { Refusal } from "#base/refusal.ts";
import type { Reader } from "#base/store/index.ts";
import {
  addressText,
  readRepositoryAddress,
  storedRepositoryAddress,
} from "#protocol/names/repository-address.ts";
import { githubWebUrl, isFullName, nameKey, parseAddress } from "./addresses.ts";
import type { RepoProvider } from "./contract.ts";
import { GITHUB_API_URL } from "./github.ts";
import { countRepos, findRepoByName, findRepoByUrl, listRepos } from "./queries.ts";
import type { RepoRow } from "./schema.ts";
import { topicsOf } from "./view.ts";

export interface ResolvedRepo {
  id: string;
  fullName: string;
  provider: RepoProvider;
  url: string;
  /** True for a folder on the runners' machines. */
  isPath: boolean;
  /** Null: the repository's own default branch. */
  branch: string | null;
  setup: string | null;
  /** Default persona of sessions on this repository. */
  personaId: string | null;
  /** Name of the secret that opens the repository. */
  credential: string | null;
}

/**
 * Resolves a repository by full name or by address. Undefined: the organisation has no such entry. Refuses
 * one that an admin has disabled, however its address is spelled, and an address that cannot be compared.
 * Other names of the repository on its host are not known here.
 */
export async function resolveRepo(
  reader: Reader,
  orgId: string,
  nameOrUrl: string,
): Promise<ResolvedRepo | undefined> {
  const row = await find(reader, orgId, nameOrUrl.trim());
  if (!row) return undefined;
  if (row.enabled !== 1) {
    throw new Refusal(
      "conflict",
      "repo_disabled",
      `The repository ${row.full_name} is disabled. Ask an admin to enable it, or use another.`,
    );
  }
  return {
    id: row.id,
    fullName: row.full_name,
    provider: row.provider,
    url: row.url,
    isPath: storedRepositoryAddress(row.url).kind === "path",
    branch: row.default_branch,
    setup: row.setup_command,
    personaId: row.persona_id,
    credential: row.credential,
  };
}

const GITHUB = githubWebUrl(GITHUB_API_URL);

/**
 * Lists the addresses that sessions on a repository may have stored, by its full name or any of its
 * addresses: the one in the organisation's list, and the given one in its canonical spelling. Includes
 * disabled repositories. Empty for text that is neither a name nor an address.
 */
export async function listRepoAddresses(
  reader: Reader,
  orgId: string,
  nameOrUrl: string,
): Promise<string[]> {
  const text = nameOrUrl.trim();
  const reading = readRepositoryAddress(text);
  if (reading.problem) return [];
  const row = await find(reader, orgId, text);
  const given = addressText(reading.address);
  const addresses = [given, ...(row ? [row.url] : [])];
  // A name without an entry means a repository on GitHub, as everywhere.
  if (!row && isFullName(text, "github")) addresses.push(`${GITHUB}/${text}`);
  return [...new Set(addresses.flatMap(withAndWithoutGit))];
}

/** Sessions keep web addresses as given, with or without `.git` at the end. */
function withAndWithoutGit(address: string): string[] {
  if (!/^https?:/.test(address)) return [address];
  const plain = address.replace(/(?:\.git)?\/*$/, "");
  return [address, plain, `${plain}.git`];
}

async function find(reader: Reader, orgId: string, text: string): Promise<RepoRow | undefined> {
  if (isFullName(text, "git") || isFullName(text, "github")) {
    return findRepoByName(reader, orgId, nameKey(text));
  }
  const key = addressKey(text);
  return key === undefined ? undefined : findRepoByUrl(reader, orgId, key);
}

/**
 * Returns undefined for text that is no address, which others refuse. Throws for one that cannot be compared.
 */
function addressKey(text: string): string | undefined {
  try {
    return parseAddress(text).key;
  } catch (error) {
    if (error instanceof Refusal && !IS_ADDRESS.test(text)) return undefined;
    throw error;
  }
}

const IS_ADDRESS = /^[a-z][a-z0-9+.-]*:\/\//i;

/** Repository as an agent sees it: no address, which may be a path, and no command. */
export interface KnownRepo {
  fullName: string;
  description: string | null;
  defaultBranch: string | null;
  language: string | null;
  topics: string[];
  personaSlug: string | null;
}

const KNOWN_LIMIT = 50;
const CONSIDERED = 500;
const MAX_WORDS = 20;

/** Lists enabled repositories; with words, the ones that match most of them first. */
export async function listKnownRepos(
  reader: Reader,
  orgId: string,
  query = "",
  limit = KNOWN_LIMIT,
): Promise<{ repos: KnownRepo[]; more: number }> {
  const words = wordsOf(query);
  const filter = { orgId, words, anyWord: true, enabled: true };
  const rows = await listRepos(reader, filter, words.length === 0 ? limit : CONSIDERED);
  const hits = ({ search }: RepoRow) => words.filter((word) => search.includes(word)).length;
  const repos = rows
    .map((row) => ({ row, count: hits(row) }))
    .sort((a, b) => b.count - a.count)
    .slice(0, limit)
    .map(({ row }) => ({
      fullName: row.full_name,
      description: row.description,
      defaultBranch: row.default_branch,
      language: row.language,
      topics: topicsOf(row),
      personaSlug: row.persona_slug,
    }));
  const isAll = rows.length < limit || (rows.length === limit && words.length > 0);
  return { repos, more: isAll ? 0 : (await countRepos(reader, filter)) - repos.length };
}

export function wordsOf(query: string): string[] {
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  return [...new Set(words)].slice(0, MAX_WORDS);
}
