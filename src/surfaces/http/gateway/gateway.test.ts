import { once } from "node:events";
import {
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "#base/clock.ts";
import { createLog } from "#base/log.ts";
import { notFound, Refusal } from "#base/refusal.ts";
import type { Principal } from "#engine/index.ts";
import { createApp } from "../app.ts";
import { type Caller, createCallers } from "../guards/callers.ts";
import { allowedHosts } from "../guards/guard.ts";
import { gatewayRoutes, MAX_GATEWAY_BODY_BYTES } from "./gateway.ts";
import { DEFAULT_EXCHANGE_LIMITS, type ExchangeLimits } from "./gateway-exchange.ts";
import type { Passage, ReachedProvider, SpentBudget } from "./model-gateway.ts";

const REAL_KEY = "sk-real-canary-0123456789";
const RUNNER_TOKEN = "mst_rnr_canary_of_a_runner";
const OTHER_RUNNER_TOKEN = "mst_rnr_of_another_org";
const RUN_TOKEN = "mrt_run_canary.1.of-a-turn";
const OTHER_RUN_TOKEN = "mrt_run_of.1.another-org";
const USER_KEY = "mst_key_of_an_admin";

const callersBySecret: Record<string, Principal> = {
  [RUNNER_TOKEN]: runner("org_1"),
  [OTHER_RUNNER_TOKEN]: runner("org_2"),
  [RUN_TOKEN]: turn("org_1"),
  [OTHER_RUN_TOKEN]: turn("org_2"),
  [USER_KEY]: {
    kind: "user",
    orgId: "org_1",
    userId: "usr_1",
    name: "Ada",
    role: "admin",
    scopes: ["*"],
    channel: "api",
  },
};

function runner(orgId: string): Principal {
  return {
    kind: "runner",
    orgId,
    credentialId: `crd_${orgId}`,
    scope: orgId,
    tags: [],
    name: "box",
  };
}

function turn(orgId: string): Principal {
  const run = { runId: "run_1", fence: 1 };
  return { kind: "session", orgId, sessionId: "ses_1", ownerId: "usr_1", name: "otters", run };
}

interface Seen {
  method: string;
  url: string;
  headers: IncomingMessage["headers"];
  body: Buffer;
}

let upstream: Server;
let server: Server;
let url: string;
let seen: Seen[];
let logged: string;
/** Behaviour of the upstream after it has read a request. */
let answer: (response: ServerResponse, seen: Seen) => void;
let found: Record<string, ReachedProvider>;
/** Ends of the admitted requests. */
let ends: string[];
let metered: string;
let spent: SpentBudget | undefined;
let isHeld: boolean;
/** True while the database cannot record a count. */
let isUncountable: boolean;

async function listen(made: Server): Promise<number> {
  made.listen(0, "127.0.0.1");
  await once(made, "listening");
  return (made.address() as AddressInfo).port;
}

async function close(made: Server): Promise<void> {
  made.closeAllConnections();
  made.close();
  await once(made, "close");
}

beforeEach(async () => {
  seen = [];
  ends = [];
  metered = "";
  spent = undefined;
  isHeld = true;
  isUncountable = false;
  logged = "";
  answer = (response) => reply(response, 200, { ok: true });
  upstream = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const { method = "", headers } = incoming;
    const one = { method, url: incoming.url ?? "", headers, body: Buffer.concat(chunks) };
    seen.push(one);
    answer(response, one);
  });
  const at = `http://127.0.0.1:${await listen(upstream)}`;
  found = {
    claude: { kind: "anthropic", baseUrl: `${at}/v1`, apiKey: REAL_KEY },
    gpt: { kind: "openai", baseUrl: `${at}/deep/v1beta`, apiKey: REAL_KEY },
    local: { kind: "openai-compatible", baseUrl: `${at}/v1`, apiKey: null },
  };
  await startGateway();
});
afterEach(() => Promise.all([close(server), close(upstream)]));

