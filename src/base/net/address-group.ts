/**
 * Groups the addresses that one party holds. A household or a rented machine owns a whole IPv6 /64,
 * so a single IPv6 address does not identify anybody; an IPv4 address is its own group.
 */
import { isIPv6 } from "node:net";

/** Prefix of an IPv4 address on a dual-stack socket. */
const IPV4_IN_IPV6 = /^::ffff:(?=\d+\.)/i;
const GROUPS = 8;
const NETWORK_GROUPS = 4;

export function addressGroup(address: string): string {
  const [bare = ""] = address.replace(IPV4_IN_IPV6, "").split("%");
  if (!isIPv6(bare)) return bare;
  const [head = "", tail] = bare.toLowerCase().split("::");
  const left = partsOf(head);
  const right = tail === undefined ? [] : partsOf(tail);
  const zeros = Array<string>(Math.max(0, GROUPS - left.length - right.length)).fill("0");
  const network = [...left, ...zeros, ...right].slice(0, NETWORK_GROUPS);
  return `${network.map((part) => Number.parseInt(part, 16).toString(16)).join(":")}::/64`;
}

function partsOf(text: string): string[] {
  if (text === "") return [];
  // A dotted tail stands for two groups and never reaches the network part.
  return text.split(":").flatMap((part) => (part.includes(".") ? ["0", "0"] : [part]));
}
