/** `/mcp` against callers it must not serve, and against malformed requests. */
import { request as httpRequest } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  apiKey,
  bearer,
  calling,
  type HandRunner,
  handRunner,
  listing,
  post,
  turnOf,
} from "#test/clients/mcp.ts";
import { type Browser, join } from "#test/clients/people.ts";
import { type Platform, startPlatform } from "#test/platform.ts";

let platform: Platform;
let runner: HandRunner;
let key: string;
let ann: Browser;
let logLines: string[];

beforeAll(async () => {
  logLines = [];
  platform = await startPlatform({
    runner: false,
    logLines,
    env: { MUSTER_RUNTIME: "native", MUSTER_LOG_LEVEL: "debug" },
  });
  runner = await handRunner(platform);
  key = await apiKey(platform, ["sessions:read", "sessions:write"]);
  ann = await join(platform, "Ann");
});
afterAll(async () => {
  runner.close();
  await platform.stop();
});

/** Sends a false Host header, which `fetch` does not allow. */
function postAs(headers: Record<string, string>): Promise<number> {
  const body = JSON.stringify(listing());
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      `${platform.url}/mcp`,
      {
        method: "POST",
        headers: {
          ...bearer(key),
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          "content-length": Buffer.byteLength(body),
          ...headers,
        },
      },
      (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      },
    );
    request.on("error", reject);
    request.end(body);
  });
}

describe("authentication", () => {
  it("requires a token, and says how to send it", async () => {
    for (const headers of [{}, bearer("nonsense"), { authorization: "Basic b3duZXI6" }]) {
      const refused = await post(platform, listing(), headers as Record<string, string>);
      expect(refused.status).toBe(401);
      expect(refused.headers.get("www-authenticate")).toBe('Bearer realm="muster"');
      expect(refused.body).toMatchObject({
        jsonrpc: "2.0",
        id: null,
        error: {
          message: expect.stringContaining("muster mcp --new-key"),
          data: { code: "unauthenticated" },
        },
      });
    }
  });

  it("accepts no cookie, neither alone nor as a bearer token", async () => {
    const page = { cookie: ann.cookie, origin: platform.url };
    expect((await post(platform, listing(), page)).status).toBe(401);
    const secret = ann.cookie.slice(ann.cookie.indexOf("=") + 1);
    expect((await post(platform, listing(), bearer(secret))).status).toBe(403);
  });

  it("offers nothing for a runner's token", async () => {
    const { body } = await platform.request<{ token: string }>("POST", "/api/runners/tokens", {
      name: "r",
    });
    expect((await post(platform, listing(), bearer(body.token))).status).toBe(403);
  });

  it("refuses foreign pages and host names, whatever the key", async () => {
    expect(await postAs({})).toBe(200);
    expect(await postAs({ origin: platform.url })).toBe(200);
    for (const origin of ["https://evil.example", "null", `${platform.url}.evil.example`])
      expect(await postAs({ origin })).toBe(403);
    for (const host of ["evil.example", "evil.example:80", "127.0.0.1:1", "localhost.evil:80"])
      expect(await postAs({ host })).toBe(403);
  });

  it("takes the token from the header only", async () => {
    const response = await fetch(`${platform.url}/mcp?access_token=${key}&token=${key}`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": key },
      body: JSON.stringify(listing()),
    });
    expect(response.status).toBe(401);
  });

  it("advertises no authorization server", async () => {
    for (const path of ["oauth-protected-resource", "oauth-protected-resource/mcp"])
      expect((await fetch(`${platform.url}/.well-known/${path}`)).status).toBe(404);
  });

  it("answers a run token with a changed signature or attempt like none at all", async () => {
    const { turn, token } = await turnOf(platform, runner);
    const [body = "", fence = "", signature = ""] = token.split(".");
    const forged = [
      `${body}.${Number(fence) + 1}.${signature}`,
      `${body}.${fence}.${signature.startsWith("A") ? "B" : "A"}${signature.slice(1)}`,
      `${body}x.${fence}.${signature}`,
      "mrt_run_1.1.",
    ];
    for (const secret of forged)
      expect((await post(platform, listing(), bearer(secret))).status).toBe(401);
    expect((await post(platform, listing(), bearer(token))).status).toBe(200);
    await turn.end("done");
  });
});

