/** Checks that the server's port is free, or that a Muster responds there. */
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import type { Config } from "#base/config.ts";
import { isRecord, ROUTE_TABLE, routePath } from "#client/index.ts";
import { localAddress, ownerKeyPath } from "../client/find-server.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

const NAME = "port";
const ANSWER_WITHIN_MS = 3_000;
const ME_PATH = routePath(ROUTE_TABLE.me.get, {});

export async function checkPort(config: Config): Promise<Finding[]> {
  const { host, port } = config;
  if (port === 0) return [ok(NAME, "any free port (MUSTER_PORT is 0)")];
  const url = localAddress(config);
  const health = await ask(`${url}/health`);
  if (health === undefined) return [await checkFree(host, port)];
  if (!(await isMuster(url, health))) return [taken(port)];
  return [ok(NAME, `a Muster server answers at ${url}`), ...(await checkKey(config, url))];
}

async function checkFree(host: string, port: number): Promise<Finding> {
  const code = await bindError(host, port);
  if (code === undefined) return ok(NAME, `${port} is free (no server is running)`);
  if (code === "EADDRINUSE") return taken(port);
  return fail(
    NAME,
    `cannot listen on ${host}:${port} (${code})`,
    "Set MUSTER_HOST to an address of this machine, and MUSTER_PORT to 1024 or more.",
  );
}

function taken(port: number): Finding {
  return fail(
    NAME,
    `${port} is used by another program`,
    "Stop it, or set MUSTER_PORT to a free port.",
  );
}

/** Anything may respond on a health path; only a Muster refuses strangers in its own words. */
async function isMuster(url: string, health: Response): Promise<boolean> {
  if (!health.ok) return false;
  const me = await ask(`${url}${ME_PATH}`);
  if (me?.status !== 401) return false;
  const body: unknown = await me.json().catch(() => undefined);
  return isRecord(body) && isRecord(body.error) && typeof body.error.code === "string";
}

async function checkKey(config: Config, url: string): Promise<Finding[]> {
  const key = config.apiKey ?? readKey(config);
  if (key === undefined) return [];
  const me = await ask(`${url}${ME_PATH}`, { authorization: `Bearer ${key}` });
  const name = "sign-in";
  const which = config.apiKey === undefined ? "The owner key" : "The key in MUSTER_API_KEY";
  if (me?.ok) return [ok(name, `${which} is accepted`), ...(await checkProxy(url, key))];
  if (me?.status === 401)
    return [
      fail(
        name,
        `${which} is not accepted`,
        "Check that MUSTER_HOME is this server's folder. If it is, a restart creates a new owner key.",
      ),
    ];
  return [
    warn(
      name,
      `${which} could not be checked (${me ? `status ${me.status}` : "no answer"})`,
      "Try again shortly.",
    ),
  ];
}

/** Checks for an untrusted proxy: people behind it share one address, and one lockout. */
async function checkProxy(url: string, key: string): Promise<Finding[]> {
  const metrics = await ask(`${url}/metrics`, { authorization: `Bearer ${key}` });
  if (!metrics?.ok) return [];
  const text = await metrics.text().catch(() => "");
  const count = Number(/^muster_untrusted_forwarded_requests_total (\d+)$/m.exec(text)?.[1] ?? 0);
  if (count === 0) return [];
  return [
    warn(
      "proxy",
      `${count} requests since the start came through an untrusted proxy, so everybody behind it counts as one address`,
      "Set MUSTER_TRUSTED_PROXY to its address; the server's log names it.",
    ),
  ];
}

function readKey(config: Config): string | undefined {
  try {
    return readFileSync(ownerKeyPath(config), "utf8").trim() || undefined;
  } catch {
    return undefined;
  }
}

async function ask(
  url: string,
  headers: Record<string, string> = {},
): Promise<Response | undefined> {
  try {
    return await fetch(url, {
      headers,
      redirect: "manual",
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    });
  } catch {
    return undefined;
  }
}

function bindError(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port }, () => server.close(() => resolve(undefined)));
  });
}