async function startGateway(limits: Partial<ExchangeLimits> = {}): Promise<void> {
  const log = createLog({
    level: "debug",
    write(line) {
      logged += line;
    },
  });
  const auth = {
    async authenticate(secret: string): Promise<Caller | undefined> {
      const principal = callersBySecret[secret];
      return principal && { principal, credentialId: secret, kind: principal.kind };
    },
    wasSignedOut: async () => false,
  };
  const callers = createCallers({
    auth,
    clock: systemClock,
    cookieName: () => "muster",
    rateLimit: 0,
  });
  let port = 0;
  const hosts = allowedHosts("127.0.0.1", () => port, undefined);
  const app = createApp({ callers, hosts, log });
  gatewayRoutes(app, {
    log,
    limits: { ...DEFAULT_EXCHANGE_LIMITS, ...limits },
    gateway: {
      find: async ({ orgId }, name) => resolve(orgId, name),
      list: async ({ orgId }) =>
        orgId === "org_1"
          ? [{ name: "claude", kind: "anthropic", models: ["m"], answered: true }]
          : [],
      async open({ orgId }, { provider: name, readBody }) {
        const provider = resolve(orgId, name);
        if (!provider) throw notFound("provider");
        const body = await readBody();
        return spent ?? passage(provider, body);
      },
      isStillHeld: async () => isHeld,
    },
  });
  const handle = getRequestListener(app.hono.fetch as never, { overrideGlobalObjects: false });
  server = createServer((incoming, outgoing) => void handle(incoming, outgoing));
  port = await listen(server);
  url = `http://127.0.0.1:${port}`;
}

function resolve(orgId: string, name: string): ReachedProvider | undefined {
  if (name === "sealed") throw new Refusal("unavailable", "secret_key_changed", "Say it again.");
  return orgId === "org_1" ? found[name] : undefined;
}

function passage(provider: ReachedProvider, body: Buffer): Passage {
  let isOver = false;
  const over = async (how: string) => {
    if (isOver) return;
    isOver = true;
    ends.push(how);
    if (isUncountable) throw new Refusal("unavailable", "store_unavailable", "Stopping.");
  };
  return {
    provider,
    body,
    meter: (isEventStream) => {
      metered += isEventStream ? "stream:" : "whole:";
      return {
        take(chunk) {
          metered += chunk;
        },
      };
    },
    end: (isCut) => over(isCut ? "cut" : "ended"),
    fail: () => over("failed"),
  };
}

