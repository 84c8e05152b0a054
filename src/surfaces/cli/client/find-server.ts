/** Finds the server and the key for a command. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "#base/config.ts";
import { isLoopbackHost, requireEncrypted } from "#base/net/plain-http.ts";
import { Refusal } from "#base/refusal.ts";

export interface ServerAddress {
  /** Address without a slash at the end. */
  url: string;
  key: string;
}

export function findServer(config: Config, wanted: string | undefined): ServerAddress {
  const url = addressOf(wanted ?? config.server ?? localAddress(config));
  // The server of this data folder is on this machine, whatever address it listens on.
  if (url !== localAddress(config)) requireEncrypted(url, config.insecureHttp);
  return { url, key: config.apiKey ?? ownerKey(config, url) };
}

/** Address of this data folder's server. */
export function localAddress({ host, port }: Config): string {
  const reachable =
    host === "0.0.0.0" || host === "::" || host === "localhost" ? "127.0.0.1" : host;
  return `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
}

export function ownerKeyPath(config: Config): string {
  return join(config.home, "owner.key");
}

export function isLoopback(url: string): boolean {
  return isLoopbackHost(new URL(url).hostname);
}

function addressOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new Refusal(
      "invalid",
      "server_url_invalid",
      `The server's address must begin with http:// or https://, not "${text}". Set it with --server or MUSTER_SERVER.`,
    );
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
}

/** The owner's key opens everything, so it is sent only to servers that the settings name. */
function ownerKey(config: Config, url: string): string {
  if (!isLoopback(url) && !isConfigured(config, url)) {
    throw new Refusal(
      "unauthenticated",
      "key_missing",
      `This machine's owner key is not sent to ${url}. Set MUSTER_API_KEY to a key of that server.`,
    );
  }
  const path = ownerKeyPath(config);
  try {
    const key = readFileSync(path, "utf8").trim();
    if (key !== "") return key;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT") throw unreadable(path, error);
  }
  throw new Refusal(
    "unauthenticated",
    "key_missing",
    `No key: MUSTER_API_KEY is not set and ${path} does not exist. The first start creates it (npm start); check MUSTER_HOME.`,
  );
}

function isConfigured(config: Config, url: string): boolean {
  const { hostname } = new URL(url);
  const named = [config.server, config.publicUrl, localAddress(config)];
  return named.some(
    (known) => known && URL.canParse(known) && new URL(known).hostname === hostname,
  );
}

function unreadable(path: string, cause: unknown): Refusal {
  return new Refusal(
    "unauthenticated",
    "key_unreadable",
    `${path} cannot be read: ${(cause as Error).message}. Run this as the user who runs the server, or set MUSTER_API_KEY.`,
    { cause },
  );
}
