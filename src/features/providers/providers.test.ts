import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createMemoryBus } from "#base/bus/memory/memory-bus.ts";
import { systemClock } from "#base/clock.ts";
import { createIds } from "#base/ids.ts";
import { silentLog } from "#base/log.ts";
import { openStore, type Store } from "#base/store/index.ts";
import { createKernel, type Kernel, type Principal } from "#engine/index.ts";
import { createTestDatabase, postgresUrl } from "#test/services/postgres.ts";
import type { Provider } from "./contract.ts";
import { createProviders, type Providers } from "./index.ts";

const SECRET_KEY = "a-secret-key-of-more-than-32-characters";
const API_KEY = "sk-ant-canary-0123456789-WXYZ";
const OTHER_KEY = "sk-ant-canary-other-6789-QRST";

function user(role: "admin" | "member", orgId = "org_1", scopes = ["*"]): Principal {
  return { kind: "user", orgId, userId: `usr_${role}`, name: role, role, scopes, channel: "api" };
}
const admin = user("admin");
const runner: Principal = {
  kind: "runner",
  orgId: "org_1",
  credentialId: "crd_1",
  scope: "org_1",
  tags: [],
  name: "box",
};

/** Stands in for the providers' own servers. */
class Vendors {
  /** Paths and credentials in the order of the requests. */
  asked: { url: string; headers: Record<string, string> }[] = [];
  status = 200;
  body = "{}";
  isAway = false;

  fetch: typeof globalThis.fetch = async (input, init) => {
    this.asked.push({
      url: String(input),
      headers: (init?.headers ?? {}) as Record<string, string>,
    });
    if (this.isAway) throw new TypeError("fetch failed");
    return new Response(this.body, { status: this.status });
  };
}

interface TestDatabase {
  url: string;
  discard(): Promise<void>;
}

