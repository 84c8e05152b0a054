/**
 * Who is at the other end when a proxy stands between. Anybody can write `X-Forwarded-For`, so it
 * counts only as far as proxies that the settings name have written it: from the right.
 */
import { isIP } from "node:net";
import * as z from "zod";

/** How many there are one behind the other, or which addresses they have; none: nobody is believed. */
export type TrustedProxies = { hops: number } | { addresses: readonly string[] };

const MAX_HOPS = 10;
const RULE = `a number of proxies from 1 to ${MAX_HOPS}, or their addresses with commas between them`;

export const trustedProxySchema = z.string().transform((text, context): TrustedProxies => {
  if (/^\d{1,2}$/.test(text) && Number(text) >= 1 && Number(text) <= MAX_HOPS)
    return { hops: Number(text) };
  const addresses = text.split(",").map((part) => plainAddress(part));
  const known = addresses.filter((address) => address !== undefined);
  if (known.length === addresses.length) return { addresses: known };
  context.addIssue({ code: "custom", message: RULE });
  return z.NEVER;
});

/** `remote` is who has connected; `forwarded` what the request says about those before. */
export function clientAddress(
  remote: string | undefined,
  forwarded: string | undefined,
  trusted: TrustedProxies | undefined,
): string {
  const last = plainAddress(remote) ?? remote ?? "unknown";
  if (!trusted) return last;
  const said = forwarded === undefined ? [] : forwarded.split(",");
  let found = last;
  for (let passed = 0; isProxy(trusted, found, passed) && said.length > 0; passed++) {
    const before = plainAddress(said.pop());
    // What is no address was written by nobody whom we believe.
    if (before === undefined) break;
    found = before;
  }
  return found;
}

/** True for whoever has connected, if the settings believe what they forward. */
export function isTrustedProxy(
  trusted: TrustedProxies | undefined,
  remote: string | undefined,
): boolean {
  return trusted !== undefined && isProxy(trusted, plainAddress(remote) ?? "", 0);
}

function isProxy(trusted: TrustedProxies, address: string, passed: number): boolean {
  return "hops" in trusted ? passed < trusted.hops : trusted.addresses.includes(address);
}

/** In one spelling: IPv4 as such, without a port. */
function plainAddress(text: string | undefined): string | undefined {
  const bare = (text ?? "")
    .trim()
    .toLowerCase()
    .replace(/^\[([^\]]*)\](:\d+)?$/, "$1")
    .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, "$1")
    .replace(/^::ffff:(?=\d+\.)/, "");
  return isIP(bare) === 0 ? undefined : bare;
}
