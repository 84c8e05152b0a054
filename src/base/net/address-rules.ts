/**
 * Rules for addresses that are reached on somebody's behalf. An attacker may have written what an
 * agent or a member asks for, so the machine's own services, its neighbours and the cloud's
 * metadata address must never be reached, in any spelling. Names are resolved here, every address
 * is checked, and callers dial the checked address instead of resolving the name again, because a
 * second lookup could return another.
 */
import { lookup } from "node:dns/promises";
import { BlockList, isIP } from "node:net";
import { Refusal } from "../refusal.ts";

export interface PublicAddress {
  address: string;
  family: 4 | 6;
}

export interface ResolveOptions {
  /** Resolves all addresses of a name; the system's resolver by default. */
  lookupAll?: (hostname: string) => Promise<readonly { address: string; family: number }[]>;
  /**
   * Decides which addresses may be reached; `isPublicAddress` by default. Tests allow their own
   * servers.
   */
  isAllowed?: (address: string) => boolean;
}

/** Special ranges of the IANA registries that are not the public internet. */
const SPECIAL_V4: readonly [string, number][] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
  // Metadata and resolver addresses of clouds that lie in public ranges.
  ["168.63.129.16", 32],
];

/**
 * Special ranges inside 2000::/3; no IPv6 address outside of it is public. Tunnels carry IPv4
 * addresses.
 */
const SPECIAL_V6: readonly [string, number][] = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
];

/** Private networks. Link-local is left out, because clouds keep their metadata there. */
const OWN_NETWORK: readonly [string, number, "ipv4" | "ipv6"][] = [
  ["127.0.0.0", 8, "ipv4"],
  ["10.0.0.0", 8, "ipv4"],
  ["100.64.0.0", 10, "ipv4"],
  ["172.16.0.0", 12, "ipv4"],
  ["192.168.0.0", 16, "ipv4"],
  ["::1", 128, "ipv6"],
  ["fc00::", 7, "ipv6"],
];

/** Metadata addresses of clouds that lie in private networks. */
const METADATA: readonly [string, "ipv4" | "ipv6"][] = [
  ["100.100.100.200", "ipv4"],
  ["fd00:ec2::254", "ipv6"],
];

const ownNetwork = new BlockList();
const metadata = new BlockList();
for (const [ip, family] of METADATA) metadata.addAddress(ip, family);
for (const [net, prefix, family] of OWN_NETWORK) ownNetwork.addSubnet(net, prefix, family);
const specialV4 = new BlockList();
for (const [net, prefix] of SPECIAL_V4) specialV4.addSubnet(net, prefix, "ipv4");
const specialV6 = new BlockList();
for (const [net, prefix] of SPECIAL_V6) specialV6.addSubnet(net, prefix, "ipv6");

/** Takes an address as the resolver writes it; anything else, such as `127.1`, is not public. */
export function isPublicAddress(ip: string): boolean {
  switch (isIP(ip)) {
    case 4:
      return !specialV4.check(ip, "ipv4");
    case 6:
      return isPublicV6(ip);
    default:
      return false;
  }
}

/**
 * True for this machine and its neighbours, which only privileged callers such as an admin may
 * name.
 */
export function isOwnNetwork(ip: string): boolean {
  const version = isIP(ip);
  if (version === 0 || ip.includes("%")) return false;
  const family = version === 4 ? "ipv4" : "ipv6";
  return ownNetwork.check(ip, family) && !metadata.check(ip, family);
}

/** Names of no public host: special-use names, and names without a dot. */
const PRIVATE_NAME = /^(?:[^.]+|(?:.+\.)?(?:localhost|local|internal|home\.arpa))$/;
const PORTS: ReadonlySet<string> = new Set(["", "80", "443"]);

export interface UrlRules extends Pick<ResolveOptions, "isAllowed"> {
  /** Allows further ports, for servers of tests. Users may reach 80 and 443 only. */
  isPortAllowed?: (port: string) => boolean;
}

