/**
 * Addresses of git repositories. A text is parsed once, at the boundary, into a
 * `RepositoryAddress`; that value is stored in its one canonical spelling and sent to runners.
 * Nothing past the boundary parses the text again, so no two parsers can read it differently.
 */
import * as z from "zod";

export const repositoryAddressSchema = z.discriminatedUnion("kind", [
  /** Fetched over HTTP. `url` is in the URL parser's own spelling, so it is what git dials. */
  z.object({ kind: z.literal("web"), url: z.string().regex(/^https?:\/\//), host: z.string() }),
  z.object({
    kind: z.literal("ssh"),
    url: z.string(),
    user: z.string(),
    host: z.string(),
    path: z.string(),
  }),
  /** A folder of the runner's machine: absolute, without `.`, `..` and empty parts. */
  z.object({ kind: z.literal("path"), path: z.string().startsWith("/") }),
  /** A name that is not in the organisation's list. A runner refuses it. */
  z.object({ kind: z.literal("unknown"), text: z.string() }),
]);
export type RepositoryAddress = z.infer<typeof repositoryAddressSchema>;

export interface AddressProblem {
  code: "url_invalid" | "url_holds_credentials";
  message: string;
  /** True when the text looks like a path on a machine, though it is no address. */
  looksLocal: boolean;
}

export type AddressReading =
  | { address: RepositoryAddress; problem?: undefined }
  | { problem: AddressProblem };

const MAX_CHARS = 2_000;
/** `user@host:path`, the usual ssh form for git; git reads any text with `://` as a URL. */
const SCP_LIKE = /^([A-Za-z0-9_.-]+)@([A-Za-z0-9][A-Za-z0-9.-]*):(?!.*:?\/\/)([^\s:][^\s]*)$/;
/** `owner/name` as on GitHub, or parts that begin with a letter or a digit; no part begins with `-`. */
const NAME =
  /^(?:[A-Za-z0-9](?:[A-Za-z0-9_-]{0,98}[A-Za-z0-9])?\/[A-Za-z0-9._][A-Za-z0-9._-]{0,99}|[A-Za-z0-9][A-Za-z0-9._-]*(?:\/[A-Za-z0-9_][A-Za-z0-9._-]*){0,9})$/;
const CLIMBS = /(?:^|\/)\.{1,2}(?:\/|$)/;
const LOOKS_LOCAL = /^(?:file:|[a-z]:[\\/]|[/.~\\])/i;
const UNSEEN = /[\p{Cc}\p{Cf}]/u;

/** Parses typed text. The canonical spelling of every address parses to that same address. */
export function readRepositoryAddress(given: string): AddressReading {
  const text = given.trim();
  const reading = read(text);
  if (!reading.problem) return reading;
  return { problem: { ...reading.problem, looksLocal: LOOKS_LOCAL.test(text) } };
}

/** Parses a stored address. An address of an earlier version that no runner could use is `unknown`. */
export function storedRepositoryAddress(text: string): RepositoryAddress {
  const reading = readRepositoryAddress(text);
  return reading.problem ? { kind: "unknown", text } : reading.address;
}

/** Canonical spelling, for storing and showing. */
export function addressText(address: RepositoryAddress): string {
  switch (address.kind) {
    case "path":
      return address.path;
    case "unknown":
      return address.text;
    default:
      return address.url;
  }
}

function read(text: string): AddressReading {
  const isOdd = text === "" || text.length > MAX_CHARS || text.startsWith("-");
  if (isOdd || !text.isWellFormed() || UNSEEN.test(text)) {
    return invalid("This is not a repository address. Use https://…, or an absolute path.");
  }
  if (/^[a-z0-9+.-]+::/i.test(text)) {
    return invalid("Addresses with a helper program (name::…) are not accepted. Use https://….");
  }
  // Programs disagree if a backslash separates parts. The URL parser always makes it a slash.
  if (text.includes("\\") && !/^https?:\/\//i.test(text)) {
    return invalid("An address cannot contain \\. Write it with /, or use https://….");
  }
  if (text.startsWith("/")) return readPath(text);
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return readUrl(text);
  const scp = SCP_LIKE.exec(text);
  if (scp) {
    const [, user = "", host = "", path = ""] = scp;
    return ssh({ url: text, user, host, path });
  }
  if (NAME.test(text) && !CLIMBS.test(text)) return { address: { kind: "unknown", text } };
  return invalid("Use the full address: https://…, or an absolute path.");
}

function readUrl(text: string): AddressReading {
  const url = URL.parse(text);
  if (!url) return invalid("This address cannot be read. Check its spelling.");
  if (url.search || url.hash || /[?#]$/.test(text)) {
    return invalid("The address must end with its path: leave out what follows ? or #.");
  }
  const path = decoded(url.pathname);
  if (path === undefined) {
    return invalid("The address has an ambiguous % in it. Write that character out.");
  }
  switch (url.protocol) {
    case "https:":
    case "http:":
      // A user name alone may be a token, as some hosts accept them.
      if (url.username || url.password) return holdsCredentials();
      if (plainRepositoryPath(path) === "") {
        return invalid("The address names a host, but no repository.");
      }
      return { address: { kind: "web", url: url.href, host: url.hostname } };
    case "ssh:":
      if (url.password) return holdsCredentials();
      return ssh({ url: url.href, user: url.username, host: url.host, path });
    case "file:":
      if (url.host !== "") {
        return invalid("A file:// address has no host: file:///path/to/repository.");
      }
      return readPath(path);
    default:
      return invalid(`${url.protocol}// is not supported. Use the repository's https:// address.`);
  }
}

function ssh(parts: { url: string; user: string; host: string; path: string }): AddressReading {
  if (parts.host === "" || plainRepositoryPath(parts.path) === "" || /^\/*-/.test(parts.path)) {
    return invalid("The address names no repository. Use git@host:owner/name.git.");
  }
  return { address: { kind: "ssh", ...parts } };
}

/** Decodes a path as a server does. Undefined when servers could read it in several ways. */
function decoded(path: string): string | undefined {
  try {
    const text = decodeURIComponent(path);
    return UNSEEN.test(text) || text.includes("\\") ? undefined : text;
  } catch {
    return undefined;
  }
}

function readPath(given: string): AddressReading {
  const path = `/${stepsOf(given).join("/")}`;
  if (path === path.trim()) return { address: { kind: "path", path } };
  return invalid("A folder whose name ends in a space cannot be used. Rename it.");
}

/** Parts of a path, with `.` and `..` resolved. */
function stepsOf(path: string): string[] {
  const steps: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") steps.pop();
    else if (part !== "" && part !== ".") steps.push(part);
  }
  return steps;
}

/**
 * Normalises a path for comparing: removes the dots, spaces and `.git` at its end, which change
 * nothing.
 */
export function plainRepositoryPath(path: string): string {
  return stepsOf(path)
    .join("/")
    .replace(/(?:\.git|[/.\s])+$/i, "");
}

function holdsCredentials(): AddressReading {
  const message =
    "The address contains a user name or password, which would be stored and shown. Leave it out, store the token as a secret, and name that secret as credential.";
  return { problem: { code: "url_holds_credentials", message, looksLocal: false } };
}

function invalid(message: string): AddressReading {
  return { problem: { code: "url_invalid", message, looksLocal: false } };
}
