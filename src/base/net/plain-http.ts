/**
 * Plain HTTP is for one machine. Beyond loopback, anybody on the way could read keys, cookies and
 * prompts, so a credential is sent there, and a request taken from there, only over HTTPS, unless
 * somebody has said `MUSTER_INSECURE_HTTP=1`.
 */
import { Refusal } from "../refusal.ts";

/** As a URL or a socket writes it. */
export function isLoopbackHost(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, "$1").replace(/^::ffff:(?=\d)/, "");
  return /^(localhost|127(\.\d+){3}|::1)$/i.test(bare);
}

/** Before a key, a token or a password is sent to a server. */
export function requireEncrypted(address: string, isAllowed: boolean): void {
  const { protocol, hostname, origin } = new URL(address);
  const isPlain = protocol === "http:" || protocol === "ws:";
  if (!isPlain || isAllowed || isLoopbackHost(hostname)) return;
  throw new Refusal(
    "invalid",
    "server_not_private",
    `${origin} is not encrypted, so anybody in between could read what is sent. Use its https:// address, or set MUSTER_INSECURE_HTTP=1 if nobody else is on that network.`,
  );
}