function suite(title: string, place: () => Promise<TestDatabase>): void {
  describe(title, () => {
    let at: TestDatabase;
    let store: Store;
    let kernel: Kernel;
    let providers: Providers;
    let vendors = new Vendors();

    beforeAll(async () => {
      at = await place();
      const base = { clock: systemClock, log: silentLog };
      store = await openStore({ ...base, url: at.url, onSyncFailure: () => {} });
      const ask: typeof globalThis.fetch = (input, init) => vendors.fetch(input, init);
      providers = createProviders({ secretKey: SECRET_KEY, fetch: ask });
      kernel = await createKernel({
        ...base,
        store,
        bus: createMemoryBus(silentLog),
        ids: createIds(),
        defaults: {
          runtime: "echo",
          model: null,
          limits: { activePerUser: 10, activePerOrg: 10 },
        },
        features: [providers.feature],
      });
    });
    afterEach(async () => {
      vendors = new Vendors();
      await rewrite("delete from provider_settings");
    });
    afterAll(async () => {
      await kernel.stop();
      await store.close();
      await at.discard();
    });

    /** Checks the body and calls the route, as the HTTP surface does. */
    async function call<T>(
      method: "get" | "put" | "delete",
      name: string,
      body: unknown = {},
      { principal = admin, from = providers } = {},
    ): Promise<T> {
      const path = method === "get" ? "/api/providers" : "/api/providers/{name}";
      const route = from.feature.routes?.find((r) => r.method === method && r.path === path);
      if (!route) throw new Error("no such route");
      const parsed = route.body ? route.body.parse(body) : {};
      return (await route.handle({
        engine: kernel.engine,
        principal,
        params: { name },
        query: {} as never,
        body: parsed as never,
        idempotency: undefined,
      })) as T;
    }
    const set = async (name: string, body: unknown, principal = admin) =>
      (await call<{ provider: Provider }>("put", name, body, { principal })).provider;
    const list = async (principal = admin, from = providers) =>
      (await call<{ items: Provider[] }>("get", "", {}, { principal, from })).items;
    const resolve = (name: string, orgId = "org_1", from = providers) =>
      from.resolve(kernel.engine, orgId, name);
    const rows = () =>
      store.read((reader) =>
        reader.query<{ secret: string | null; created_by: string }>({
          sql: "select * from provider_settings order by name",
          parameters: [],
        }),
      );
    const rewrite = (sql: string) => store.transaction((tx) => tx.execute({ sql, parameters: [] }));

    it("keeps a key for the server alone", async () => {
      const shown = await set("anthropic", { kind: "anthropic", apiKey: ` ${API_KEY}\n` });
      expect(shown).toMatchObject({
        name: "anthropic",
        baseUrl: "https://api.anthropic.com/v1",
        hasKey: true,
        keyEnd: "WXYZ",
        models: null,
        problem: null,
      });
      expect(JSON.stringify([shown, await list()])).not.toContain(API_KEY);
      expect(JSON.stringify(await rows())).not.toContain("canary");
      expect(await resolve("anthropic")).toEqual({
        kind: "anthropic",
        baseUrl: "https://api.anthropic.com/v1",
        apiKey: API_KEY,
      });
      expect(await resolve("anthropic", "org_2")).toBeUndefined();
      expect(await resolve("nobody")).toBeUndefined();
    });

    it("seals the same key differently each time", async () => {
      await set("one", { kind: "openai", apiKey: API_KEY });
      const [first] = await rows();
      await set("one", { kind: "openai", apiKey: API_KEY });
      const [second] = await rows();
      expect(second?.secret).not.toBe(first?.secret);
      expect((await resolve("one"))?.apiKey).toBe(API_KEY);
    });

    it("shows nothing of a short key", async () => {
      expect(await set("one", { kind: "openai", apiKey: "sk-short-012345" })).toMatchObject({
        hasKey: true,
        keyEnd: null,
      });
    });

    it("leaves what a change does not name as it was", async () => {
      const baseUrl = "https://models.example.com/v1";
      await set("mine", { kind: "openai", baseUrl, apiKey: API_KEY, models: ["a", "b", "a"] });
      expect((await set("mine", { kind: "openai" })).models).toEqual(["a", "b"]);
      expect(await resolve("mine")).toMatchObject({ baseUrl, apiKey: API_KEY });
      await set("mine", { kind: "openai", apiKey: OTHER_KEY, models: null });
      expect(await resolve("mine")).toEqual({ kind: "openai", baseUrl, apiKey: OTHER_KEY });
      expect(await providers.list(kernel.engine, "org_1")).toEqual([
        { name: "mine", kind: "openai", models: null, answered: true },
      ]);
      expect((await rows())[0]?.created_by).toBe("usr_admin");
    });

    it("sends a stored key to no other address", async () => {
      await set("mine", { kind: "openai", apiKey: API_KEY });
      const evil = { kind: "openai", baseUrl: "https://evil.example.com" };
      await expect(set("mine", evil)).rejects.toMatchObject({ code: "key_required" });
      // The default address of another kind is no way around this either.
      await expect(set("mine", { kind: "anthropic" })).rejects.toMatchObject({
        code: "key_required",
      });
      expect((await resolve("mine"))?.baseUrl).toBe("https://api.openai.com/v1");
      await set("mine", { ...evil, apiKey: OTHER_KEY });
      expect(await resolve("mine")).toMatchObject({
        baseUrl: "https://evil.example.com/v1",
        apiKey: OTHER_KEY,
      });
    });

    it.each([
      [
        "pointed elsewhere",
        "update provider_settings set base_url = 'https://evil.example.com/v1'",
      ],
      ["renamed", "update provider_settings set name = 'other'"],
      ["given to another organisation", "update provider_settings set org_id = 'org_2'"],
    ])("opens no key of a row that was %s in the database", async (_how, sql) => {
      await set("mine", { kind: "openai", apiKey: API_KEY });
      await rewrite(sql);
      const [name, orgId] = [
        sql.includes("other'") ? "other" : "mine",
        sql.includes("org_2") ? "org_2" : "org_1",
      ];
      await expect(resolve(name, orgId)).rejects.toMatchObject({
        kind: "unavailable",
        code: "secret_key_changed",
      });
    });

    it("says what to do when the secret key has changed, and continues with the rest", async () => {
      await set("mine", { kind: "openai", apiKey: API_KEY });
      await set("local", { kind: "openai-compatible", baseUrl: "http://127.0.0.1:11434" });
      const later = createProviders({
        secretKey: `${SECRET_KEY}-another`,
        fetch: vendors.fetch,
      });
      const refusal = await resolve("mine", "org_1", later).catch((error: Error) => error);
      expect(refusal).toMatchObject({ kind: "unavailable", code: "secret_key_changed" });
      expect(String((refusal as Error).message)).toMatch(/MUSTER_SECRET_KEY.*set.*key again/);
      expect(String((refusal as Error).stack)).not.toContain(SECRET_KEY);
      expect(await list(admin, later)).toMatchObject([
        { name: "local", hasKey: false, problem: null },
        { name: "mine", hasKey: true, keyEnd: null, problem: expect.stringContaining("secret") },
      ]);
      const body = { kind: "openai", apiKey: OTHER_KEY };
      await call("put", "mine", body, { from: later });
      expect((await resolve("mine", "org_1", later))?.apiKey).toBe(OTHER_KEY);
    });

    it("does without a key where none is wanted, and not at a vendor's own address", async () => {
      const local = { kind: "openai-compatible", baseUrl: "http://192.168.1.20:11434" };
      expect(await set("ollama", local)).toMatchObject({ hasKey: false, keyEnd: null });
      expect((await resolve("ollama"))?.apiKey).toBeNull();
      await set("ollama", { ...local, baseUrl: "http://192.168.1.21:11434" });
      await expect(set("openai", { kind: "openai" })).rejects.toMatchObject({
        code: "key_required",
      });
      await expect(
        set("some", { kind: "openai-compatible", apiKey: API_KEY }),
      ).rejects.toMatchObject({ code: "base_url_required" });
    });

    it.each(["demo", "Upper", "1st", "a b", "a/b", "", "-a", `a${"b".repeat(41)}`])(
      "refuses the name %j",
      async (name) => {
        await expect(set(name, { kind: "openai", apiKey: API_KEY })).rejects.toMatchObject({
          code: "provider_name_invalid",
        });
        expect(await rows()).toEqual([]);
      },
    );

    it.each([
      { apiKey: "two\nlines" },
      { apiKey: "sk-ключ" },
      { apiKey: "" },
      { kind: "other", apiKey: API_KEY },
      { apiKey: API_KEY, secret: "x" },
      { apiKey: API_KEY, models: [] },
    ])("refuses %j without repeating the key", async (body) => {
      const refusal = await set("mine", { kind: "openai", ...body }).catch((e: Error) => e);
      expect(refusal).toBeInstanceOf(Error);
      expect(String(refusal)).not.toContain(API_KEY);
      expect(await rows()).toEqual([]);
    });

    it("removes a provider with its key, and records every change", async () => {
      const told: string[] = [];
      const leave = kernel.engine.announcer.onHint("providers", ({ type, id }) =>
        told.push(`${type} ${id}`),
      );
      await set("mine", { kind: "openai", apiKey: API_KEY });
      await call("delete", "mine");
      await expect(call("delete", "mine")).rejects.toMatchObject({ code: "not_found" });
      expect(await rows()).toEqual([]);
      expect(await resolve("mine")).toBeUndefined();
      await expect.poll(() => told).toEqual(["provider mine", "provider mine"]);
      leave();
    });

    it("lets admins change, members see a little, runners and agents nothing", async () => {
      await set("mine", { kind: "openai", apiKey: API_KEY });
      expect(await list(user("member"))).toMatchObject([
        { name: "mine", hasKey: true, baseUrl: null, keyEnd: null },
      ]);
      expect(await list(user("admin", "org_2"))).toEqual([]);
      const agent: Principal = {
        kind: "session",
        orgId: "org_1",
        sessionId: "ses_1",
        ownerId: "usr_admin",
        name: "agent",
      };
      for (const other of [runner, agent])
        await expect(list(other)).rejects.toMatchObject({ code: "forbidden" });
      const narrow = user("admin", "org_1", ["sessions:read", "sessions:write"]);
      for (const other of [user("member"), narrow, runner, agent]) {
        await expect(
          set("mine", { kind: "openai", apiKey: OTHER_KEY }, other),
        ).rejects.toMatchObject({ code: "forbidden" });
        await expect(call("delete", "mine", {}, { principal: other })).rejects.toMatchObject({
          code: "forbidden",
        });
      }
      expect((await resolve("mine"))?.apiKey).toBe(API_KEY);
    });

    it.each([
      ["anthropic", 401, "{}"],
      ["openai", 401, "{}"],
      [
        "openai",
        400,
        '[{"error": {"message": "API key not valid. Please pass a valid API key."}}]',
      ],
      ["openai", 400, '{"error": {"message": "Incorrect API key provided: sk-w***ng."}}'],
      ["openai", 400, '{"error": {"code": "invalid_api_key", "message": "No."}}'],
      ["openai", 400, '{"message": "Unauthorized"}'],
      ["anthropic", 400, '{"error": {"message": "invalid x-api-key"}}'],
      ["openai", 403, '{"error": {"message": "Forbidden"}}'],
    ])("saves no key that %s refuses with %i", async (kind, status, body) => {
      vendors.status = status;
      vendors.body = body;
      const refusal = await set("mine", { kind, apiKey: "sk-wrong" }).catch((e: Error) => e);
      expect(refusal).toMatchObject({ kind: "invalid", code: "provider_key_refused" });
      expect(String(refusal)).not.toContain("sk-wrong");
      expect(await rows()).toEqual([]);
      expect(await providers.list(kernel.engine, "org_1")).toEqual([]);
    });

    it("keeps the key that works when a new one is refused", async () => {
      await set("mine", { kind: "openai", apiKey: API_KEY });
      vendors.status = 401;
      const wrong = { kind: "openai", apiKey: "sk-wrong" };
      await expect(set("mine", wrong)).rejects.toMatchObject({ code: "provider_key_refused" });
      expect((await resolve("mine"))?.apiKey).toBe(API_KEY);
    });

    it("asks with the credential of its kind, and the stored one when none is given", async () => {
      await set("a", { kind: "anthropic", apiKey: API_KEY });
      await set("o", { kind: "openai", apiKey: OTHER_KEY });
      const openrouter = { kind: "openai-compatible", baseUrl: "https://openrouter.ai/api/v1" };
      await set("r", { ...openrouter, apiKey: OTHER_KEY });
      await set("a", { kind: "anthropic", models: ["m"] });
      const version = { "anthropic-version": "2023-06-01" };
      const bearer = { authorization: `Bearer ${OTHER_KEY}` };
      expect(vendors.asked).toEqual([
        {
          url: "https://api.anthropic.com/v1/models",
          headers: { "x-api-key": API_KEY, ...version },
        },
        { url: "https://api.openai.com/v1/models", headers: bearer },
        // Its list of models is public.
        { url: "https://openrouter.ai/api/v1/key", headers: bearer },
        {
          url: "https://api.anthropic.com/v1/models",
          headers: { "x-api-key": API_KEY, ...version },
        },
      ]);
    });

    it.each([
      ["does not answer", { isAway: true }],
      ["is in trouble", { status: 503 }],
    ])("marks a provider that %s as never tried", async (_how, trouble) => {
      Object.assign(vendors, trouble);
      expect(await set("mine", { kind: "openai", apiKey: API_KEY })).toMatchObject({
        answered: false,
      });
      expect(await providers.list(kernel.engine, "org_1")).toMatchObject([{ answered: false }]);
      vendors = new Vendors();
      expect(await set("mine", { kind: "openai" })).toMatchObject({ answered: true });
    });

    it("marks a provider as tried after its first answer, and notifies runners once", async () => {
      vendors.isAway = true;
      await set("mine", { kind: "openai", apiKey: API_KEY });
      const told: string[] = [];
      const leave = kernel.engine.announcer.onHint("providers", ({ id }) => told.push(id));
      for (let turn = 0; turn < 2; turn++)
        await providers.noteAnswered(kernel.engine, "org_1", "mine");
      await providers.noteAnswered(kernel.engine, "org_2", "mine");
      expect(await list()).toMatchObject([{ answered: true }]);
      await expect.poll(() => told).toEqual(["mine"]);
      leave();
    });

    it.each([
      ["a limit", 429, "{}"],
      ["a request that it does not understand", 400, '{"error": "no such version"}'],
      ["words of something else", 200, "It works!"],
      ["an empty answer", 200, ""],
      ["a key that may not list models", 403, '{"error": "Missing scopes: api.model.read"}'],
    ])("takes %s as no word about the key", async (_what, status, body) => {
      Object.assign(vendors, { status, body });
      const saved = await set("mine", { kind: "openai", apiKey: API_KEY });
      expect(saved).toMatchObject({ answered: false });
    });

    it.each([
      ["a path that is not there", 404, "{}"],
      ["a method that is not there", 405, "{}"],
      ["a page of the same address", 200, "<!doctype html><title>Sign in to the network</title>"],
      ["a page that says no", 403, "\n<html><body>Blocked</body></html>"],
      ["a way elsewhere", 302, ""],
    ])("saves no address where the answer is %s", async (_what, status, body) => {
      Object.assign(vendors, { status, body });
      const house = { kind: "openai-compatible", baseUrl: "http://10.0.0.5:8000" };
      const refused = set("house", { ...house, apiKey: API_KEY });
      await expect(refused).rejects.toMatchObject({
        code: "provider_address_wrong",
        message: expect.stringContaining("/v1"),
      });
      expect(await list()).toEqual([]);
    });

    it("takes a server without a list of models when its models are named, as never tried", async () => {
      vendors.status = 404;
      const house = { kind: "openai-compatible", baseUrl: "http://10.0.0.5:8000", models: ["m"] };
      expect(await set("house", house)).toMatchObject({ answered: false });
      // The models stay when another setting changes.
      const again = { kind: house.kind, apiKey: API_KEY };
      expect(await set("house", again)).toMatchObject({ answered: false, models: ["m"] });
      vendors.body = "<html>";
      await expect(set("house", house)).rejects.toMatchObject({ code: "provider_address_wrong" });
    });

    it("says that a key is missing where the provider wants one", async () => {
      vendors.status = 401;
      const house = { kind: "openai-compatible", baseUrl: "http://10.0.0.5:8000" };
      await expect(set("house", house)).rejects.toMatchObject({ code: "key_required" });
    });

    it("asks nobody for those who may not change providers, or by a bad name", async () => {
      const body = { kind: "openai", apiKey: API_KEY };
      await expect(set("mine", body, user("member"))).rejects.toThrow();
      await expect(set("Bad name", body)).rejects.toThrow();
      expect(vendors.asked).toEqual([]);
    });

    it("keeps address and key together when two change at once", async () => {
      await set("mine", { kind: "openai", apiKey: API_KEY });
      await Promise.allSettled([
        set("mine", { kind: "openai", baseUrl: "https://a.example.com", apiKey: OTHER_KEY }),
        set("mine", { kind: "openai", models: ["m"] }),
        set("mine", { kind: "openai", apiKey: API_KEY }),
      ]);
      expect([API_KEY, OTHER_KEY]).toContain((await resolve("mine"))?.apiKey);
    });
  });
}

suite("providers on sqlite", async () => ({ url: "sqlite::memory:", discard: async () => {} }));

describe.skipIf(!postgresUrl)("with a server", () => {
  suite("providers on postgres", async () => {
    const database = await createTestDatabase();
    return { url: database.url, discard: database.drop };
  });
});