function reply(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

function post(
  path: string,
  headers: Record<string, string> = {},
  body: string | Uint8Array<ArrayBuffer> = "{}",
) {
  return fetch(url + path, {
    method: "POST",
    headers: {
      authorization: `Bearer ${RUN_TOKEN}`,
      "content-type": "application/json",
      ...headers,
    },
    body,
  });
}

/** Sends exactly this path, which `fetch` would normalise. */
async function raw(method: string, path: string): Promise<number> {
  const asked = request(url, {
    method,
    path,
    headers: { authorization: `Bearer ${method === "POST" ? RUN_TOKEN : RUNNER_TOKEN}` },
  });
  asked.end();
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  response.resume();
  return response.statusCode ?? 0;
}

async function errorOf(response: Response): Promise<{ status: number; code: string }> {
  const { error } = (await response.json()) as { error: { code: string } };
  return { status: response.status, code: error.code };
}

describe("a request through the gateway", () => {
  it("reaches Anthropic with the provider's key instead of the run's token", async () => {
    const body = JSON.stringify({ model: "m", text: "å\u0000", deep: "[".repeat(100) });
    // Anthropic's clients send their key like this.
    const response = await fetch(`${url}/api/gateway/claude/v1/messages?beta=true`, {
      method: "POST",
      headers: {
        "x-api-key": RUN_TOKEN,
        "content-type": "application/json; charset=utf-16",
        "openai-organization": "canary",
        "openai-project": "canary",
        "anthropic-version": "2024-01-01",
        "anthropic-beta": "some-beta",
        "user-agent": "runner/1",
        cookie: "muster=canary",
        forwarded: "for=canary",
        "x-forwarded-for": "canary",
        "x-real-ip": "canary",
        "proxy-authorization": "canary",
        "api-key": "canary",
        "x-made-up": "canary",
      },
      body,
    });
    expect(response.status).toBe(200);
    expect(seen).toHaveLength(1);
    const [{ method, url: path, headers, body: got }] = seen as [Seen];
    expect({ method, path }).toEqual({ method: "POST", path: "/v1/messages?beta=true" });
    expect(got.toString("utf8")).toBe(body);
    expect(headers).toMatchObject({
      "x-api-key": REAL_KEY,
      "anthropic-version": "2024-01-01",
      "anthropic-beta": "some-beta",
      "user-agent": "runner/1",
      host: new URL(found.claude?.baseUrl ?? "").host,
    });
    expect(headers.authorization).toBeUndefined();
    expect(JSON.stringify(headers)).not.toMatch(/mrt_run|muster=|"canary|for=canary|utf-16/);
  });

  it("reaches others with a bearer header, below the address they have", async () => {
    expect((await post("/api/gateway/gpt/v1/chat/completions")).status).toBe(200);
    expect((await post("/api/gateway/gpt/responses")).status).toBe(200);
    expect(seen.map((one) => one.url)).toEqual([
      "/deep/v1beta/chat/completions",
      "/deep/v1beta/responses",
    ]);
    for (const { headers } of seen) {
      expect(headers.authorization).toBe(`Bearer ${REAL_KEY}`);
      expect(headers["x-api-key"]).toBeUndefined();
    }
  });

  it("sends no key where there is none, and the version Anthropic insists on", async () => {
    const authorization = `Bearer ${RUNNER_TOKEN}`;
    await fetch(`${url}/api/gateway/local/v1/models`, { headers: { authorization } });
    await fetch(`${url}/api/gateway/claude/models`, { headers: { authorization } });
    const [local, claude] = seen as [Seen, Seen];
    expect(local).toMatchObject({ method: "GET", url: "/v1/models" });
    expect(local.headers.authorization).toBeUndefined();
    expect(claude.headers).toMatchObject({
      "x-api-key": REAL_KEY,
      "anthropic-version": "2023-06-01",
    });
  });

  it("lets only some headers of the answer through", async () => {
    answer = (response) =>
      reply(
        response,
        200,
        {},
        {
          "set-cookie": "a=b",
          server: "x",
          "x-secret": REAL_KEY,
          "request-id": "req_1",
          "x-request-id": "req_2",
          "anthropic-ratelimit-requests-remaining": "7",
          "x-ratelimit-reset-tokens": "6ms",
          "retry-after": "3",
        },
      );
    const { headers } = await post("/api/gateway/claude/v1/messages");
    expect(Object.fromEntries(headers)).toMatchObject({
      "content-type": "application/json",
      "request-id": "req_1",
      "x-request-id": "req_2",
      "anthropic-ratelimit-requests-remaining": "7",
      "x-ratelimit-reset-tokens": "6ms",
      "retry-after": "3",
      "cache-control": "no-store",
    });
    for (const name of ["set-cookie", "server", "x-secret"]) expect(headers.has(name)).toBe(false);
  });

  it("lists the providers for runners", async () => {
    const ask = (key: string) =>
      fetch(`${url}/api/gateway`, { headers: { authorization: `Bearer ${key}` } });
    expect(await (await ask(RUNNER_TOKEN)).json()).toEqual({
      items: [{ name: "claude", kind: "anthropic", models: ["m"], answered: true }],
    });
    expect(await (await ask(OTHER_RUNNER_TOKEN)).json()).toEqual({ items: [] });
    expect(await errorOf(await ask(USER_KEY))).toEqual({ status: 403, code: "runners_only" });
  });
});

describe("an answer through the gateway", () => {
  it("arrives piece by piece, each before the next is sent", async () => {
    let stream: ServerResponse | undefined;
    answer = (response) => {
      stream = response;
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.flushHeaders();
    };
    const response = await post("/api/gateway/claude/v1/messages");
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    for (let turn = 0; turn < 5; turn++) {
      const event = `event: delta\ndata: {"turn":${turn}}\n\n`;
      stream?.write(event);
      const { value } = await reader.read();
      expect(Buffer.from(value ?? []).toString("utf8")).toBe(event);
    }
    stream?.end();
    expect((await reader.read()).done).toBe(true);
  });

  it("is held back while its reader is slow", async () => {
    const total = 64 * 1024 * 1024;
    const piece = Buffer.alloc(64 * 1024, "x");
    let sent = 0;
    let isHeld: () => void = () => {};
    const held = new Promise<void>((resolve) => (isHeld = resolve));
    answer = (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const more = () => {
        while (sent < total) {
          sent += piece.length;
          if (!response.write(piece)) {
            response.once("drain", more);
            // Progress has stopped: all buffers on the way are full.
            const at = sent;
            setTimeout(() => at === sent && isHeld(), 300);
            return;
          }
        }
        response.end();
        isHeld();
      };
      more();
    };
    const asked = request(`${url}/api/gateway/claude/v1/messages`, {
      method: "POST",
      headers: { authorization: `Bearer ${RUN_TOKEN}` },
    });
    asked.end("{}");
    const [response] = (await once(asked, "response")) as [IncomingMessage];
    await held;
    expect(sent).toBeLessThan(total / 2);
    let received = 0;
    for await (const chunk of response) received += (chunk as Buffer).length;
    expect(received).toBe(total);
  });

  it("is asked for no longer when the runner has gone, before it begins or after", async () => {
    for (const begins of [false, true]) {
      const closed = new Promise<void>((resolve) => {
        answer = (response) => {
          response.on("close", resolve);
          if (begins) response.writeHead(200).write("one");
          else leave.abort();
        };
      });
      const leave = new AbortController();
      const asked = fetch(`${url}/api/gateway/claude/v1/messages`, {
        method: "POST",
        headers: { authorization: `Bearer ${RUN_TOKEN}` },
        body: "{}",
        signal: leave.signal,
      });
      if (begins) {
        await asked;
        leave.abort();
      } else await expect(asked).rejects.toThrow();
      await closed;
    }
    expect(logged).toBe("");
  });

  it("breaks off where the provider's does", async () => {
    answer = (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("data: half", () => response.destroy());
    };
    const response = await post("/api/gateway/claude/v1/messages");
    await expect(response.text()).rejects.toThrow();
    await expect.poll(() => logged).toContain("a model stream broke");
  });

  it("is an error as the provider said it, without the key", async () => {
    answer = (response) =>
      reply(response, 401, { error: { message: `Bad key ${REAL_KEY}.` } }, { "retry-after": "9" });
    const response = await post("/api/gateway/gpt/v1/responses");
    expect(response.status).toBe(401);
    expect(response.headers.get("retry-after")).toBe("9");
    expect(await response.text()).toBe(`{"error":{"message":"Bad key [redacted]."}}`);
  });

  it("of a huge error is its beginning", async () => {
    answer = (response) => response.writeHead(500).end(Buffer.alloc(10_000_000, "x"));
    const response = await post("/api/gateway/gpt/v1/responses");
    expect(response.status).toBe(500);
    expect((await response.text()).length).toBe(64 * 1024);
  });
});

describe("what the gateway refuses", () => {
  it("callers that hold no turn of the organisation", async () => {
    const path = "/api/gateway/claude/v1/messages";
    const as = (headers: Record<string, string>) =>
      fetch(url + path, { method: "POST", headers, body: "{}" }).then(errorOf);
    const stranger = { status: 401, code: "unauthenticated" };
    expect(await as({})).toEqual(stranger);
    expect(await as({ authorization: "Bearer made-up" })).toEqual(stranger);
    expect(await as({ "x-api-key": "made-up" })).toEqual(stranger);
    expect(await as({ authorization: "Bearer made-up", "x-api-key": RUNNER_TOKEN })).toEqual(
      stranger,
    );
    const person = { status: 403, code: "runners_only" };
    expect(await as({ authorization: `Bearer ${USER_KEY}` })).toEqual(person);
    expect(await as({ "x-api-key": USER_KEY })).toEqual(person);
    expect(await as({ cookie: `muster=${USER_KEY}`, origin: url })).toEqual(person);
    expect(await as({ authorization: `Bearer ${OTHER_RUN_TOKEN}` })).toEqual({
      status: 404,
      code: "not_found",
    });
    // A runner's token identifies a machine, and opens no model by itself.
    const machine = { status: 403, code: "run_token_required" };
    expect(await as({ authorization: `Bearer ${RUNNER_TOKEN}` })).toEqual(machine);
    expect(await as({ "x-api-key": RUNNER_TOKEN })).toEqual(machine);
    expect(seen).toEqual([]);
  });

  it("a runner's token in x-api-key anywhere else", async () => {
    const response = await fetch(`${url}/api/gatewayx`, {
      headers: { "x-api-key": RUNNER_TOKEN },
    });
    expect(await errorOf(response)).toEqual({ status: 401, code: "unauthenticated" });
  });

  it.each([
    ["POST", "/api/gateway/claude/v1/files"],
    ["POST", "/api/gateway/claude/v1/messages/batches"],
    ["POST", "/api/gateway/gpt/v1/embeddings"],
    ["POST", "/api/gateway/gpt/v1/batches"],
    ["POST", "/api/gateway/gpt/v1/images/generations"],
    ["POST", "/api/gateway/gpt/v1/fine_tuning/jobs"],
    ["POST", "/api/gateway/gpt/v1/responses/resp_1/cancel"],
    ["GET", "/api/gateway/gpt/v1/responses/resp_1"],
    ["GET", "/api/gateway/gpt/v1/models/.."],
    ["GET", "/api/gateway/gpt/v1/models?key=x"],
    ["POST", "/api/gateway/claude/v1/messages?beta=true&model=big"],
    ["POST", "/api/gateway/CLAUDE/v1/messages"],
    ["POST", "/api/gateway/claude/v1/Messages"],
    ["POST", "/api/gateway/claude/v1/organizations/keys"],
    ["GET", "/api/gateway/claude/v1/messages"],
    ["POST", "/api/gateway/claude/v1/models"],
    ["PUT", "/api/gateway/claude/v1/messages"],
    ["DELETE", "/api/gateway/claude/v1/models"],
    ["HEAD", "/api/gateway/claude/v1/models"],
    ["POST", "/api/gateway/claude/v1/../admin/messages"],
    ["POST", "/api/gateway/claude/../../messages"],
    ["POST", "/api/gateway/claude/v1/%2e%2e/messages"],
    ["POST", "/api/gateway/claude/v1%2fmessages"],
    ["POST", "/api/gateway/claude//messages"],
    ["POST", "/api/gateway/claude/v1/messages/"],
    ["POST", "/api/gateway/claude/v1/messages%3f"],
    ["POST", "/api/gateway/claude@evil.example.com/messages"],
    ["POST", "/api/gateway/nobody/v1/messages"],
    ["POST", "/api/gateway//v1/messages"],
    ["POST", "/api/gateway/claude"],
  ])("%s %s", async (method, path) => {
    expect(await raw(method, path)).toBe(404);
    expect(seen).toEqual([]);
  });

  it("bodies beyond its limit, said or counted, before the provider hears of them", async () => {
    const path = "/api/gateway/claude/v1/messages";
    const tooMuch = Buffer.alloc(MAX_GATEWAY_BODY_BYTES + 1, " ");
    expect(await errorOf(await post(path, {}, tooMuch))).toEqual({
      status: 413,
      code: "body_too_large",
    });
    const asked = request(url + path, {
      method: "POST",
      headers: { authorization: `Bearer ${RUN_TOKEN}`, "transfer-encoding": "chunked" },
    });
    asked.end(tooMuch);
    const [response] = (await once(asked, "response")) as [IncomingMessage];
    expect(response.statusCode).toBe(413);
    response.resume();
    expect(seen).toEqual([]);
    const muchText = tooMuch.subarray(1);
    expect((await post(path, {}, muchText)).status).toBe(200);
    expect(seen[0]?.body.length).toBe(MAX_GATEWAY_BODY_BYTES);
  });

  it("redirects", async () => {
    answer = (response) => response.writeHead(307, { location: "http://127.0.0.1:1/steal" }).end();
    const response = await post("/api/gateway/claude/v1/messages");
    expect(response.headers.get("location")).toBeNull();
    expect(await errorOf(response)).toEqual({ status: 502, code: "provider_redirected" });
    expect(seen).toHaveLength(1);
  });

  it("what it cannot deliver, and says so", async () => {
    found.claude = { kind: "anthropic", baseUrl: "http://127.0.0.1:1/v1", apiKey: REAL_KEY };
    expect(await errorOf(await post("/api/gateway/claude/v1/messages"))).toEqual({
      status: 502,
      code: "provider_unreachable",
    });
    answer = (response) => response.destroy();
    expect(await errorOf(await post("/api/gateway/gpt/v1/responses"))).toEqual({
      status: 502,
      code: "provider_unreachable",
    });
    expect(await errorOf(await post("/api/gateway/sealed/v1/responses"))).toEqual({
      status: 503,
      code: "secret_key_changed",
    });
    expect(logged).toContain("ECONNREFUSED");
    expect(logged).not.toMatch(/canary/);
  });
});

describe("a metered request", () => {
  it("is counted before its end is heard, streamed and whole", async () => {
    answer = (response) => {
      response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
      response.end("data: 1\n\n");
    };
    await (await post("/api/gateway/claude/v1/messages")).text();
    expect(ends).toEqual(["ended"]);
    answer = (response) => reply(response, 200, { done: true });
    await (await post("/api/gateway/claude/v1/messages")).text();
    expect(ends).toEqual(["ended", "ended"]);
    expect(metered).toBe('stream:data: 1\n\nwhole:{"done":true}');
  });

  it("costs nothing when the provider refuses it or is not there", async () => {
    answer = (response) => reply(response, 529, { error: "busy" });
    await (await post("/api/gateway/claude/v1/messages")).text();
    found.claude = { kind: "anthropic", baseUrl: "http://127.0.0.1:1/v1", apiKey: REAL_KEY };
    await (await post("/api/gateway/claude/v1/messages")).text();
    await expect.poll(() => ends).toEqual(["failed", "failed"]);
  });

  it("that cannot be counted now is answered as it is, refused or cut off", async () => {
    isUncountable = true;
    answer = (response) => reply(response, 529, { error: "busy" });
    const refused = await post("/api/gateway/claude/v1/messages");
    expect([refused.status, await refused.text()]).toEqual([529, '{"error":"busy"}']);
    answer = (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("data: half", () => response.destroy());
    };
    const broken = await post("/api/gateway/claude/v1/messages");
    await expect(broken.text()).rejects.toThrow();
    await expect.poll(() => ends).toEqual(["failed", "cut"]);
    await expect.poll(() => logged.match(/will be counted later/g)).toHaveLength(2);
    expect(logged).not.toContain("refused: unavailable");
  });

  it.each([
    ["headersMs", "a provider that never begins"],
    ["idleMs", "a provider that stops in the middle"],
    ["totalMs", "an answer without an end"],
  ] as const)("is given up after %s: %s", async (limit, _why) => {
    await close(server);
    await startGateway({ [limit]: 100 });
    const closed = new Promise<void>((resolved) => {
      answer = (response) => {
        response.on("close", () => resolved());
        if (limit === "headersMs") return;
        response.writeHead(200, { "content-type": "text/event-stream" }).write("data: 1\n\n");
        if (limit === "idleMs") return;
        const more = setInterval(() => response.write("data: 1\n\n"), 10);
        response.on("close", () => clearInterval(more));
      };
    });
    const asked = post("/api/gateway/claude/v1/messages");
    if (limit === "headersMs")
      expect(await errorOf(await asked)).toEqual({ status: 502, code: "provider_unreachable" });
    else await expect((await asked).text()).rejects.toThrow();
    await closed;
    await expect.poll(() => ends).toEqual(["cut"]);
  });

  it("is given up when its reader does not read", async () => {
    await close(server);
    await startGateway({ idleMs: 200 });
    const piece = Buffer.alloc(64 * 1024, "x");
    const closed = new Promise<void>((resolved) => {
      answer = (response) => {
        response.on("close", () => resolved());
        response.writeHead(200, { "content-type": "text/event-stream" });
        const more = () => {
          while (response.write(piece));
          response.once("drain", more);
        };
        more();
      };
    });
    const asked = request(`${url}/api/gateway/claude/v1/messages`, {
      method: "POST",
      headers: { authorization: `Bearer ${RUN_TOKEN}` },
    });
    asked.on("error", () => {});
    asked.end("{}");
    await once(asked, "response");
    await closed;
    await expect.poll(() => ends).toEqual(["cut"]);
    asked.destroy();
  });

  it("ends with the turn it is for", async () => {
    await close(server);
    await startGateway({ checkEveryMs: 20 });
    const closed = new Promise<void>((resolved) => {
      answer = (response) => {
        response.on("close", () => resolved());
        response.writeHead(200, { "content-type": "text/event-stream" }).write("data: 1\n\n");
        isHeld = false;
      };
    });
    await expect((await post("/api/gateway/claude/v1/messages")).text()).rejects.toThrow();
    await closed;
    await expect.poll(() => ends).toEqual(["cut"]);
  });

  it("gets the refusal of a spent budget in the provider's format", async () => {
    spent = { spent: "Nothing is left.", kind: "anthropic" };
    const claude = await post("/api/gateway/claude/v1/messages");
    expect(claude.status).toBe(402);
    expect(await claude.json()).toEqual({
      type: "error",
      error: { type: "billing_error", message: "Nothing is left." },
    });
    spent = { spent: "Nothing is left.", kind: "openai" };
    const gpt = await post("/api/gateway/gpt/v1/responses");
    expect(gpt.status).toBe(429);
    expect(await gpt.json()).toMatchObject({
      error: { type: "insufficient_quota", code: "insufficient_quota" },
    });
    expect(seen).toEqual([]);
  });

  it("is refused when it is packed", async () => {
    const response = await post("/api/gateway/gpt/v1/responses", { "content-encoding": "gzip" });
    expect(await errorOf(response)).toEqual({ status: 415, code: "gateway_body_packed" });
    expect(seen).toEqual([]);
  });
});
