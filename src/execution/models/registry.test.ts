import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FakeClock } from "#base/clock.ts";
import { type ModelServer, startModelServer, TEST_MODEL } from "#test/model-server/model-server.ts";
import { collect, request, streamed } from "./fake-request.ts";
import type { ModelProvider } from "./model.ts";
import { normalBaseUrl, secretsIn } from "./provider-settings.ts";
import { createModels, type Models } from "./registry.ts";

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());

/** An address where nothing listens. */
const NOWHERE = { OLLAMA_HOST: "127.0.0.1:9" };

function found(models: Models, id: string): { provider: ModelProvider; model: string } {
  const result = models.provider(id);
  if ("code" in result) throw new Error(result.message);
  return result;
}

async function say(models: Models, id: string): Promise<string> {
  const { provider, model } = found(models, id);
  return streamed(await collect(provider, request("SAY hello there", { model })), "text");
}

describe("without any settings", () => {
  const models = createModels({ environment: NOWHERE });

  it("offers the demo, and one line of what to do for each provider", async () => {
    const offers = await models.capabilities();
    expect(offers.filter(({ usable }) => usable).map(({ id }) => id)).toEqual(["demo/story"]);
    const reasons = Object.fromEntries(offers.map(({ provider, why }) => [provider, why]));
    expect(reasons).toMatchObject({
      anthropic: expect.stringContaining("ANTHROPIC_API_KEY"),
      openai: expect.stringContaining("OPENAI_API_KEY"),
      openrouter: expect.stringContaining("OPENROUTER_API_KEY"),
      ollama: expect.stringContaining("127.0.0.1:9"),
      demo: null,
    });
    expect(await models.defaultModel()).toEqual({ id: "demo/story" });
  });

  it("says why a model cannot be had", () => {
    expect(models.provider("anthropic/claude-sonnet-5-5")).toMatchObject({
      code: "model_not_available",
      message: expect.stringContaining("ANTHROPIC_API_KEY"),
    });
    for (const id of ["nobody/x", "", "/", "demo/other", "anthropic", "__proto__/x"]) {
      expect(models.provider(id)).toMatchObject({ code: "model_not_available" });
    }
    expect(found(models, "demo/story").model).toBe("story");
  });
});