export interface UrlProblem {
  code: "url_not_allowed" | "address_refused";
  message: string;
}

/**
 * Finds the reason to refuse an address, as far as it is known without resolving the name. The
 * server's policy and the runner both use it, so nobody approves a request that is refused later.
 */
export function findUrlProblem(
  url: URL,
  { isAllowed, isPortAllowed }: UrlRules = {},
): UrlProblem | undefined {
  if (url.protocol !== "http:" && url.protocol !== "https:")
    return notAllowed("Only http and https addresses can be fetched.");
  if (url.username || url.password)
    return notAllowed("Addresses with a user name or password are not fetched. Remove it.");
  if (!PORTS.has(url.port) && !isPortAllowed?.(url.port))
    return notAllowed(`Only ports 80 and 443 can be reached, not ${url.port}.`);
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const isPrivate =
    isIP(host) === 0
      ? isAllowed === undefined && PRIVATE_NAME.test(host.replace(/\.+$/, "").toLowerCase())
      : !(isAllowed ?? isPublicAddress)(host);
  return isPrivate ? { code: "address_refused", message: notPublic(url.hostname) } : undefined;
}

function notAllowed(message: string): UrlProblem {
  return { code: "url_not_allowed", message };
}

function notPublic(hostname: string): string {
  return `${hostname} is not on the public internet. Agents can reach public addresses only.`;
}

/**
 * Resolves a name, or an address in any spelling, to the address to dial. Refuses if any of its
 * addresses is not public: a name that points both ways is a trick, or not meant for everyone.
 */
export async function resolvePublic(
  hostname: string,
  { lookupAll = systemLookup, isAllowed = isPublicAddress }: ResolveOptions = {},
): Promise<PublicAddress> {
  const name = hostname.replace(/^\[(.*)\]$/, "$1");
  const found = await lookupAll(name).catch((error: unknown) => {
    throw new Refusal(
      "unavailable",
      "host_not_found",
      `The name ${hostname} cannot be resolved. Check its spelling.`,
      { cause: error },
    );
  });
  const [first] = found;
  if (!first || !found.every(({ address }) => isAllowed(address))) {
    throw new Refusal("forbidden", "address_refused", notPublic(hostname));
  }
  return { address: first.address, family: isIP(first.address) === 6 ? 6 : 4 };
}

function systemLookup(hostname: string) {
  return lookup(hostname, { all: true, verbatim: true });
}

function isPublicV6(ip: string): boolean {
  if (ip.includes("%")) return false;
  const groups = groupsOfV6(ip);
  const [top = 0] = groups;
  if (startsWith(groups, [0, 0, 0, 0, 0, 0xffff])) return isPublicAddress(lastAsV4(groups));
  // IPv6-only networks write IPv4 addresses like this (NAT64).
  if (startsWith(groups, [0x64, 0xff9b, 0, 0, 0, 0])) return isPublicAddress(lastAsV4(groups));
  return (top & 0xe000) === 0x2000 && !specialV6.check(ip, "ipv6");
}

function startsWith(groups: readonly number[], start: readonly number[]): boolean {
  return start.every((group, i) => groups[i] === group);
}

function lastAsV4(groups: readonly number[]): string {
  const [high = 0, low = 0] = groups.slice(6);
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

function groupsOfV6(ip: string): number[] {
  // The URL parser accepts all spellings and turns a dotted tail into groups.
  const plain = new URL(`http://[${ip}]`).hostname.slice(1, -1);
  const [head = "", tail] = plain.split("::");
  const groups = (part: string) =>
    part ? part.split(":").map((group) => parseInt(group, 16)) : [];
  if (tail === undefined) return groups(head);
  const missing = 8 - groups(head).length - groups(tail).length;
  return [...groups(head), ...Array<number>(missing).fill(0), ...groups(tail)];
}
