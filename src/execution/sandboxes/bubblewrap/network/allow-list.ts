/** Decides which host and port a command may reach. */
import { isIP } from "node:net";

export interface Destination {
  /** Host in lower case, without brackets and final dot. */
  host: string;
  port: number;
}

const PORTS = new Set([80, 443]);
/** Accepts nothing that two programs could read in two ways: no user, no path, no escape. */
const AUTHORITY =
  /^(?:([a-z0-9_](?:[a-z0-9_.-]{0,252}[a-z0-9_])?)\.?|\[([0-9a-f:.]{2,45})\]):(\d{1,5})$/i;

/** Undefined for anything but `host:port`. */
export function parseAuthority(text: string): Destination | undefined {
  const match = AUTHORITY.exec(text);
  if (!match) return undefined;
  const [, name, address, port] = match;
  if (address !== undefined && isIP(address) !== 6) return undefined;
  return { host: (name ?? address ?? "").toLowerCase(), port: Number(port) };
}

export function isAllowed({ host, port }: Destination, allowedHosts: readonly string[]): boolean {
  return PORTS.has(port) && allowedHosts.some((pattern) => matches(host, pattern.toLowerCase()));
}

function matches(host: string, pattern: string): boolean {
  if (!pattern.startsWith("*.")) return host === pattern;
  // IP addresses have no names below them.
  return isIP(host) === 0 && host.endsWith(pattern.slice(1)) && host.length > pattern.length - 1;
}
