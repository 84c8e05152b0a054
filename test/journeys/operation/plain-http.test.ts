/** Plain HTTP beyond loopback, and proxies that are not configured. */
import { request } from "node:http";
import { networkInterfaces } from "node:os";
import { describe, expect, it } from "vitest";
import { loadConfig } from "#base/config.ts";
import { findServer } from "#surfaces/cli/client/find-server.ts";
import { upgradeStatus } from "#test/clients/people.ts";
import { type Platform, startPlatform } from "#test/platform.ts";

const LISTENING = {
  MUSTER_HOST: "0.0.0.0",
  MUSTER_PUBLIC_URL: "https://muster.example",
  MUSTER_OWNER_EMAIL: "owner@example.org",
};
/** An address of this machine that looks like another machine's. */
const AWAY = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ family, internal }) => family === "IPv4" && !internal)?.address;

const started = (env: Record<string, string>) =>
  startPlatform({ runner: false, env }).then(async (platform) => {
    await platform.stop();
    return "started";
  });

describe("a server", () => {
  it("refuses an unencrypted address for others, unless it is allowed explicitly", async () => {
    const plain = { MUSTER_PUBLIC_URL: "http://muster.example" };
    await expect(started(plain)).rejects.toThrow("MUSTER_INSECURE_HTTP=1");
    await expect(started({ ...plain, MUSTER_HOST: "0.0.0.0" })).rejects.toThrow(
      "MUSTER_INSECURE_HTTP=1",
    );
    expect(await started({ ...plain, MUSTER_INSECURE_HTTP: "1" })).toBe("started");
    expect(await started({ MUSTER_PUBLIC_URL: "http://localhost:4747" })).toBe("started");
  });

  it.skipIf(!AWAY)("takes requests from other machines over HTTPS only", async () => {
    const { mkdtempSync, rmSync, writeFileSync } = await import("node:fs");
    const folder = mkdtempSync("/tmp/muster-test-");
    const file = `${folder}/password`;
    writeFileSync(file, "correct horse battery", { mode: 0o600 });
    const env = { ...LISTENING, MUSTER_OWNER_PASSWORD_FILE: file };
    const trusted = { ...env, MUSTER_TRUSTED_PROXY: AWAY ?? "" };
    const https = { "x-forwarded-proto": "https" };
    const http = { "x-forwarded-proto": "http" };

    const alone = await startPlatform({ runner: false, env });
    expect(await ask(alone, "127.0.0.1")).toBe(200);
    expect(await ask(alone, AWAY)).toBe(403);
    expect(await ask(alone, AWAY, https)).toBe(403);
    expect(await ask(alone, AWAY, {}, "/health")).toBe(200);
    await alone.stop();

    const behind = await startPlatform({ runner: false, env: trusted });
    expect(await ask(behind, AWAY)).toBe(403);
    expect(await ask(behind, AWAY, http)).toBe(403);
    expect(await ask(behind, AWAY, https)).toBe(200);
    expect(await ask(behind, "127.0.0.1")).toBe(200);
    await behind.stop();

    const open = await startPlatform({
      runner: false,
      env: { ...env, MUSTER_INSECURE_HTTP: "1" },
    });
    expect(await ask(open, AWAY)).toBe(200);
    await open.stop();
    rmSync(folder, { recursive: true });
  });

  it("refuses an unencrypted socket as well", async () => {
    const env = { MUSTER_TRUSTED_PROXY: "1", MUSTER_PUBLIC_URL: "https://muster.example" };
    const platform = await startPlatform({ runner: false, env });
    const here = { ...platform, url: `http://127.0.0.1:${platform.server.http.port}` };
    const headers = { authorization: `Bearer ${platform.key}`, host: "muster.example" };
    const by = (proto: string) => ({ ...headers, "x-forwarded-proto": proto });
    expect(await upgradeStatus(here, "/api/live", by("http"))).toBe(403);
    expect(await upgradeStatus(here, "/api/live", by("https"))).toBe(101);
    await platform.stop();
  });

  it("warns of forwarded headers from an untrusted proxy", async () => {
    const logLines: string[] = [];
    const platform = await startPlatform({
      runner: false,
      env: { MUSTER_LOG_LEVEL: "warn" },
      logLines,
    });
    for (let n = 0; n < 3; n++)
      await platform.request("GET", "/api/me", undefined, { "x-forwarded-for": "203.0.113.1" });
    const warned = logLines.filter((line) => line.includes("MUSTER_TRUSTED_PROXY"));
    expect(warned).toHaveLength(1);
    expect(warned[0]).toContain("127.0.0.1");
    const metrics = await fetch(`${platform.url}/metrics`, {
      headers: { authorization: `Bearer ${platform.key}` },
    });
    expect(await metrics.text()).toMatch(/^muster_untrusted_forwarded_requests_total 3$/m);
    await platform.stop();
  });
});

describe("the command line", () => {
  it("sends a key to other machines over HTTPS only", () => {
    const config = (env: Record<string, string>) =>
      loadConfig({ MUSTER_HOME: "/tmp/none", MUSTER_API_KEY: "mst_key_x", ...env });
    const at =
      (url: string, env = {}) =>
      () =>
        findServer(config(env), url);
    expect(at("http://muster.example")).toThrow(/not encrypted/);
    expect(at("http://10.0.0.1:4747")).toThrow(/not encrypted/);
    expect(at("https://muster.example")).not.toThrow();
    expect(at("http://127.0.0.1:4747")).not.toThrow();
    expect(at("http://muster.example", { MUSTER_INSECURE_HTTP: "1" })).not.toThrow();
    // The server of this data folder, on an address of this machine.
    expect(() => findServer(config({ MUSTER_HOST: "192.0.2.7" }), undefined)).not.toThrow();
  });
});

/** The status of a request that comes from an address. */
function ask(
  platform: Platform,
  localAddress: string | undefined,
  headers: Record<string, string> = {},
  path = "/api/me",
): Promise<number> {
  const { port } = platform.server.http;
  const authorization = `Bearer ${platform.key}`;
  return new Promise((resolve, reject) => {
    const asked = request({
      host: "127.0.0.1",
      port,
      path,
      ...(localAddress ? { localAddress } : {}),
      headers: { authorization, ...headers, host: "muster.example" },
    });
    asked.on("response", (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    asked.on("error", reject);
    asked.end();
  });
}
