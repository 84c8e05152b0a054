/**
 * Names and addresses of repositories, as people write them and as they are stored. Pure: only the runner
 * that clones a repository finds out if it exists.
 */
import { Refusal } from "#base/refusal.ts";
import {
  addressText,
  plainRepositoryPath,
  type RepositoryAddress,
  readRepositoryAddress,
} from "#protocol/names/repository-address.ts";
import type { RepoProvider } from "./contract.ts";

export interface Address {
  kind: "web" | "ssh" | "path";
  url: string;
  /** Same for all spellings of one address. */
  key: string;
  /** Null for a path. */
  host: string | null;
  /** Path on the host, or on the machine; no `.git` at its end. */
  path: string;
}

/** Parses an address that somebody gives for a repository's entry. */
export function parseAddress(given: string): Address {
  const reading = readRepositoryAddress(given);
  if (reading.problem) {
    throw new Refusal("invalid", reading.problem.code, reading.problem.message);
  }
  return describe(reading.address);
}

function describe(address: RepositoryAddress): Address {
  const url = addressText(address);
  switch (address.kind) {
    case "web":
      return { kind: "web", url, ...webPlace(new URL(url)) };
    case "ssh": {
      const path = plainRepositoryPath(address.path);
      const host = address.host.replace(/:22$/, "");
      const user = address.user === "" ? "" : `${address.user}@`;
      const key = `ssh:${user}${plainHost(host)}/${path}`.toLowerCase();
      return { kind: "ssh", url, key, host, path };
    }
    case "path": {
      // Git also accepts a repository by its inner folder.
      const key = url.replace(/(?:\/\.git)+$/, "") || "/";
      return { kind: "path", url, key, host: null, path: plainRepositoryPath(url) };
    }
    case "unknown":
      throw new Refusal(
        "invalid",
        "url_invalid",
        "Use the full address: https://…, or an absolute path.",
      );
  }
}

function webPlace({ hostname, port, pathname }: URL): Pick<Address, "key" | "host" | "path"> {
  const path = plainRepositoryPath(decodeURIComponent(pathname).normalize("NFC"));
  const host = plainHost(hostname);
  // Most hosts ignore case; another spelling must not reach a repository around its entry.
  const key = `${host}${port === "" ? "" : `:${port}`}/${path}`.toLowerCase();
  return { key, host, path };
}

/** A dot at the end marks a complete host name, and changes nothing. */
function plainHost(host: string): string {
  return host.replace(/\.+(?=$|:)/, "");
}

const GITHUB_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,98}[A-Za-z0-9])?\/[A-Za-z0-9._-]{1,100}$/;
/** Each part begins with a letter or a digit, so none is a parent folder, an option or hidden. */
const PLAIN_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*(?:\/[A-Za-z0-9_][A-Za-z0-9._-]*){0,9}$/;
const MAX_NAME_CHARS = 200;

export function isFullName(name: string, provider: RepoProvider): boolean {
  if (name.length > MAX_NAME_CHARS || /(?:^|\/)\.{1,2}(?:\/|$)/.test(name)) return false;
  return (provider === "github" ? GITHUB_NAME : PLAIN_NAME).test(name);
}

export function requireFullName(name: string, provider: RepoProvider): string {
  if (isFullName(name, provider)) return name;
  throw new Refusal(
    "invalid",
    "repo_name_invalid",
    provider === "github"
      ? "A repository of GitHub is named owner/name, such as acme/website."
      : "This name cannot be used. Use letters, digits, dots, dashes and underscores, with slashes between parts, such as acme/website.",
  );
}

/** Suggests a name for an address: its last two parts on a host, its folder on a machine. */
export function nameFromAddress({ kind, path }: Address): string {
  const parts = path.split("/").filter((part) => part !== "");
  return parts.slice(kind === "path" ? -1 : -2).join("/");
}

export const nameKey = (fullName: string) => fullName.toLowerCase();

/** Returns the web address of the GitHub that an API belongs to. */
export function githubWebUrl(apiUrl: string): string {
  const { hostname, origin } = new URL(apiUrl);
  return hostname === "api.github.com" ? "https://github.com" : origin;
}

/** Requires TLS, so that nobody can read a token on its way. */
export function requireSafeForCredential({ kind, url, host }: Address): void {
  if (kind !== "web" || url.startsWith("https:")) return;
  if (host !== null && /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(host)) return;
  throw new Refusal(
    "invalid",
    "credential_needs_https",
    "A credential is not sent over plain http://. Use the repository's https:// address, or remove the credential.",
  );
}
