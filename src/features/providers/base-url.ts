/** Addresses of model providers, as people write them and as they are stored. */
import { isIP } from "node:net";
import { isOwnNetwork } from "#base/net/address-rules.ts";
import { Refusal } from "#base/refusal.ts";
import type { ProviderKind } from "./contract.ts";

/** Default address of each kind; null for a kind that many servers offer. */
export const USUAL_BASE_URL: Readonly<Record<ProviderKind, string | null>> = {
  anthropic: "https://api.anthropic.com/v1",
  openai: "https://api.openai.com/v1",
  "openai-chat": "https://api.openai.com/v1",
  "openai-compatible": null,
};

/**
 * Normalises an address to one that ends with a version, whether given with it, without it, or with a route
 * behind it.
 */
export function normalBaseUrl(given: string): string {
  const url = URL.parse(given.trim());
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw invalid("The address must begin with http:// or https://.");
  }
  if (url.username || url.password) {
    throw invalid("The address must not contain a user name or password. Send the key separately.");
  }
  if (url.search || url.hash) {
    throw invalid("The address must end with its path: leave out what follows ? or #.");
  }
  // Without TLS anybody on the way could read the key; a host name may resolve to anything later.
  if (url.protocol === "http:" && !isOwnHost(url.hostname)) {
    throw invalid(
      "Use https://. Plain http:// is only for localhost and private addresses, such as http://192.168.1.20:11434.",
    );
  }
  const path = url.pathname
    .replace(/\/+$/, "")
    .replace(/\/(?:chat\/completions|completions|responses|messages|models|embeddings)$/, "");
  // Some providers name the version differently, or have a path behind it.
  const isVersioned = /\/v\d+[a-z0-9]*(?:\/|$)/.test(path);
  return `${url.origin}${path}${isVersioned ? "" : "/v1"}`;
}

/** The URL parser has already normalised `127.1` and the like. */
function isOwnHost(hostname: string): boolean {
  const name = hostname.replace(/^\[(.*)\]$/, "$1");
  if (isIP(name) === 0) return name === "localhost" || name.endsWith(".localhost");
  return isOwnNetwork(name);
}

function invalid(message: string): Refusal {
  return new Refusal("invalid", "base_url_invalid", message);
}