describe("with settings", () => {
  const environment = () => ({
    ANTHROPIC_API_KEY: "sk-a",
    ANTHROPIC_BASE_URL: server.url,
    OPENAI_API_KEY: "sk-o",
    OPENAI_BASE_URL: `${server.url}/v1/`,
    OPENROUTER_API_KEY: "sk-r",
    OPENROUTER_BASE_URL: `${server.url}/api/v1`,
    OLLAMA_HOST: server.url,
    MUSTER_PROVIDERS: JSON.stringify({
      lab: { baseUrl: `${server.url}/lab`, apiKey: "sk-l" },
      claude: { baseUrl: server.url, apiKey: "sk-c", kind: "anthropic", models: ["c-1"] },
    }),
  });

  it.each([
    ["anthropic/test-1", "/v1/messages", "x-api-key", "sk-a"],
    ["openai/test-1", "/v1/responses", "authorization", "Bearer sk-o"],
    ["openai-chat/test-1", "/v1/chat/completions", "authorization", "Bearer sk-o"],
    ["openrouter/some/model", "/api/v1/chat/completions", "authorization", "Bearer sk-r"],
    ["ollama/test-1", "/v1/chat/completions", "authorization", undefined],
    ["lab/test-1", "/lab/v1/chat/completions", "authorization", "Bearer sk-l"],
    ["claude/c-1", "/v1/messages", "x-api-key", "sk-c"],
  ])("%s answers from %s", async (id, path, header, value) => {
    expect(await say(createModels({ environment: environment() }), id)).toBe("hello there");
    const sent = server.requests.at(-1);
    expect(sent?.path).toBe(path);
    expect(sent?.headers[header]).toBe(value);
    expect(sent?.body.model).toBe(id.slice(id.indexOf("/") + 1));
  });

  it("knows all keys there are, those of named endpoints too", () => {
    expect(secretsIn(environment())).toEqual(["sk-a", "sk-o", "sk-o", "sk-r", "sk-l", "sk-c"]);
  });

  it("lists what is usable, what endpoints have, and the prices that are known", async () => {
    const models = createModels({ environment: environment() });
    const offers = await models.capabilities();
    const ids = offers.map(({ id }) => id);
    expect(ids).toContain(`ollama/${TEST_MODEL}`);
    expect(ids).toContain(`lab/${TEST_MODEL}`);
    expect(ids).toContain("claude/c-1");
    expect(offers.every(({ usable }) => usable)).toBe(true);
    expect(offers.find(({ id }) => id === "anthropic/claude-opus-5-5")?.price?.inputMicros).toBe(
      4_000_000,
    );
    expect(offers.find(({ id }) => id === "claude/c-1")?.price).toBeNull();
    expect(await models.defaultModel()).toEqual({ id: "anthropic/claude-sonnet-5-5" });
  });

  it("chooses a provider that was never tried only when there is no other", async () => {
    const models = createModels({
      environment: {},
      fetch: () => Promise.reject(new Error("nobody there")),
    });
    const reach = { apiKey: "sk", viaServer: true };
    models.configure("anthropic", { ...reach, isUntried: true });
    expect(await models.defaultModel()).toEqual({ id: "anthropic/claude-sonnet-5-5" });
    models.configure("openai", { ...reach, isUntried: false });
    expect(await models.defaultModel()).toEqual({ id: "openai/gpt-6.1-sol" });
    models.configure("anthropic", reach);
    expect(await models.defaultModel()).toEqual({ id: "anthropic/claude-sonnet-5-5" });
  });

  it("finds an Ollama by itself and takes its model", async () => {
    const models = createModels({
      environment: {},
      fetch: (input, init) =>
        fetch(String(input).replace("http://127.0.0.1:11434", server.url), init),
    });
    expect(await models.defaultModel()).toEqual({ id: `ollama/${TEST_MODEL}` });
  });

  it("looks for a default at most once a minute, and lets nobody wait for it", async () => {
    const clock = new FakeClock();
    const asked: ((isThere: boolean) => void)[] = [];
    const models = createModels({
      environment: {},
      clock,
      fetch: () =>
        new Promise((resolve, reject) => {
          asked.push((isThere) =>
            isThere
              ? resolve(new Response(JSON.stringify({ data: [{ id: "llama" }] })))
              : reject(new Error("nobody there")),
          );
        }),
    });
    const first = models.defaultModel();
    asked[0]?.(true);
    expect(await first).toEqual({ id: "ollama/llama" });
    clock.advance(59_000);
    expect(await models.defaultModel()).toEqual({ id: "ollama/llama" });
    expect(asked).toHaveLength(1);
    clock.advance(2_000);
    // The second question has no answer yet.
    expect(await models.defaultModel()).toEqual({ id: "ollama/llama" });
    expect(asked).toHaveLength(2);
    asked[1]?.(false);
    await expect.poll(() => models.defaultModel()).toEqual({ id: "demo/story" });
    clock.advance(61_000);
    const again = models.defaultModel();
    asked[2]?.(true);
    expect(await again).toEqual({ id: "ollama/llama" });
    models.configure("anthropic", { apiKey: "sk-a" });
    const better = models.defaultModel();
    asked[3]?.(true);
    expect(await better).toEqual({ id: "anthropic/claude-sonnet-5-5" });
  });

  it("has no default, rather than the demo, while a provider that was set up is silent", async () => {
    let isThere = false;
    const clock = new FakeClock();
    const models = createModels({
      environment: { MUSTER_PROVIDERS: JSON.stringify({ lab: { baseUrl: "http://127.0.0.1:9" } }) },
      clock,
      fetch: async (url) => {
        if (!isThere || !String(url).includes(":9/")) throw new Error("nobody there");
        return new Response(JSON.stringify({ data: [{ id: "one" }] }));
      },
    });
    expect(await models.defaultModel()).toEqual({ silent: expect.stringContaining("lab") });
    isThere = true;
    clock.advance(11_000);
    expect(await models.defaultModel()).toEqual({ id: "lab/one" });
  });

  it("takes a bearer token for Anthropic when there is no key", async () => {
    const models = createModels({
      environment: { ...NOWHERE, ANTHROPIC_AUTH_TOKEN: "tok", ANTHROPIC_BASE_URL: server.url },
    });
    await say(models, "anthropic/test-1");
    expect(server.requests.at(-1)?.headers.authorization).toBe("Bearer tok");
  });

  it("takes keys and providers at run time, and the newest counts", async () => {
    const models = createModels({ environment: { ...NOWHERE, ANTHROPIC_BASE_URL: server.url } });
    models.configure("anthropic", { apiKey: "sk-later" });
    await say(models, "anthropic/test-1");
    expect(server.requests.at(-1)?.headers["x-api-key"]).toBe("sk-later");
    models.configure("anthropic", { apiKey: "sk-newer" });
    await say(models, "anthropic/test-1");
    expect(server.requests.at(-1)?.headers["x-api-key"]).toBe("sk-newer");
    expect((await models.capabilities())[0]).toMatchObject({
      id: "anthropic/claude-sonnet-5-5",
      usable: true,
    });
    models.configure("openai", { baseUrl: server.url });
    expect(models.provider("openai/test-1")).toMatchObject({ code: "model_not_available" });
    models.configure("openai", { apiKey: "sk-both" });
    await say(models, "openai-chat/test-1");
    expect(server.requests.at(-1)?.headers.authorization).toBe("Bearer sk-both");
    models.configure("mine", { baseUrl: server.url });
    expect(await say(models, "mine/test-1")).toBe("hello there");
    expect(() => models.configure("demo", { baseUrl: server.url })).toThrow(/demo/);
    expect(() => models.configure("other", {})).toThrow(/http/);
  });

  it.each([
    "{",
    "[]",
    '{"A B": {"baseUrl": "http://x"}}',
    '{"a": {}}',
    '{"a": {"baseUrl": "ftp://x"}}',
    '{"a": {"baseUrl": "http://x", "kind": "other"}}',
  ])("refuses MUSTER_PROVIDERS %s", (json) => {
    expect(() => createModels({ environment: { MUSTER_PROVIDERS: json } })).toThrow(
      /MUSTER_PROVIDERS|http/,
    );
  });

  it("a bad address of a known provider makes that one unusable, not the start", async () => {
    const models = createModels({
      environment: { ...NOWHERE, ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: "not an address" },
    });
    expect(models.provider("anthropic/x")).toMatchObject({ code: "model_not_available" });
    expect((await models.capabilities())[0]).toMatchObject({
      usable: false,
      why: expect.stringContaining("http"),
    });
  });
});

describe("normalBaseUrl", () => {
  it.each([
    ["http://localhost:8000", "http://localhost:8000/v1"],
    ["http://localhost:8000/", "http://localhost:8000/v1"],
    ["http://localhost:8000/v1", "http://localhost:8000/v1"],
    ["http://localhost:8000/v1/", "http://localhost:8000/v1"],
    ["https://a.example/v1/chat/completions", "https://a.example/v1"],
    ["https://a.example/v1/messages", "https://a.example/v1"],
    ["https://a.example/openai", "https://a.example/openai/v1"],
    ["https://a.example/api/paas/v4", "https://a.example/api/paas/v4"],
    ["https://a.example/v1beta/openai/", "https://a.example/v1beta/openai"],
  ])("%s is %s", (given, normal) => {
    expect(normalBaseUrl(given)).toBe(normal);
  });

  it.each(["", "localhost:8000", "file:///etc/passwd", "https://user:word@a.example"])(
    "refuses %j",
    (given) => {
      expect(() => normalBaseUrl(given)).toThrow(/http/);
    },
  );
});
