/**
 * Plain HTTP is for one machine. Beyond loopback, anybody on the way could read keys, cookies and
 * prompts. So credentials are sent, and requests accepted, only over HTTPS there, unless
 * `MUSTER_INSECURE_HTTP=1` is set.
 */
import { Refusal } from "../refusal.ts";

/** Takes a host as a URL or a socket writes it. */
export function isLoopbackHost(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, "$1").replace(/^::ffff:(?=\d)/, "");
  return /^(localhost|127(\.\d+){3}|::1)$/i.test(bare);
}

/** Refuses an unencrypted address, before a key, a token or a password is sent to it. */
export function requireEncrypted(address: string, isAllowed: boolean): void {
  const { protocol, hostname, origin } = new URL(address);
  const isPlain = protocol === "http:" || protocol === "ws:";
  if (!isPlain || isAllowed || isLoopbackHost(hostname)) return;
  throw new Refusal(
    "invalid",
    "server_not_private",
    `${origin} is not encrypted: others on the network could read what is sent. Use its https:// address, or set MUSTER_INSECURE_HTTP=1 if nobody else is on that network.`,
  );
}