describe("reachable sessions and tools", () => {
  const text = (answer: { body: { result: { content: { text: string }[] } } }) =>
    answer.body.result.content[0]?.text ?? "";

  it("answers for another's session as if there were none", async () => {
    const { body: hers } = await ann.request<{ session: { id: string } }>("POST", "/api/sessions", {
      runtime: "native",
      title: "hers",
    });
    const tools = ["read_session", "get_session_status", "stop_session"];
    for (const tool of tools) {
      const asked = (sessionId: string) =>
        post(platform, calling(tool, { sessionId }), bearer(key)).then(text);
      expect(await asked(hers.session.id)).toBe(await asked("ses_none"));
    }
    const prompted = await post(
      platform,
      calling("prompt_session", { sessionId: hers.session.id, content: "x" }),
      bearer(key),
    );
    expect(text(prompted)).toMatch(/^not_found/);
    const listed = await post(platform, calling("list_sessions"), bearer(key));
    expect(text(listed)).not.toContain("hers");
    const { body } = await ann.request<{ items: unknown[] }>(
      "GET",
      `/api/sessions/${hers.session.id}/prompts`,
    );
    expect(body.items).toEqual([]);
  });

  it("gives an agent none of its person's tools, nor the API", async () => {
    const { turn, token } = await turnOf(platform, runner);
    const tools = ["ask_orchestrator", "list_sessions", "read_session", "prompt_session", "bash"];
    for (const tool of tools) {
      const answer = await post(platform, calling(tool, { message: "x" }), bearer(token));
      expect(answer.body.result.isError).toBe(true);
    }
    const made = await platform.request("POST", "/api/sessions", {}, bearer(token));
    expect(made.status).toBe(403);
    await turn.end("done");
  });

  it("gives a child no way to create children", async () => {
    const parent = await turnOf(platform, runner, { isSupervisor: true });
    const child = await turnOf(platform, runner, { parentSessionId: parent.sessionId });
    const { body } = await post(platform, listing(), bearer(child.token));
    const names = body.result.tools.map((tool: { name: string }) => tool.name);
    expect(names.filter((name: string) => /spawn/.test(name))).toEqual([]);
    for (const tool of ["spawn_session", "orchestrate_spawn_worker"]) {
      const refused = await post(platform, calling(tool, { prompt: "x" }), bearer(child.token));
      expect(text(refused)).toContain(`There is no tool named ${tool}`);
    }
    await child.turn.end("done");
    await platform.request("POST", `/api/sessions/${parent.sessionId}/terminate`, {});
  });
});

