/**
 * Network for a sandbox that may reach some hosts. The sandbox itself has none: programs inside
 * connect to a port of their own loopback, a small bridge forwards that to a unix socket mounted
 * from outside, and there the proxy decides.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BRIDGE_SOURCE } from "./bridge-source.ts";
import { type ProxyOptions, startProxy } from "./proxy.ts";

export interface NetworkOptions extends Omit<ProxyOptions, "allowedHosts"> {
  /** Program that runs the bridge; by default the one that runs us. */
  nodeFile?: string;
}

export interface SandboxNetwork {
  mounts: { from: string; to: string }[];
  env: Record<string, string>;
  /** Words that go before a command's own. */
  wrapper: string[];
  close(): Promise<void>;
}

const INSIDE = "/run/muster";
const PORT = 18_989;

export async function openNetwork({
  folder,
  nodeFile = process.execPath,
  ...options
}: NetworkOptions & ProxyOptions & { folder: string }): Promise<SandboxNetwork> {
  const shared = join(folder, "network");
  mkdirSync(shared, { recursive: true });
  const bridgeFile = join(shared, "bridge.cjs");
  writeFileSync(bridgeFile, BRIDGE_SOURCE);
  // The path of a unix socket must be short, and the runner's folder may be deep.
  const socketFolder = mkdtempSync(join(tmpdir(), "muster-"));
  const socketFile = join(socketFolder, "proxy");
  const proxy = await startProxy(socketFile, options);
  const address = `http://127.0.0.1:${PORT}`;
  return {
    mounts: [
      { from: nodeFile, to: `${INSIDE}/node` },
      { from: bridgeFile, to: `${INSIDE}/bridge.cjs` },
      { from: socketFile, to: `${INSIDE}/proxy` },
    ],
    env: {
      http_proxy: address,
      https_proxy: address,
      HTTP_PROXY: address,
      HTTPS_PROXY: address,
      no_proxy: "localhost,127.0.0.1,::1",
      NO_PROXY: "localhost,127.0.0.1,::1",
      NODE_USE_ENV_PROXY: "1",
    },
    wrapper: [`${INSIDE}/node`, `${INSIDE}/bridge.cjs`, String(PORT), `${INSIDE}/proxy`],
    async close() {
      await proxy.close();
      rmSync(socketFolder, { recursive: true, force: true });
    },
  };
}
