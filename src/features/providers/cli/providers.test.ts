import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createFakeHost, type FakeHostOptions, runCommand } from "#test/cli/fake-host.ts";
import { FakeServer, reply } from "#test/cli/fake-server.ts";

const API_KEY = "sk-canary-0123456789-WXYZ";
const PATH = "/api/providers/mine";
const provider = {
  name: "mine",
  kind: "openai",
  baseUrl: "https://api.openai.com/v1",
  hasKey: true,
  keyEnd: "WXYZ",
  models: ["a", "b"],
  answered: true,
  problem: null,
  updatedAt: new Date().toISOString(),
};

let server: FakeServer;
beforeEach(async () => {
  server = await new FakeServer().start();
  server.answer("PUT", PATH, (_seen, response) => reply(response, 200, { provider }));
});
afterEach(() => server.stop());

async function run(words: string[], options: FakeHostOptions = {}) {
  const host = createFakeHost({ env: server.env, ...options });
  const code = await runCommand(host, "providers", ...words);
  return { code, out: host.out, err: host.err };
}
const sent = () => server.requests("PUT", PATH).map(({ body }) => body);

describe("muster providers", () => {
  it("takes the key from standard input and repeats it nowhere", async () => {
    const words = ["set", "mine", "--kind", "openai", "--base-url", "https://x.example.com"];
    const { code, out, err } = await run(
      [...words, "--key-stdin", "--model", "a", "--model", "b"],
      {
        input: `${API_KEY}\n`,
      },
    );
    expect(code).toBe(0);
    expect(sent()).toEqual([
      { kind: "openai", baseUrl: "https://x.example.com", apiKey: API_KEY, models: ["a", "b"] },
    ]);
    expect(out).toBe("mine is set: openai at https://api.openai.com/v1, with a key.\n");
    expect(out + err).not.toContain(API_KEY);
  });

  it("says that a provider did not answer", async () => {
    const silent = { ...provider, answered: false };
    server.answer("PUT", PATH, (_seen, response) => reply(response, 200, { provider: silent }));
    const words = ["set", "mine", "--kind", "openai", "--key-stdin"];
    const { code, err } = await run(words, { input: `${API_KEY}\n` });
    expect(code).toBe(0);
    expect(err).toContain("the key was not tried");
  });

  it("asks for the key on a terminal, without showing it", async () => {
    const { code, out, err } = await run(["set", "mine", "--kind", "openai"], {
      typed: `x\u007f${API_KEY}\r`,
    });
    expect(code).toBe(0);
    expect(sent()).toEqual([{ kind: "openai", apiKey: API_KEY }]);
    expect(err).toContain("Key of mine");
    expect(out + err).not.toContain(API_KEY);
  });

  it("leaves the key alone when none is typed or piped in", async () => {
    await run(["set", "mine", "--kind", "openai"], { typed: "\n" });
    await run(["set", "mine", "--kind", "openai"], { input: "not asked for\n" });
    expect(sent()).toEqual([{ kind: "openai" }, { kind: "openai" }]);
  });

  it("changes nothing when it is left, or when nothing comes", async () => {
    const words = ["set", "mine", "--kind", "openai"];
    expect((await run(words, { typed: "sk-\u0003" })).code).toBe(130);
    expect((await run([...words, "--key-stdin"], { input: "" })).code).toBe(2);
    expect(sent()).toEqual([]);
  });

  it("has no argument for a key, and knows the kinds", async () => {
    expect((await run(["set", "mine", "--kind", "openai", "--key", API_KEY])).code).toBe(2);
    expect((await run(["set", "mine", "--kind", "other"])).code).toBe(2);
    expect((await run(["set", "mine"])).code).toBe(2);
    expect(sent()).toEqual([]);
  });

  it("lists providers, with the end of their keys", async () => {
    const items = [
      provider,
      { ...provider, name: "local", baseUrl: null, hasKey: false, keyEnd: null, models: null },
      { ...provider, name: "old", keyEnd: null, problem: "Give it again." },
    ];
    server.answer("GET", "/api/providers", (_seen, response) =>
      reply(response, 200, { items, next: null }),
    );
    const { out } = await run(["ls"]);
    expect(out).toMatch(/mine +openai +https:\/\/api.openai.com\/v1 +…WXYZ +2 +just now/);
    expect(out).toMatch(/local +openai +– +none +as it says/);
    expect(out).toMatch(/old .*unreadable .*Give it again\./);
    expect(JSON.parse((await run(["ls", "--json"])).out)).toEqual({ items, next: null });
  });

  it("shows the model gateway, and changes what is asked for alone", async () => {
    const at = "/api/orgs/org_1/model-gateway";
    const gateway = { personalRunners: false, environmentKeys: false, updatedAt: null };
    server.answer("GET", "/api/me", (_seen, response) =>
      reply(response, 200, { org: { id: "org_1" } }),
    );
    for (const method of ["GET", "PUT"])
      server.answer(method, at, (_seen, response) => reply(response, 200, { gateway }));
    expect((await run(["gateway"])).out).toContain("Members' own machines: closed");
    expect(server.requests("PUT", at)).toEqual([]);
    await run(["gateway", "--members", "closed"]);
    await run(["gateway", "--environment-keys", "on", "--json"]);
    expect(server.requests("PUT", at).map(({ body }) => body)).toEqual([
      { personalRunners: false },
      { environmentKeys: true },
    ]);
    expect((await run(["gateway", "--members", "maybe"])).code).toBe(2);
  });

  it("removes a provider", async () => {
    server.answer("DELETE", PATH, (_seen, response) => reply(response, 200, { provider }));
    expect((await run(["rm", "mine"])).out).toBe("mine is removed.\n");
    server.refuse("DELETE", PATH, 404, "not_found");
    expect((await run(["rm", "mine"])).code).toBe(6);
  });
});