describe("malformed requests", () => {
  const ask = (body: unknown, headers: Record<string, string> = {}) =>
    post(platform, body, { ...bearer(key), ...headers });

  it("answers only POST", async () => {
    for (const method of ["GET", "DELETE", "PUT", "PATCH"]) {
      const response = await fetch(`${platform.url}/mcp`, {
        method,
        headers: { ...bearer(key), accept: "text/event-stream" },
      });
      expect(response.status).toBe(405);
      expect(response.headers.get("allow")).toBe("POST");
    }
  });

  it("refuses a body that is too large, too deep, or no message", async () => {
    const large = calling("prompt_session", { content: "x".repeat(9 * 1024 * 1024) });
    // The server may close while the rest is still being sent.
    const status = await ask(large).then(
      (answer) => answer.status,
      () => 413,
    );
    expect(status).toBe(413);
    expect(await ask("{")).toMatchObject({ status: 400, body: { error: { code: -32700 } } });
    expect((await ask(`${"[".repeat(5_000)}${"]".repeat(5_000)}`)).status).toBe(400);
    const bad = [
      null,
      7,
      "text",
      {},
      { jsonrpc: "1.0", id: 1, method: "ping" },
      { jsonrpc: "2.0", id: {}, method: "ping" },
      { jsonrpc: "2.0", id: 1, method: 7 },
    ];
    for (const body of bad) expect((await ask(JSON.stringify(body))).status).toBe(400);
    const typed = await ask(listing(), { "content-type": "text/plain" });
    expect(typed.status).toBe(415);
    expect((await ask(listing(), { accept: "text/html" })).status).toBe(406);
  });

  it("refuses unknown versions, and batches where there are none", async () => {
    expect((await ask(listing(), { "mcp-protocol-version": "2099-01-01" })).status).toBe(400);
    expect((await ask(listing(), { "mcp-protocol-version": "2025-11-25" })).status).toBe(200);
    const batch = [listing(1), listing(2)];
    expect((await ask(batch, { "mcp-protocol-version": "2025-06-18" })).status).toBe(400);
    const both = await ask(batch, { "mcp-protocol-version": "2025-03-26" });
    expect(both.body.map(({ id }: { id: number }) => id).sort()).toEqual([1, 2]);
    expect((await ask([])).status).toBe(400);
    expect((await ask([listing(1), listing(1)])).status).toBe(400);
    expect((await ask(Array.from({ length: 51 }, (_, n) => listing(n)))).status).toBe(400);
  });

  it("names the methods it has", async () => {
    const unknown = { jsonrpc: "2.0", id: 4, method: "resources/list" };
    expect((await ask(unknown)).body).toMatchObject({ id: 4, error: { code: -32601 } });
    const started = await ask({
      jsonrpc: "2.0",
      id: 0,
      method: "initialize",
      params: {
        protocolVersion: "1999-01-01",
        capabilities: {},
        clientInfo: { name: "x", version: "1" },
      },
    });
    expect(started.body.result).toMatchObject({
      protocolVersion: "2025-11-25",
      capabilities: { tools: {} },
      serverInfo: { name: "muster" },
    });
    expect(started.headers.get("mcp-session-id")).toMatch(/^mcp_/);
  });

  it("takes any text in arguments, and obeys none of it", async () => {
    const nasty = [
      "'; drop table sessions; --",
      "\u0000\ud800",
      "../../etc/passwd",
      "__proto__",
      "\u202e\ufeff𝕏",
      "a".repeat(5_000),
      "%00%2e%2e",
    ];
    for (const sessionId of nasty) {
      const answer = await ask(calling("read_session", { sessionId }));
      expect(answer.body.result.isError).toBe(true);
    }
    for (const search of nasty.slice(0, 5)) {
      const answer = await ask(calling("list_sessions", { search }));
      expect(answer.status).toBe(200);
      expect(answer.body.result.structuredContent?.sessions ?? []).toEqual([]);
    }
    const more = [
      calling("list_sessions", { limit: 1e9 }),
      calling("list_sessions", { cursor: "nonsense" }),
      calling("list_sessions", { unknown: 1 }),
      calling("read_session", { sessionId: { $gt: "" } }),
      calling("wait_for_answer", { promptId: "pmt_none" }),
      calling("ask_orchestrator", { message: "" }),
      calling("__proto__", {}),
      calling("constructor", {}),
    ];
    for (const call of more) expect((await ask(call)).body.result.isError).toBe(true);
    const { id } = await platform.createSession({ runtime: "native" });
    const sent = await ask(calling("prompt_session", { sessionId: id, content: "NUL \u0000 end" }));
    expect(sent.body.result.isError).toBeUndefined();
    const { assignment, end } = await runner.nextTurn(id);
    expect(assignment.content).toBe("NUL \ufffd end");
    await end("done");
  });

  it("lets one client cancel nothing of another, even with the same key", async () => {
    const { id } = await platform.createSession({ runtime: "native" });
    const call = calling("prompt_session", { sessionId: id, content: "go", wait: true }, 5);
    const asked = ask(call, { "mcp-session-id": "client-a" });
    const turn = await runner.nextTurn(id);
    const { announcer } = platform.server.kernel.engine;
    await expect.poll(() => announcer.isWatched(id)).toBe(true);
    const cancel = {
      jsonrpc: "2.0",
      method: "notifications/cancelled",
      params: { requestId: 5, reason: "mine" },
    };
    const others: Record<string, string>[] = [
      { "mcp-session-id": "client-b" },
      {},
      { "mcp-session-id": "client-a", ...bearer(await apiKey(platform, ["sessions:write"])) },
    ];
    for (const headers of others) expect((await ask(cancel, headers)).status).toBe(202);
    await turn.end("still here");
    expect((await asked).body.result.structuredContent).toMatchObject({ answer: "still here" });
  });

  it("logs no key, no token and no content", async () => {
    const { turn, token } = await turnOf(platform, runner);
    await ask(calling("prompt_session", { sessionId: "ses_none", content: "whisper-7431" }));
    await post(platform, calling("complete_session", { s: "whisper-7431" }), bearer(token));
    await turn.end("done");
    const logged = logLines.join("\n");
    for (const secret of ["whisper-7431", key, token]) expect(logged).not.toContain(secret);
  });
});
