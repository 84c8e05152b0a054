import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createSecrets } from "#features/secrets/index.ts";
import { owner, startWorld, type World } from "#features/testing/index.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import type { Repo, RepoSyncResult } from "./contract.ts";
import { createRepos } from "./index.ts";

const SECRET_KEY = "a-secret-key-of-more-than-32-characters";
const TOKEN = "ghp_canary0123456789canary0123456789";
const REPOS = "/api/orgs/org_1/repos";

interface GithubRepo {
  full_name: string;
  clone_url: string;
  description?: string | null;
  default_branch?: string;
  language?: string | null;
  topics?: string[];
  archived?: boolean;
}

const repo = (full_name: string, fields: Partial<GithubRepo> = {}): GithubRepo => ({
  full_name,
  clone_url: `https://github.com/${full_name}.git`,
  description: `About ${full_name}`,
  default_branch: "main",
  language: "TypeScript",
  topics: ["otters"],
  ...fields,
});

interface SeenRequest {
  path: string;
  query: URLSearchParams;
  authorization: string | undefined;
}

type FakeResponse = [status: number, body: unknown, headers?: Record<string, string>];

/** Plays GitHub's API: accounts, pages with Link headers, limits. */
class FakeGithub {
  readonly accounts = new Map<string, { type: string; repos: unknown[] }>();
  /** Account of the token's owner. */
  own: { login: string; repos: unknown[] } = { login: "me", repos: [] };
  readonly asked: SeenRequest[] = [];
  pageSize = 100;
  onAsked = () => {};
  /** Replaces the usual response to the request with this number, beginning with 1. */
  answers = new Map<number, FakeResponse | "hang up">();
  /** Headers to add to the usual response to the request with this number. */
  headers = new Map<number, Record<string, string>>();
  readonly #server = createServer((request, response) => this.#serve(request, response));

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/api/v3`;
  }

  reset(): void {
    this.accounts.clear();
    this.own = { login: "me", repos: [] };
    this.asked.length = 0;
    this.answers.clear();
    this.headers.clear();
    this.pageSize = 100;
    this.onAsked = () => {};
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? "/", "http://localhost");
    const path = url.pathname.replace(/^\/api\/v3/, "");
    const { authorization } = request.headers;
    this.asked.push({ path, query: url.searchParams, authorization });
    this.onAsked();
    const said = this.answers.get(this.asked.length);
    if (said === "hang up") response.destroy();
    else send(response, said ?? this.#answer(path, url.searchParams, authorization));
  }

  #answer(path: string, query: URLSearchParams, authorization: string | undefined): FakeResponse {
    if (authorization !== `token ${TOKEN}`) return [401, { message: "Bad credentials" }];
    if (path === "/user") return [200, { login: this.own.login, type: "User" }];
    if (path === "/user/repos") return this.#page(path, this.own.repos, query);
    const [, kind, name = "", what] = path.split("/");
    const account = this.accounts.get(name.toLowerCase());
    if (!account || (kind === "orgs" && account.type !== "Organization"))
      return [404, { message: "Not Found" }];
    if (what === undefined) return [200, { login: name, type: account.type }];
    return this.#page(path, account.repos, query);
  }

  #page(path: string, all: unknown[], query: URLSearchParams): FakeResponse {
    const page = Number(query.get("page") ?? 1);
    const shown = all.slice((page - 1) * this.pageSize, page * this.pageSize);
    const hasNext = page * this.pageSize < all.length;
    // A misleading address: no client may follow it.
    const elsewhere = "http://127.0.0.1:1/stolen";
    const links = [
      `<${elsewhere}?page=1>; rel="first"`,
      ...(hasNext ? [`<${elsewhere}${path}?page=${page + 1}>; rel="next"`] : []),
    ];
    return [200, shown, { link: links.join(", "), ...this.headers.get(this.asked.length) }];
  }
}

function send(response: ServerResponse, [status, body, headers]: FakeResponse): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

function suite(title: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(title, () => {
    const github = new FakeGithub();
    const secrets = createSecrets({ secretKey: SECRET_KEY });
    let world: World;
    let made: TestDatabase | undefined;
    beforeAll(async () => {
      await github.start();
      made = await database();
      const repos = createRepos({
        secretKey: SECRET_KEY,
        secrets,
        findPersona: async () => ({ id: "per_1", slug: "reviewer", name: "Any" }),
        githubApiUrl: `${github.url}/`,
      });
      world = await startWorld([secrets.feature, repos.feature], made?.url);
    });
    afterAll(async () => {
      await world.stop();
      await made?.drop();
      await github.stop();
    });
    beforeEach(async () => {
      github.reset();
      await world.kernel.engine.store.transaction(async (tx) => {
        for (const table of ["repos", "secrets"])
          await tx.execute({ sql: `delete from ${table}`, parameters: [] });
      });
      await store("GITHUB_TOKEN", `${TOKEN}\n`);
    });

    const store = (name: string, value: string) =>
      world.call(owner, "PUT", `/api/orgs/org_1/secrets/${name}`, { value });
    const sync = async (body: object = {}) => {
      world.clock.advance(1_000);
      const { sync } = await world.call<{ sync: RepoSyncResult }>(
        owner,
        "POST",
        `${REPOS}/sync`,
        body,
      );
      return sync;
    };
    const list = async () =>
      (await world.call<{ items: Repo[] }>(owner, "GET", `${REPOS}?limit=200`)).items;
    const named = async (name: string) =>
      (await list()).find(({ fullName }) => fullName === name) as Repo;
    const change = (id: string, body: object) => world.call(owner, "PATCH", `${REPOS}/${id}`, body);

    it("brings in what the token's owner works on", async () => {
      github.own.repos = [
        repo("acme/website", { topics: ["web", "otters"] }),
        repo("acme/old", { archived: true, description: null, language: null }),
      ];
      expect(await sync()).toEqual({
        state: "complete",
        stoppedBy: null,
        until: null,
        found: 2,
        added: 2,
        updated: 0,
        missing: 0,
        skipped: [],
        skippedCount: 0,
      });
      expect(await named("acme/website")).toMatchObject({
        provider: "github",
        url: "https://github.com/acme/website.git",
        description: "About acme/website",
        defaultBranch: "main",
        language: "TypeScript",
        topics: ["web", "otters"],
        enabled: true,
        syncedAt: expect.any(String),
        missingAt: null,
      });
      // A repository that is archived on GitHub is not enabled.
      expect(await named("acme/old")).toMatchObject({ enabled: false, description: null });
      expect(github.asked.map(({ authorization }) => authorization)).toEqual([`token ${TOKEN}`]);
    });

    it("reads every page, from the configured place alone", async () => {
      github.pageSize = 3;
      github.own.repos = Array.from({ length: 8 }, (_, at) => repo(`acme/r${at}`));
      expect(await sync()).toMatchObject({ state: "complete", found: 8, added: 8 });
      expect(github.asked.map(({ path, query }) => [path, query.get("page")])).toEqual([
        ["/user/repos", "1"],
        ["/user/repos", "2"],
        ["/user/repos", "3"],
      ]);
      expect(github.asked[0]?.query.get("per_page")).toBe("100");
      expect(await list()).toHaveLength(8);
    });

    it("asks for an organisation, an account, or the token's own in their places", async () => {
      github.accounts.set("acme", { type: "Organization", repos: [repo("acme/a")] });
      github.accounts.set("jo", { type: "User", repos: [repo("jo/public")] });
      github.accounts.set("me", { type: "User", repos: [] });
      github.own.repos = [repo("me/private")];
      for (const owner of ["acme", "jo", "Me"]) await sync({ owner, enabled: false });
      expect(github.asked.map(({ path }) => path)).toEqual([
        "/users/acme",
        "/orgs/acme/repos",
        "/users/jo",
        "/user",
        "/users/jo/repos",
        "/users/Me",
        "/user",
        "/user/repos",
      ]);
      expect(github.asked.at(-1)?.query.get("affiliation")).toBe("owner");
      const all = await list();
      expect(all.map(({ fullName }) => fullName)).toEqual(["acme/a", "jo/public", "me/private"]);
      expect(all.every(({ enabled }) => !enabled)).toBe(true);
    });

    it("renews what GitHub says and keeps what people said", async () => {
      github.own.repos = [repo("acme/app"), repo("acme/same")];
      await sync();
      const { id } = await named("acme/app");
      await change(id, {
        enabled: false,
        personaSlug: "reviewer",
        setupCommand: "npm ci",
        credential: "T",
        webhookSecret: "canary-webhook",
        description: "Ours",
      });
      github.own.repos = [
        repo("Acme/App", { description: "Theirs", default_branch: "trunk", language: "Rust" }),
        repo("acme/same"),
      ];
      expect(await sync()).toMatchObject({ found: 2, added: 0, updated: 1, missing: 0 });
      expect(await named("Acme/App")).toMatchObject({
        id,
        enabled: false,
        personaSlug: "reviewer",
        setupCommand: "npm ci",
        credential: "T",
        hasWebhookSecret: true,
        description: "Ours",
        defaultBranch: "trunk",
        language: "Rust",
      });
      expect(await sync()).toMatchObject({ updated: 0 });
      // Null returns a field to the sync.
      await change(id, { description: null });
      expect(await sync()).toMatchObject({ updated: 1 });
      expect(await named("Acme/App")).toMatchObject({ description: "Theirs" });
    });

    it("finds again, in a search, what a sync has changed", async () => {
      github.own.repos = [repo("acme/app", { description: "before" })];
      await sync();
      github.own.repos = [repo("acme/app", { description: "After" })];
      await sync();
      const found = async (q: string) =>
        (await world.call<{ items: Repo[] }>(owner, "GET", `${REPOS}?q=${q}`)).items.length;
      expect([await found("before"), await found("after")]).toEqual([0, 1]);
    });

    it("marks what is gone, only for the same question, and never deletes", async () => {
      github.accounts.set("acme", {
        type: "Organization",
        repos: [repo("acme/a"), repo("acme/b")],
      });
      github.own.repos = [repo("me/x")];
      await world.call(owner, "POST", REPOS, { fullName: "acme/by-hand" });
      await sync({ owner: "acme" });
      expect(await sync()).toMatchObject({ added: 1, missing: 0 });
      github.accounts.set("acme", { type: "Organization", repos: [repo("acme/a")] });
      expect(await sync({ owner: "acme" })).toMatchObject({ missing: 1 });
      expect(await named("acme/b")).toMatchObject({
        missingAt: expect.any(String),
        problem: expect.stringContaining("did not list it"),
        enabled: true,
      });
      for (const name of ["acme/a", "me/x", "acme/by-hand"])
        expect(await named(name)).toMatchObject({ missingAt: null, problem: null });
      expect(await sync({ owner: "ACME" })).toMatchObject({ missing: 0 });
      github.accounts.set("acme", { type: "Organization", repos: [repo("acme/b")] });
      expect(await sync({ owner: "acme" })).toMatchObject({ updated: 1, missing: 1 });
      expect(await named("acme/b")).toMatchObject({ missingAt: null, problem: null });
      expect(await list()).toHaveLength(4);
    });

    it("does not call missing what another person's token showed", async () => {
      github.own.repos = [repo("acme/theirs")];
      await sync();
      github.own.repos = [];
      const other = { ...owner, userId: "usr_9" };
      world.clock.advance(1_000);
      const answer = await world.call(other, "POST", `${REPOS}/sync`, {});
      expect(answer).toMatchObject({ sync: { state: "complete", missing: 0 } });
      expect(await sync()).toMatchObject({ missing: 1 });
    });

    it("takes over one that was added by hand, and leaves other kinds and removed ones", async () => {
      await world.call(owner, "POST", REPOS, { fullName: "acme/by-hand", setupCommand: "make" });
      await world.call(owner, "POST", REPOS, { fullName: "acme/mirror", url: "/srv/mirror" });
      github.own.repos = ["by-hand", "mirror", "gone"].map((name) => repo(`acme/${name}`));
      await sync();
      const { id } = await named("acme/gone");
      await world.call(owner, "DELETE", `${REPOS}/${id}`);
      expect(await sync()).toMatchObject({
        found: 3,
        added: 0,
        skippedCount: 2,
        skipped: [
          { fullName: "acme/mirror", reason: "other_provider" },
          { fullName: "acme/gone", reason: "removed" },
        ],
      });
      expect(await named("acme/by-hand")).toMatchObject({
        setupCommand: "make",
        description: "About acme/by-hand",
      });
      expect(await named("acme/mirror")).toMatchObject({ url: "/srv/mirror", syncedAt: null });
      expect(await named("acme/gone")).toBeUndefined();
    });

    it("lets nothing in that could do harm, and is not stopped by it", async () => {
      github.own.repos = [
        repo("acme/path", { clone_url: "/etc" }),
        repo("acme/file", { clone_url: "file:///etc" }),
        repo("acme/helper", { clone_url: "ext::sh -c id" }),
        repo("acme/token", { clone_url: "https://x:y@github.com/acme/token" }),
        repo("../up"),
        { full_name: 5 },
        null,
        repo("acme/fine", {
          description: `a\u0000b\ud800${"x".repeat(5_000)}`,
          topics: Array.from({ length: 60 }, () => "t".repeat(200)),
        }),
      ];
      const result = await sync();
      expect(result).toMatchObject({ state: "complete", found: 8, added: 1, skippedCount: 7 });
      expect(result.skipped.map(({ reason }) => reason)).toEqual(Array(5).fill("invalid"));
      const fine = await named("acme/fine");
      expect(fine.description).toHaveLength(2_000);
      expect(fine.topics).toHaveLength(50);
      expect(fine.topics[0]).toHaveLength(100);
      expect(await list()).toHaveLength(1);
    });

    it("stops at a limit, keeps what it read, calls nothing missing and says until when", async () => {
      github.pageSize = 2;
      const all = ["a", "b", "c", "d"].map((name) => repo(`acme/${name}`));
      github.own.repos = all;
      await sync();
      const reset = Math.ceil(now() / 1_000) + 1_800;
      const limit = {
        "x-ratelimit-remaining": "0",
        "x-ratelimit-reset": String(reset),
      };
      github.asked.length = 0;
      github.own.repos = [all[0], repo("acme/new"), all[1], all[2]];
      github.answers.set(2, [403, { message: "limit" }, limit]);
      const until = new Date(reset * 1_000).toISOString();
      const stopped = { state: "stopped", stoppedBy: "rate_limit", until, missing: 0 };
      expect(await sync()).toMatchObject({ ...stopped, found: 2, added: 1 });
      expect(github.asked).toHaveLength(2);
      expect((await list()).every(({ missingAt }) => missingAt === null)).toBe(true);

      // The last free request is used; no further one is tried.
      github.asked.length = 0;
      github.answers.clear();
      github.headers.set(1, limit);
      expect(await sync()).toMatchObject({ ...stopped, found: 2 });
      expect(github.asked).toHaveLength(1);

      // The last page needs no further request, so the sync is complete.
      github.asked.length = 0;
      github.headers.clear();
      github.headers.set(2, limit);
      expect(await sync()).toMatchObject({ state: "complete", missing: 1 });
    });

    it("stops when it takes too long, and keeps what it read", async () => {
      // On PostgreSQL the test cannot move the time.
      if (made) return;
      github.pageSize = 1;
      github.own.repos = ["a", "b", "c", "d"].map((name) => repo(`acme/${name}`));
      github.onAsked = () => world.clock.advance(30_000);
      expect(await sync()).toMatchObject({ state: "stopped", stoppedBy: "time", added: 2 });
      expect(await list()).toHaveLength(2);
    });

    it("refuses when the limit was reached before, with the time to wait", async () => {
      const reset = Math.ceil(now() / 1_000) + 600;
      const primary = { "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(reset) };
      github.answers.set(1, [403, { message: "limit" }, primary]);
      const error = await sync().catch((caught: unknown) => caught);
      expect(error).toMatchObject({ kind: "limit", code: "github_rate_limited" });
      expect((error as Error).message).toContain(new Date(reset * 1_000).toISOString());
      expect((error as { retryAfterMs: number }).retryAfterMs).toBeGreaterThan(590_000);
      for (const status of [403, 429]) {
        github.asked.length = 0;
        github.answers.set(1, [
          status,
          { message: "secondary rate limit" },
          { "retry-after": "90" },
        ]);
        await expect(sync()).rejects.toMatchObject({
          code: "github_rate_limited",
          retryAfterMs: expect.closeTo(90_000, -4),
        });
        expect(github.asked).toHaveLength(1);
      }
    });

    it.each([
      [401, "github_token_refused", "conflict"],
      [403, "github_forbidden", "conflict"],
      [404, "github_owner_unknown", "not_found"],
    ])("says what to do about %d", async (status, code, kind) => {
      github.answers.set(1, [status, { message: TOKEN }]);
      const error = await sync({ owner: "nobody" }).catch((caught: unknown) => caught);
      expect(error).toMatchObject({ kind, code });
      expect(String(error)).not.toContain(TOKEN);
      expect((error as Error).cause).toBeUndefined();
      expect(github.asked).toHaveLength(1);
    });

    it("refuses a wrong token of its own accord", async () => {
      await store("OTHER", "ghp_wrong");
      await expect(sync({ credential: "OTHER" })).rejects.toMatchObject({
        code: "github_token_refused",
      });
      expect(github.asked[0]?.authorization).toBe("token ghp_wrong");
    });

    it("asks again after a failure, and then gives up", async () => {
      github.own.repos = [repo("acme/app")];
      github.answers.set(1, [502, {}]);
      expect(await sync()).toMatchObject({ state: "complete", added: 1 });
      github.asked.length = 0;
      github.answers.set(2, "hang up");
      await expect(sync()).rejects.toMatchObject({
        kind: "unavailable",
        code: "github_unreachable",
      });
      github.asked.length = 0;
      github.answers.clear();
      github.answers.set(1, [200, { hello: "world" }]);
      await expect(sync()).rejects.toMatchObject({ code: "github_unreachable" });
    });

    it("needs a token that is one", async () => {
      await expect(sync({ credential: "NONE" })).rejects.toMatchObject({ code: "secret_missing" });
      await store("ODD", `${TOKEN}\r\nx-evil: 1`);
      const error = await sync({ credential: "ODD" }).catch((caught: unknown) => caught);
      expect(error).toMatchObject({ code: "github_token_refused" });
      expect(String(error)).not.toContain(TOKEN);
      await expect(sync({ owner: "../x" })).rejects.toThrow();
      await expect(sync({ owner: "a/b" })).rejects.toThrow();
      expect(github.asked).toHaveLength(0);
    });

    it("takes the asking person's own token before the organisation's", async () => {
      await world.call(owner, "PUT", "/api/me/secrets/GITHUB_TOKEN", { value: "ghp_own" });
      await expect(sync()).rejects.toMatchObject({ code: "github_token_refused" });
      expect(github.asked[0]?.authorization).toBe("token ghp_own");
    });

    it("does one sync at a time, and one after a failed one", async () => {
      github.own.repos = [repo("acme/app")];
      const results = await Promise.allSettled([sync(), sync()]);
      const failed = results.filter(({ status }) => status === "rejected");
      expect(failed).toEqual([
        { status: "rejected", reason: expect.objectContaining({ code: "sync_running" }) },
      ]);
      github.asked.length = 0;
      github.answers.set(1, [401, {}]);
      await expect(sync()).rejects.toMatchObject({ code: "github_token_refused" });
      expect(await sync()).toMatchObject({ state: "complete" });
    });

    const now = () => world.kernel.engine.clock.now();
  });
}

suite("syncing repositories on sqlite", async () => undefined);
describe.skipIf(!postgresUrl)("with a server", () => {
  suite("syncing repositories on postgres", createTestDatabase);
});
