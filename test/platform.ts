/**
 * Starts the whole platform in one process, on its own database, and talks to it as a client would.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Config, type Environment, loadConfig } from "#base/config.ts";
import { createLog } from "#base/log.ts";
import {
  type ApiRoutes,
  type BodyOf,
  type Client,
  createClient,
  fetchTransport,
} from "#client/index.ts";
import { createInlineTransport } from "#main/runner/inline-transport.ts";
import { type RunningRunner, startRunner } from "#main/runner/runner.ts";
import { ensureRunnerToken, readSecret } from "#main/server/owner.ts";
import { type RunningServer, startServer } from "#main/server/server.ts";
import type { SessionEvent } from "#protocol/events.ts";
import type { Prompt, Session } from "#protocol/sessions.ts";
import type { TestDatabase } from "#test/services/postgres.ts";

export interface PlatformResponse<T = Record<string, unknown>> {
  status: number;
  body: T;
  headers: Headers;
}

export interface Platform {
  config: Config;
  server: RunningServer;
  key: string;
  url: string;
  /** The typed client with the owner's key; a refusal is thrown as an `ApiError`. */
  api: Client;
  /** Sends a request as it is, for tests of refusals, headers and raw bodies. */
  request<T = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<PlatformResponse<T>>;
  createSession(fields?: NewSession): Promise<Session>;
  /** Creates a session that may have workers. */
  createSupervisor(fields?: NewSession): Promise<Session>;
  prompt(sessionId: string, content: string, fields?: Partial<NewPrompt>): Promise<Prompt>;
  /** Waits until a prompt has the wanted state. */
  promptIn(id: string, state: Prompt["state"]): Promise<Prompt>;
  events(sessionId: string): Promise<SessionEvent[]>;
  /** Starts a runner; another `folder` is another machine. */
  startRunner(folder?: string): Promise<RunningRunner>;
  /** Stops the runner and starts another with the same identity. */
  restartRunner(): Promise<void>;
  stop(): Promise<void>;
}

/** Fields of a request that creates a session. */
export type NewSession = BodyOf<ApiRoutes["sessions"]["create"]>;
type NewPrompt = BodyOf<ApiRoutes["prompts"]["create"]>;

const WAIT_LIMIT_MS = 30_000;

export async function startPlatform({
  env = {},
  runner = true,
  logLines,
  home: given,
  database = async () => undefined,
}: {
  env?: Environment;
  runner?: boolean;
  /** Collects log lines. */
  logLines?: string[];
  /** A data folder that is kept when the platform stops. */
  home?: string;
  /** Creates a PostgreSQL database that is dropped when the platform stops; undefined for SQLite. */
  database?: () => Promise<TestDatabase | undefined>;
} = {}): Promise<Platform> {
  const postgres = await database();
  const home = given ?? mkdtempSync(join(tmpdir(), "muster-test-"));
  const config = loadConfig({
    MUSTER_HOME: home,
    MUSTER_PORT: "0",
    MUSTER_RATE_LIMIT: "0",
    MUSTER_MAX_SESSIONS: "1000",
    MUSTER_MAX_ORG_SESSIONS: "10000",
    MUSTER_LOG_LEVEL: "error",
    MUSTER_RUNTIME: "echo",
    ...(postgres ? { MUSTER_DATABASE_URL: postgres.url } : {}),
    ...env,
  });
  const log = createLog({
    level: config.logLevel,
    ...(logLines ? { write: (line: string) => void logLines.push(line) } : {}),
  });
  const server = await startServer(config, log, join(import.meta.dirname, "../dist"));
  const key = readSecret(server.owner.keyFile);
  const url = server.http.url;
  const api = createClient(fetchTransport({ baseUrl: url, key, fetch: fetchKept }));
  let running: RunningRunner | undefined;

  const platform: Platform = {
    config,
    server,
    key,
    url,
    api,
    async request<T>(
      method: string,
      path: string,
      body?: unknown,
      headers: Record<string, string> = {},
    ) {
      const response = await fetchKept(url + path, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        ...(body === undefined
          ? {}
          : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      return {
        status: response.status,
        body: (text === "" ? {} : JSON.parse(text)) as T,
        headers: response.headers,
      };
    },
    async createSession(fields = {}) {
      return (await api.sessions.create({ body: { runtime: "scripted", ...fields } })).session;
    },
    async createSupervisor(fields = {}) {
      const session = await platform.createSession(fields);
      await api.supervision.enable({ id: session.id });
      return session;
    },
    async prompt(sessionId, content, fields = {}) {
      return (await api.prompts.create({ id: sessionId, body: { content, ...fields } })).prompt;
    },
    async promptIn(id, state) {
      const deadline = Date.now() + WAIT_LIMIT_MS;
      for (;;) {
        const { prompt } = await api.prompts.get({ id });
        if (prompt.state === state) return prompt;
        if (Date.now() > deadline) throw new Error(`prompt ${id} is ${prompt.state}, not ${state}`);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
    events: (sessionId) => server.kernel.sessions.events(sessionId, 0, 10_000),
    async startRunner(folder = "runner") {
      const tokenFile = await ensureRunnerToken(server.auth, home, server.owner.keyFile);
      const caller = await server.auth.authenticate(readSecret(tokenFile));
      if (caller?.principal.kind !== "runner") throw new Error("not a runner's token");
      const transport = createInlineTransport(server.kernel.dispatcher, caller.principal, log);
      running = await startRunner(
        {
          folder: join(home, folder),
          name: "test",
          profile: "default",
          tags: [],
          projectDir: null,
          capacity: 64,
          drainMs: 100,
          native: config,
          gateway: { serverUrl: url, token: readSecret(tokenFile) },
        },
        transport,
        log,
      );
      return running;
    },
    async restartRunner() {
      await running?.stop();
      await platform.startRunner();
    },
    async stop() {
      await running?.stop();
      await server.stop();
      await postgres?.drop();
      if (given === undefined) rmSync(home, { recursive: true, force: true });
    },
  };
  if (runner) await platform.startRunner();
  return platform;
}

/**
 * Fetches, once more if a kept connection was closed in the moment of its reuse. The server closes idle
 * ones after 5 s and this process drops them after 4 s; a process that stalls for a second does both.
 */
export async function fetchKept(
  url: string | URL | Request,
  init?: RequestInit,
): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    const { code } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException;
    if (code !== "ECONNRESET") throw error;
    return fetch(url, init);
  }
}
