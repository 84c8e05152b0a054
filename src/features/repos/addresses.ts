/**
 * Names and addresses of repositories, as people write them and as they are kept. Pure: whether
 * there is a repository at an address is found out by the runner that clones it.
 */
import { isAbsolute, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { Refusal } from "#base/refusal.ts";
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

const MAX_URL_CHARS = 2_000;
/** `user@host:path`, as ssh is usually written for git. */
const SCP_LIKE = /^([A-Za-z0-9_.-]+)@([A-Za-z0-9][A-Za-z0-9.-]*):([^\s:][^\s]*)$/;

export function parseAddress(given: string): Address {
  const text = given.trim();
  const isOdd = text === "" || text.length > MAX_URL_CHARS || text.startsWith("-");
  if (isOdd || !text.isWellFormed() || /[\p{Cc}\p{Cf}]/u.test(text)) {
    throw invalid("This is no address of a repository. Use https://…, or an absolute path.");
  }
  if (/^[a-z0-9+.-]+::/i.test(text)) {
    throw invalid("Addresses with a helper program (name::…) are not taken. Use https://….");
  }
  if (isAbsolute(text)) return pathAddress(text);
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return urlAddress(text);
  const scp = SCP_LIKE.exec(text);
  if (!scp) throw invalid("Use the full address: https://…, or an absolute path.");
  const [, user, host = "", path = ""] = scp;
  return sshAddress(text, user, host, path);
}

function urlAddress(text: string): Address {
  const url = URL.parse(text);
  if (!url) throw invalid("This address cannot be read. Check its spelling.");
  if (url.search || url.hash) {
    throw invalid("The address must end with its path: leave out what follows ? or #.");
  }
  switch (url.protocol) {
    case "https:":
    case "http:":
      // A user name alone may be a token, as some hosts take them.
      if (url.username || url.password) throw holdsCredentials();
      return webAddress(url);
    case "ssh:":
      if (url.password) throw holdsCredentials();
      return sshAddress(text, url.username, url.host.replace(/:22$/, ""), decoded(url.pathname));
    case "file:":
      return pathAddress(filePath(url));
    default:
      throw invalid(`${url.protocol}// is not taken. Use the repository's https:// address.`);
  }
}

function webAddress(url: URL): Address {
  const path = plainPath(decoded(url.pathname));
  if (path === "") throw invalid("The address names a host, but no repository on it.");
  const host = plainHost(url.hostname);
  const port = url.port === "" ? "" : `:${url.port}`;
  return {
    kind: "web",
    url: url.href,
    // Names on hosts are usually alike in small and capital letters; a repository must not be
    // reached around its entry by writing it in another way.
    key: `${host}${port}/${path}`.toLowerCase(),
    host,
    path,
  };
}

/** A dot at the end says that a name is whole, and changes nothing. */
function plainHost(host: string): string {
  return host.replace(/\.+(?=$|:)/, "");
}

/** As a server reads it; what it could read in several ways is no address. */
function decoded(path: string): string {
  let text: string;
  try {
    text = decodeURIComponent(path).normalize("NFC");
  } catch {
    throw invalid("The address has a % in it that means nothing. Check its spelling.");
  }
  if (/[\p{Cc}\p{Cf}]/u.test(text)) {
    throw invalid("The address has a character in it that cannot be seen. Check its spelling.");
  }
  return text;
}

function sshAddress(url: string, user: string | undefined, host: string, given: string): Address {
  const path = plainPath(given);
  if (path === "" || host === "" || given.startsWith("-")) {
    throw invalid("The address names no repository. Use git@host:owner/name.git.");
  }
  const name = user === undefined || user === "" ? "" : `${user}@`;
  const key = `ssh:${name}${plainHost(host)}/${path}`.toLowerCase();
  return { kind: "ssh", url, key, host, path };
}

function pathAddress(given: string): Address {
  const path = normalize(given).replace(/(?<=.)\/+$/, "");
  // Git takes a repository by its inner folder too.
  const key = path.replace(/(?:\/\.git)+$/, "") || "/";
  return { kind: "path", url: path, key, host: null, path: plainPath(path) };
}

/** Without what changes nothing: empty parts, parts that stay or climb, dots and `.git` at its end. */
function plainPath(path: string): string {
  const parts: string[] = [];
  for (const part of path.split(/[\\/]/)) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return parts.join("/").replace(/(?:\.git|[/.\s])+$/i, "");
}

function filePath(url: URL): string {
  try {
    return fileURLToPath(url);
  } catch {
    throw invalid("A file:// address takes no host: file:///path/to/repository.");
  }
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

function holdsCredentials(): Refusal {
  return invalid(
    "The address holds a user name or password, which would be stored and shown. Give the address without it, store the token as a secret, and name that secret as credential.",
    "url_holds_credentials",
  );
}

function invalid(message: string, code = "url_invalid"): Refusal {
  return new Refusal("invalid", code, message);
}
