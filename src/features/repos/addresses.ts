/**
 * Names and addresses of repositories, as people write them and as they are kept. Pure: whether
 * there is a repository at an address is found out by the runner that clones it.
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
  /** The same for all ways to write one place. */
  key: string;
  /** Null for a path. */
  host: string | null;
  /** Inside the host, or on the machine; no `.git` at its end. */
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
      // Git takes a repository by its inner folder too.
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
  // Names on hosts are usually alike in small and capital letters; a repository must not be
  // reached around its entry by writing it in another way.
  const key = `${host}${port === "" ? "" : `:${port}`}/${path}`.toLowerCase();
  return { key, host, path };
}

/** A dot at the end says that a name is whole, and changes nothing. */
function plainHost(host: string): string {
  return host.replace(/\.+(?=$|:)/, "");
}

const GITHUB_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,98}[A-Za-z0-9])?\/[A-Za-z0-9._-]{1,100}$/;
/** Parts that begin with a letter or a digit: none is a path that climbs, an option or hidden. */
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
      : "This name cannot be used. Take letters, digits, dots, dashes and underscores, with slashes between parts, such as acme/website.",
  );
}

/** The name an address suggests: its last two parts on a host, its folder on a machine. */
export function nameFromAddress({ kind, path }: Address): string {
  const parts = path.split("/").filter((part) => part !== "");
  return parts.slice(kind === "path" ? -1 : -2).join("/");
}

export const nameKey = (fullName: string) => fullName.toLowerCase();

/** What a browser or git is shown, beside the API of the same GitHub. */
export function githubWebUrl(apiUrl: string): string {
  const { hostname, origin } = new URL(apiUrl);
  return hostname === "api.github.com" ? "https://github.com" : origin;
}

/** A token must not be readable on its way. */
export function requireSafeForCredential({ kind, url, host }: Address): void {
  if (kind !== "web" || url.startsWith("https:")) return;
  if (host !== null && /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(host)) return;
  throw new Refusal(
    "invalid",
    "credential_needs_https",
    "A credential is not sent over plain http://. Use the repository's https:// address, or take the credential away.",
  );
}
