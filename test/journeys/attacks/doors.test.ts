import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { upgradeStatus } from "#test/clients/people.ts";
import { type Platform, startPlatform } from "#test/platform.ts";

/** Bad input, foreign pages and strangers over HTTP: never a 5xx, always a stable code. */
describe("the HTTP surface", () => {
  let platform: Platform;
  let sessionId: string;
  beforeAll(async () => {
    platform = await startPlatform({ runner: false });
    sessionId = (await platform.createSession({ runtime: "echo" })).id;
  });
  afterAll(() => platform.stop());

  const post = (path: string, body: unknown, headers?: Record<string, string>) =>
    platform.request("POST", path, body, headers);

  it.each([
    ["an API answer", "/api/me", 200],
    ["a refusal", "/api/sessions/ses_none", 404],
    ["an address that is none", "/api/nothing", 404],
    ["the API document", "/api/openapi.json", 200],
    ["the health route", "/health", 200],
    ["the readiness route", "/ready", 200],
    ["the metrics", "/metrics", 200],
  ])(
    "%s is read as its type, kept by no cache and shown in no frame",
    async (_what, path, status) => {
      const answer = await fetch(platform.url + path, {
        headers: { authorization: `Bearer ${platform.key}` },
      });
      await answer.body?.cancel();
      expect(answer.status).toBe(status);
      expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
      expect(answer.headers.get("cache-control")).toBe("no-store");
      expect(answer.headers.get("x-frame-options")).toBe("DENY");
      expect(answer.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    },
  );

  it("sends the same headers with a refusal to a stranger", async () => {
    const answer = await fetch(`${platform.url}/api/me`);
    expect(answer.status).toBe(401);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.headers.get("x-frame-options")).toBe("DENY");
  });

  const bad: [string, () => Promise<{ status: number; body: unknown }>, number, string][] = [
    ["broken JSON", () => post("/api/sessions", '{"title": '), 400, "invalid_json"],
    [
      "deep JSON",
      () => post("/api/sessions", `{"title":${"[".repeat(100_000)}`),
      400,
      "json_too_deep",
    ],
    [
      "a body that is too large",
      () => post("/api/sessions", JSON.stringify({ title: "x".repeat(10_000_000) })),
      413,
      "body_too_large",
    ],
    [
      "a body that is not JSON",
      () => post("/api/sessions", "title=x", { "content-type": "text/plain" }),
      415,
      "unsupported_media_type",
    ],
    ["an array for an object", () => post("/api/sessions", "[]"), 400, "invalid_input"],
    ["unknown fields", () => post("/api/sessions", { colour: "red" }), 400, "unknown_field"],
    ["wrong types", () => post("/api/sessions", { title: 7 }), 400, "invalid_input"],
    ["NUL in a name", () => post("/api/sessions", { title: "a\u0000b" }), 400, "invalid_input"],
    [
      "a lone surrogate in a name",
      () => post("/api/sessions", '{"title":"\\ud800"}'),
      400,
      "invalid_input",
    ],
    [
      "an orchestrator made by hand",
      () => post("/api/sessions", { kind: "orchestrator" }),
      400,
      "kind_not_allowed",
    ],
    [
      "an empty prompt",
      () => post(`/api/sessions/${sessionId}/prompts`, { content: "" }),
      400,
      "invalid_input",
    ],
    [
      "an unknown mode",
      () => post(`/api/sessions/${sessionId}/prompts`, { content: "x", mode: "shout" }),
      400,
      "invalid_input",
    ],
    [
      "a bad attachment",
      () =>
        post(`/api/sessions/${sessionId}/prompts`, {
          content: "x",
          attachments: [{ name: "a", mediaType: "image/png", data: "!" }],
        }),
      400,
      "attachment_invalid",
    ],
    [
      "an unknown session",
      () => platform.request("GET", "/api/sessions/ses_nope"),
      404,
      "not_found",
    ],
    [
      "an id that cannot be one",
      () => platform.request("GET", "/api/sessions/%00%ff"),
      404,
      "not_found",
    ],
    ["an unknown prompt", () => platform.request("GET", "/api/prompts/pmt_nope"), 404, "not_found"],
    ["an unknown run", () => platform.request("GET", "/api/runs/run_nope"), 404, "not_found"],
    ["an unknown address", () => platform.request("GET", "/api/nothing"), 404, "not_found"],
    [
      "a foreign cursor",
      () => platform.request("GET", "/api/sessions?cursor=abc"),
      400,
      "cursor_invalid",
    ],
    [
      "a limit of nothing",
      () => platform.request("GET", "/api/sessions?limit=0"),
      400,
      "invalid_input",
    ],
    [
      "a parameter twice",
      () => platform.request("GET", "/api/sessions?limit=1&limit=2"),
      400,
      "invalid_input",
    ],
    [
      "an unknown filter",
      () => platform.request("GET", "/api/sessions?colour=red"),
      400,
      "unknown_field",
    ],
    [
      "a bad Idempotency-Key",
      () => post("/api/sessions", {}, { "idempotency-key": "a b" }),
      400,
      "idempotency_key_invalid",
    ],
  ];
  it.each(bad)("refuses %s", async (_name, send, status, code) => {
    expect(await send()).toMatchObject({ status, body: { error: { code } } });
  });

  it("is not slowed down by a body made to be slow, and reads little of a stranger's body", async () => {
    // This would take hours if it were scanned more than once for each quote.
    const nasty = `{"title":"${'\\"'.repeat(3_000_000)}`;
    expect(await post("/api/sessions", nasty)).toMatchObject({ status: 400 });
    const large = JSON.stringify({ token: "x".repeat(10_000) });
    expect(await post("/api/auth/sign-in", large)).toMatchObject({
      status: 413,
      body: { error: { code: "body_too_large" } },
    });
  });

  it("replaces characters in free text that cannot be stored", async () => {
    const prompt = await platform.request(
      "POST",
      `/api/sessions/${sessionId}/prompts`,
      '{"content":"a\\u0000b\\ud800c"}',
    );
    expect(prompt.body.prompt).toMatchObject({ content: "a\ufffdb\ufffdc" });
  });

  it("answers nothing without a valid credential", async () => {
    for (const authorization of [
      "",
      "Bearer nope",
      `Basic ${platform.key}`,
      `Bearer ${platform.key}x`,
    ]) {
      const answer = await platform.request("GET", "/api/sessions", undefined, { authorization });
      expect(answer).toMatchObject({ status: 401, body: { error: { code: "unauthenticated" } } });
    }
    expect((await fetch(`${platform.url}/health`)).status).toBe(200);
    expect((await fetch(`${platform.url}/ready`)).status).toBe(200);
    for (const path of ["/metrics", "/api/docs", "/api/openapi.json"])
      expect((await fetch(platform.url + path)).status).toBe(401);
  });

  it("answers only to its own host names", async () => {
    for (const host of ["evil.example", "127.0.0.1:1", "localhost.evil.example"]) {
      expect(
        await rawStatus(
          platform,
          `GET /api/me HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${platform.key}\r\nConnection: close\r\n\r\n`,
        ),
      ).toBe(403);
    }
  });

  it("signs a browser in with a link, once, and lets no foreign page use the cookie", async () => {
    const { body } = await platform.request<{ link: string }>("POST", "/api/auth/links", {});
    const token = new URL(body.link).hash.slice("#token=".length);
    const signIn = () =>
      fetch(`${platform.url}/api/auth/sign-in`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ token }),
      });
    const first = await signIn();
    expect(first.status).toBe(200);
    const setCookie = first.headers.get("set-cookie") ?? "";
    expect(setCookie).toMatch(/HttpOnly; SameSite=Strict/);
    expect((await signIn()).status).toBe(401);

    const cookie = setCookie.split(";")[0] ?? "";
    const me = (headers: Record<string, string>) =>
      fetch(`${platform.url}/api/me`, { headers: { cookie, ...headers } });
    expect((await me({})).status).toBe(200);
    expect((await me({ origin: "https://evil.example" })).status).toBe(403);
    const create = (headers: Record<string, string>) =>
      fetch(`${platform.url}/api/sessions`, {
        method: "POST",
        headers: { cookie, "content-type": "application/json", ...headers },
        body: '{"runtime":"echo"}',
      });
    expect((await create({})).status).toBe(403);
    expect((await create({ origin: "https://evil.example" })).status).toBe(403);
    expect((await create({ origin: platform.url })).status).toBe(201);
    // A bearer header, even a wrong one, makes the server ignore the cookie.
    expect((await me({ authorization: "Bearer nope" })).status).toBe(401);

    const out = await fetch(`${platform.url}/api/auth/sign-out`, {
      method: "POST",
      headers: { cookie, origin: platform.url, "content-type": "application/json" },
      body: "{}",
    });
    expect(out.status).toBe(200);
    expect((await me({})).status).toBe(401);
  });

  it("survives frames that break the protocol", async () => {
    const open = () =>
      new Promise<WebSocket>((resolve) => {
        const ws = new WebSocket(`${platform.url.replace("http", "ws")}/api/live`, {
          headers: { authorization: `Bearer ${platform.key}` },
        });
        ws.on("error", () => {});
        ws.on("open", () => resolve(ws));
      });
    const closed = (ws: WebSocket) => new Promise((resolve) => ws.once("close", resolve));
    const large = await open();
    large.send("x".repeat(100_000));
    await closed(large);
    const broken = await open();
    // A reserved opcode, unmasked: not even a WebSocket frame.
    (broken as unknown as { _socket: { write(data: Buffer): void } })._socket.write(
      Buffer.from([0xff, 0xff, 0xff, 0xff]),
    );
    await closed(broken);
    expect((await platform.request("GET", "/api/me")).status).toBe(200);
  });

  it("ends a stream when its credential is revoked", async () => {
    const { body } = await platform.request<{ link: string }>("POST", "/api/auth/links", {});
    const token = new URL(body.link).hash.slice("#token=".length);
    const json = { "content-type": "application/json", origin: platform.url };
    const signedIn = await fetch(`${platform.url}/api/auth/sign-in`, {
      method: "POST",
      headers: json,
      body: JSON.stringify({ token }),
    });
    const cookie = (signedIn.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    const stream = await fetch(`${platform.url}/api/sessions/${sessionId}/events`, {
      headers: { cookie },
    });
    const ended = stream.text();
    await fetch(`${platform.url}/api/auth/sign-out`, {
      method: "POST",
      headers: { ...json, cookie },
      body: "{}",
    });
    expect(await ended).toContain("session_created");
  });

  it("opens no socket for a foreign page, a stranger or a wrong credential", async () => {
    const { body } = await platform.request<{ token: string }>("POST", "/api/runners/tokens", {
      name: "r",
    });
    const attempts: [string, Record<string, string>, number][] = [
      ["/api/live", {}, 401],
      [
        "/api/live",
        { authorization: `Bearer ${platform.key}`, origin: "https://evil.example" },
        403,
      ],
      ["/api/live", { authorization: `Bearer ${body.token}` }, 404],
      ["/api/runners/connect", { authorization: `Bearer ${platform.key}` }, 404],
      ["/api/elsewhere", { authorization: `Bearer ${platform.key}` }, 404],
    ];
    for (const [path, headers, status] of attempts)
      expect(await upgradeStatus(platform, path, headers)).toBe(status);
  });

  it("accepts a runner's token on the runner's socket only", async () => {
    const { body } = await platform.request<{ token: string }>("POST", "/api/runners/tokens", {
      name: "r2",
    });
    const headers = { authorization: `Bearer ${body.token}` };
    for (const path of [
      "/api/sessions",
      `/api/sessions/${sessionId}`,
      "/api/runners",
      "/api/me",
      "/metrics",
    ]) {
      expect([403, 404]).toContain(
        (await platform.request("GET", path, undefined, headers)).status,
      );
    }
    expect(
      (await platform.request("POST", "/api/sessions", { runtime: "echo" }, headers)).status,
    ).toBe(403);
  });

  it("serves the same routes under /api/v1, with a document of all of them", async () => {
    const { body } = await platform.request<{ openapi: string; paths: Record<string, unknown> }>(
      "GET",
      "/api/v1/openapi.json",
    );
    expect(body.openapi).toBe("3.1.0");
    expect(Object.keys(body.paths)).toEqual(
      expect.arrayContaining([
        "/api/sessions",
        "/api/sessions/{id}/prompts",
        "/api/runs",
        "/api/prompts/{id}",
      ]),
    );
    const metrics = await fetch(`${platform.url}/metrics`, {
      headers: { authorization: `Bearer ${platform.key}` },
    });
    expect(await metrics.text()).toContain("muster_http_requests_total");
  });
});

describe("rate limits", () => {
  it("slow down strangers and guessers, on loopback too", async () => {
    const platform = await startPlatform({ runner: false, env: { MUSTER_RATE_LIMIT: "50" } });
    const statuses = new Set<number>();
    for (let i = 0; i < 60; i++)
      statuses.add(
        (await platform.request("GET", "/api/me", undefined, { authorization: `Bearer guess${i}` }))
          .status,
      );
    expect(statuses).toEqual(new Set([401, 429]));
    expect((await platform.request("GET", "/api/me")).status).toBe(200);
    await platform.stop();
  });
});

function rawStatus(platform: Platform, request: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(platform.server.http.port, "127.0.0.1", () => socket.write(request));
    socket.once("data", (data) => {
      resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(String(data))?.[1]));
      socket.destroy();
    });
    socket.once("error", reject);
  });
}
