/**
 * From where skills may be fetched. The server does the fetching, so a member could make it speak to
 * its neighbours: members name public `https` addresses alone, admins those of their own network
 * too. A path of the server's machine is nobody's to name.
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
  /** Null: what the repository itself names. */
  ref: string | null;
  /** Empty: the top of the repository. */
  path: string;
}

/** Nothing that git could take for an option, a range or a place outside its refs. */
const REF = /^[\p{L}\p{N}_][\p{L}\p{N}._/+@#-]*$/u;
const NOT_IN_REF = /\.\.|@\{|\/\/|\/\.|(?:\.lock|[./])$/;
const MAX_PATH_PARTS = 20;

export function parseSkillAddress({ url: given, ref, path }: SkillImport): SkillAddress {
  const url = URL.parse(given.trim());
  if (!url || !/^https?:$/.test(url.protocol))
    throw invalid(
      "url_invalid",
      "Skills are fetched from an https:// address of a git repository. To take them from a folder of yours, use: muster personas skills add",
    );
  if (url.username || url.password)
    throw invalid(
      "url_holds_credentials",
      "The address holds a user name or password, which would be stored and shown. Skills are fetched without any; for a private repository, clone it and use: muster personas skills add",
    );
  if (url.search || url.hash)
    throw invalid("url_invalid", "The address must end with its path: leave out ? and #.");
  if (url.pathname.length < 2)
    throw invalid("url_invalid", "The address names a host, but no repository on it.");
  // Programs differ in whether a last dot belongs to the name; the checked one must be the dialled one.
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
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
  const isOdd = parts.some((part) => part === ".." || /[\u0000-\u001f\u007f\\:]/.test(part));
  if (!isOdd && parts.length <= MAX_PATH_PARTS && path.isWellFormed()) return parts.join("/");
  throw invalid("path_invalid", "path must be a folder inside the repository, such as skills/pdf.");
}

export interface AddressRights {
  /** Whether the one who asks may have the server speak to its own network. */
  ownNetwork: boolean;
  lookupAll?: ResolveOptions["lookupAll"];
}

/** The address to dial; the name must not be asked for again, since a second answer could differ. */
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
  // On the way through the internet anybody could put other files in.
  if (protocol === "http" && !isOwnNetwork(address)) throw needsHttps();
  return address;
}

/** As curl takes it: `host:port:address`; undefined for a host that is an address itself. */
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
    "Use an https:// address. Plain http:// is only for an admin and a host of the own network.",
  );
}

function invalid(code: string, message: string): Refusal {
  return new Refusal("invalid", code, message);
}
