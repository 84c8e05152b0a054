/**
 * Transport of a request: over HTTPS through a trusted proxy, from this very machine, or unencrypted. An
 * unencrypted request is refused before anything of it is read.
 */
import { isLoopbackHost } from "#base/net/plain-http.ts";
import { isTrustedProxy, type TrustedProxies } from "#base/net/trusted-proxy.ts";
import { Refusal } from "#base/refusal.ts";

export interface TransportSettings {
  /** `MUSTER_INSECURE_HTTP`. */
  insecureHttp: boolean;
  trustedProxy: TrustedProxies | undefined;
}

export interface ArrivedRequest {
  /** Remote and local address of the connection. */
  remote: string | undefined;
  local: string | undefined;
  host: string | undefined;
  /** `X-Forwarded-Proto`. */
  forwardedProto: string | undefined;
}

export function requireHttps(settings: TransportSettings, request: ArrivedRequest): void {
  if (settings.insecureHttp || isPrivate(settings.trustedProxy, request)) return;
  throw new Refusal(
    "forbidden",
    "https_required",
    "This server accepts requests from other machines over HTTPS only. Put a proxy with a certificate in front of it, have it send X-Forwarded-Proto, and name it in MUSTER_TRUSTED_PROXY; on your own network, MUSTER_INSECURE_HTTP=1 allows plain HTTP.",
  );
}

function isPrivate(
  trusted: TrustedProxies | undefined,
  { remote, local, host, forwardedProto }: ArrivedRequest,
): boolean {
  const scheme = forwardedProto?.split(",")[0]?.trim().toLowerCase();
  if (scheme !== undefined && isTrustedProxy(trusted, remote))
    return scheme === "https" || isLoopbackName(host);
  // The local runner, the command line, or a proxy on this machine that sends no header.
  return remote !== undefined && (isLoopbackHost(remote) || remote === local);
}

function isLoopbackName(host: string | undefined): boolean {
  return host !== undefined && isLoopbackHost(host.replace(/:\d+$/, ""));
}

const WARN_EVERY_MS = 10 * 60_000;

/** Detects proxies that the settings do not name: all people behind them share one address. */
export function createProxyWatch(
  trusted: TrustedProxies | undefined,
  now: () => number,
  warn: (proxy: string) => void,
) {
  let warnedAt = Number.NEGATIVE_INFINITY;
  let count = 0;
  return {
    /** Requests with forwarded headers from an untrusted address. */
    get count() {
      return count;
    },
    look(remote: string | undefined, hasForwarded: boolean): void {
      if (!hasForwarded || isTrustedProxy(trusted, remote)) return;
      count++;
      if (now() - warnedAt < WARN_EVERY_MS) return;
      warnedAt = now();
      warn(remote ?? "unknown");
    },
  };
}
