/**
 * Addresses that skills may be fetched from. The server does the fetching, so a member could make it
 * connect to its own network: members may name only public `https` addresses, admins also those of
 * their own network. Nobody may name a path on the server's machine.
 */
import { isIP } from "node:net";
import {
  isOwnNetwork,
  isPublicAddress,
  type ResolveOptions,
  resolvePublic,
} from "#base/net/address-rules.ts";
import { Refusal } from "#base/refusal.ts";
import type { SkillImport } from "../contract.ts";

export interface SkillAddress {
  url: string;
  protocol: "https" | "http";
  hostname: string;
  port: number;
  /** Null: the repository's HEAD. */
  ref: string | null;
  /** Empty: the top of the repository. */
  path: string;
}

/** Refs without anything that git could take for an option, a range or a path outside its refs. */
const REF = /^[\p{L}\p{N}_][\p{L}\p{N}._/+@#-]*$/u;
const NOT_IN_REF = /\.\.|@\{|\/\/|\/\.|(?:\.lock|[./])$/;
const MAX_PATH_PARTS = 20;

export function parseSkillAddress({ url: given, ref, path }: SkillImport): SkillAddress {
  const url = URL.parse(given.trim());
  if (!url || !/^https?:$/.test(url.protocol))
    throw invalid(
      "url_invalid",
      "Skills are fetched from the https:// address of a git repository. To add them from a folder, use: muster personas skills add",
    );
  if (url.username || url.password)
    throw invalid(
      "url_holds_credentials",
      "The address contains a user name or password, which would be stored and shown. Leave it out; for a private repository, clone it and use: muster personas skills add",
    );
  if (url.search || url.hash)
    throw invalid("url_invalid", "The address must end with its path: leave out ? and #.");
  if (url.pathname.length < 2)
    throw invalid("url_invalid", "The address names a host, but no repository.");
  // Programs differ on a trailing dot in a host name, and the checked name must be the dialled one.
  if (url.hostname.endsWith("."))
    throw invalid("url_invalid", "Leave out the dot at the end of the host's name.");
  const protocol = url.protocol === "https:" ? "https" : "http";
  return {
    url: url.href,
    protocol,
    hostname: url.hostname,
    port: url.port === "" ? (protocol === "https" ? 443 : 80) : Number(url.port),
    ref: ref === undefined ? null : requireRef(ref),
    path: folderOf(path ?? ""),
  };
}

function requireRef(ref: string): string {
  if (REF.test(ref) && !NOT_IN_REF.test(ref)) return ref;
  throw invalid("ref_invalid", "ref must be the name of a branch or a tag, or a commit.");
}

function folderOf(path: string): string {
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are refused
  const isOdd = parts.some((part) => part === ".." || /[\u0000-\u001f\u007f\\:]/.test(part));
  if (!isOdd && parts.length <= MAX_PATH_PARTS && path.isWellFormed()) return parts.join("/");
  throw invalid("path_invalid", "path must be a folder inside the repository, such as skills/pdf.");
}

export interface AddressRights {
  /** True if the caller may have the server connect to its own network. */
  ownNetwork: boolean;
  lookupAll?: ResolveOptions["lookupAll"];
}

/** Resolves the address to dial. The name must not be resolved again, since a second answer could differ. */
export async function resolveSkillAddress(
  { protocol, hostname }: SkillAddress,
  { ownNetwork, lookupAll }: AddressRights,
): Promise<string> {
  if (protocol === "http" && !ownNetwork) throw needsHttps();
  const isAllowed = (ip: string) => isPublicAddress(ip) || (ownNetwork && isOwnNetwork(ip));
  const options = lookupAll ? { lookupAll, isAllowed } : { isAllowed };
  const { address } = await resolvePublic(hostname, options).catch((error: unknown) => {
    throw error instanceof Refusal && error.code === "address_refused"
      ? refusedAddress(hostname, ownNetwork)
      : error;
  });
  // Anybody on the way through the internet could replace the files.
  if (protocol === "http" && !isOwnNetwork(address)) throw needsHttps();
  return address;
}

/** Formats a pin for curl: `host:port:address`; undefined if the host is an address itself. */
export function pinFor({ hostname, port }: SkillAddress, address: string): string | undefined {
  if (isIP(hostname.replace(/^\[(.*)\]$/, "$1")) !== 0) return undefined;
  return `${hostname}:${port}:${isIP(address) === 6 ? `[${address}]` : address}`;
}

function refusedAddress(hostname: string, ownNetwork: boolean): Refusal {
  return new Refusal(
    "forbidden",
    "address_refused",
    ownNetwork
      ? `${hostname} is neither on the public internet nor on a private network. Use another address.`
      : `${hostname} is not on the public internet. Ask an admin to import from it, or clone it and use: muster personas skills add`,
  );
}

function needsHttps(): Refusal {
  return invalid(
    "url_invalid",
    "Use an https:// address. Plain http:// is only for admins and hosts on your own network.",
  );
}

function invalid(code: string, message: string): Refusal {
  return new Refusal("invalid", code, message);
}
