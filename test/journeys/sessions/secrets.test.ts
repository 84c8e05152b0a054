/** Secrets across the whole platform: names can be reached, values come out nowhere. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { orgOf } from "#test/clients/people.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import "#test/services/bubblewrap.ts";

/** It does not look like a key: only exact knowledge of it can redact it. */
const KEY = "otters-keep-this-to-themselves";

type Reply = (request: IncomingMessage, response: ServerResponse) => void;

describe("secrets", () => {
  const logLines: string[] = [];
  let platform: Platform;
  let orgId: string;
  let reply: Reply = (_request, response) => response.end();
  let asked = 0;
  const outside = createServer((request, response) => {
    request.resume();
    request.on("end", () => {
      if (JSON.stringify(request.headers).includes(KEY)) asked += 1;
      reply(request, response);
    });
  });

  beforeAll(async () => {
    await new Promise<void>((resolve) => outside.listen(0, "127.0.0.1", resolve));
    const at = `http://127.0.0.1:${(outside.address() as AddressInfo).port}`;
    platform = await startPlatform({
      logLines,
      env: { MUSTER_LOG_LEVEL: "debug", MUSTER_GITHUB_API_URL: at },
    });
    ({ orgId } = await orgOf(platform));
    await platform.api.providers.set({
      name: "echoing",
      body: { kind: "openai-compatible", baseUrl: at, apiKey: KEY, models: ["m"] },
    });
  });
  afterAll(async () => {
    await platform.stop();
    outside.closeAllConnections();
    await new Promise((resolve) => outside.close(resolve));
  });

  const isOffered = async () =>
    (await platform.api.runners.models()).items.some(
      ({ id, usable }) => id === "echoing/m" && usable,
    );

  /** Everything readable about a session, and all log lines. */
  const everythingAbout = async (sessionId: string, promptId: string) => {
    const { sessions, prompts, audit, providers, usage } = platform.api;
    const id = sessionId;
    const bodies = await Promise.all([
      sessions.get({ id }),
      sessions.transcript({ id }),
      prompts.list({ id }),
      prompts.get({ id: promptId }),
      audit.list(),
      providers.list(),
      usage.list(),
    ]);
    return JSON.stringify([bodies, await platform.events(sessionId), logLines]);
  };
  const written = [
    KEY,
    Buffer.from(KEY).toString("base64").replace(/=+$/, ""),
    Buffer.from(KEY).toString("hex"),
  ];

  const echoes: [string, Reply][] = [
    [
      "in an error",
      (_request, response) => {
        response.writeHead(401, { "content-type": "application/json", "x-request-id": KEY });
        const message = `Incorrect API key provided: ${written.join(" or ")}.`;
        response.end(JSON.stringify({ error: { message, code: "invalid_api_key" } }));
      },
    ],
    [
      "in the middle of what it says",
      (_request, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        const delta = { content: `You gave me ${KEY}` };
        const said = JSON.stringify({ id: "1", choices: [{ index: 0, delta }] });
        // The key arrives in two pieces.
        const middle = said.indexOf(KEY) + 10;
        response.write(`data: ${said.slice(0, middle)}`);
        setTimeout(() => {
          response.write(`${said.slice(middle)}\n\n`);
          const end = { index: 0, delta: {}, finish_reason: "stop" };
          response.end(`data: ${JSON.stringify({ id: "1", choices: [end] })}\n\ndata: [DONE]\n\n`);
        }, 20);
      },
    ],
  ];

  it.each(echoes)("of a provider that repeats its key %s reach nobody", async (_how, echo) => {
    reply = echo;
    await expect.poll(isOffered, { timeout: 15_000 }).toBe(true);
    const before = asked;
    const session = await platform.createSession({ runtime: "native", model: "echoing/m" });
    const prompt = await platform.prompt(session.id, "Hello");
    await platform.promptIn(prompt.id, "settled");
    const everything = await everythingAbout(session.id, prompt.id);
    for (const form of written) expect(everything).not.toContain(form);
    expect(everything).toContain("[redacted]");
    expect(asked).toBeGreaterThan(before);
  });

  it("used for GitHub reach nobody when it repeats them", async () => {
    await platform.api.orgSecrets.set({ orgId, name: "GITHUB_TOKEN", body: { value: KEY } });
    const before = asked;
    reply = (_request, response) => {
      response.writeHead(500, { "content-type": "application/json" });
      response.end(JSON.stringify({ message: `Bad credentials: ${KEY}` }));
    };
    const answer = await platform.request("POST", `/api/orgs/${orgId}/repos/sync`, {});
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(asked).toBeGreaterThan(before);
    expect(JSON.stringify([answer.body, logLines])).not.toContain(KEY);
  });

  it("with invalid names are refused, and with valid names can be reached", async () => {
    const at = (name: string) => `/api/me/secrets/${encodeURIComponent(name)}`;
    for (const name of [
      "two words",
      "ä",
      "a/b",
      "a%b",
      "1st",
      "x".repeat(65),
      "a\u0000b",
      "é\ud83e",
    ]) {
      const path = name.isWellFormed() ? at(name) : "/api/me/secrets/%ff";
      const put = await platform.request<{ error: { code: string } }>("PUT", path, { value: "v" });
      expect({ name, status: put.status, code: put.body.error.code }).toEqual({
        name,
        status: 400,
        code: "invalid_name",
      });
    }
    const wrong = await platform.request<{ error: { message: string } }>("PUT", at("two words"), {
      value: "v",
    });
    expect(wrong.body.error.message).toContain("Start with a letter");
    for (const name of ["a", "A.b-c_d", `Z${"9".repeat(63)}`]) {
      expect((await platform.request("PUT", at(name), { value: "v" })).status).toBe(200);
      expect((await platform.request("DELETE", at(name))).status).toBe(200);
    }
    // Missing, whatever it is called.
    for (const name of ["gone", "two words", "a/b"])
      expect((await platform.request("DELETE", at(name))).status).toBe(404);
  });
});
