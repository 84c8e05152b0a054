/**
 * Finds the client's address behind proxies. Anybody can write `X-Forwarded-For`, so it is read
 * from the right and believed only as far as proxies named in the settings have written it.
 */
import { isIP } from "node:net";
import * as z from "zod";

/**
 * The number of proxies one behind the other, or their addresses. Without it no proxy is believed.
 */
export type TrustedProxies = { hops: number } | { addresses: readonly string[] };

const MAX_HOPS = 10;
const RULE = `a number of proxies from 1 to ${MAX_HOPS}, or their addresses separated by commas`;

export const trustedProxySchema = z.string().transform((text, context): TrustedProxies => {
  if (/^\d{1,2}$/.test(text) && Number(text) >= 1 && Number(text) <= MAX_HOPS)
    return { hops: Number(text) };
  const addresses = text.split(",").map((part) => plainAddress(part));
  const known = addresses.filter((address) => address !== undefined);
  if (known.length === addresses.length) return { addresses: known };
  context.addIssue({ code: "custom", message: RULE });
  return z.NEVER;
});

/**
 * `remote` is the address of the connection; `forwarded` is the header with the addresses before
 * it.
 */
export function clientAddress(
  remote: string | undefined,
  forwarded: string | undefined,
  trusted: TrustedProxies | undefined,
): string {
  const last = plainAddress(remote) ?? remote ?? "unknown";
  if (!trusted) return last;
  const chain = forwarded === undefined ? [] : forwarded.split(",");
  let found = last;
  for (let passed = 0; isProxy(trusted, found, passed) && chain.length > 0; passed++) {
    const before = plainAddress(chain.pop());
    // A trusted proxy writes addresses only.
    if (before === undefined) break;
    found = before;
  }
  return found;
}

/** True if the connection comes from a proxy that the settings trust. */
export function isTrustedProxy(
  trusted: TrustedProxies | undefined,
  remote: string | undefined,
): boolean {
  return trusted !== undefined && isProxy(trusted, plainAddress(remote) ?? "", 0);
}

function isProxy(trusted: TrustedProxies, address: string, passed: number): boolean {
  return "hops" in trusted ? passed < trusted.hops : trusted.addresses.includes(address);
}

/** Normalizes an address: plain IPv4 instead of mapped IPv6, no port. */
function plainAddress(text: string | undefined): string | undefined {
  const bare = (text ?? "")
    .trim()
    .toLowerCase()
    .replace(/^\[([^\]]*)\](:\d+)?$/, "$1")
    .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, "$1")
    .replace(/^::ffff:(?=\d+\.)/, "");
  return isIP(bare) === 0 ? undefined : bare;
}
