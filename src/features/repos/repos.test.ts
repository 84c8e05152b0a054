import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { builder } from "#base/store/index.ts";
import type { Principal } from "#engine/index.ts";
import { createAudit } from "#features/audit/index.ts";
import { createSecrets } from "#features/secrets/index.ts";
import { member, owner, startWorld, stranger, type World } from "#features/testing/index.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import type { Repo } from "./contract.ts";
import { createRepos, listKnownRepos, resolveRepo } from "./index.ts";
import type { RepoRow, RepoTables } from "./schema.ts";

const SECRET_KEY = "a-secret-key-of-more-than-32-characters";
const HOOK = "canary-webhook-0123456789";
const REPOS = "/api/orgs/org_1/repos";

interface Page {
  items: Repo[];
  next: string | null;
}

const session: Principal = {
  kind: "session",
  orgId: "org_1",
  sessionId: "ses_1",
  ownerId: owner.userId,
  name: "agent",
};

function suite(title: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(title, () => {
    const secrets = createSecrets({ secretKey: SECRET_KEY });
    const repos = createRepos({
      secretKey: SECRET_KEY,
      secrets,
      findPersona: async (_reader, orgId, slug) =>
        orgId === "org_1" && (slug === "reviewer" || slug === "per_1")
          ? { id: "per_1", slug: "reviewer", name: "The Reviewer" }
          : undefined,
    });
    let world: World;
    let made: TestDatabase | undefined;
    beforeAll(async () => {
      made = await database();
      world = await startWorld([secrets.feature, repos.feature, createAudit().feature], made?.url);
    });
    afterAll(async () => {
      await world.stop();
      await made?.drop();
    });

    const call = (who: Principal, method: string, path: string, body?: object) =>
      world.call<{ repo: Repo }>(who, method, path, body).then(({ repo }) => repo);
    const add = (body: object, who: Principal = owner) => call(who, "POST", REPOS, body);
    const change = (repo: Repo, body: object, who: Principal = owner, method = "PATCH") =>
      call(who, method, `${REPOS}/${repo.id}`, body);
    const remove = (repo: Repo, who: Principal = owner) =>
      call(who, "DELETE", `${REPOS}/${repo.id}`);
    const get = (repo: Repo, who: Principal = owner) => call(who, "GET", `${REPOS}/${repo.id}`);
    const list = (query = "", who: Principal = owner) =>
      world.call<Page>(who, "GET", `${REPOS}?${query}`);
    const names = async (query = "", who: Principal = owner) =>
      (await list(query, who)).items.map(({ fullName }) => fullName);
    const resolve = (text: string, orgId = "org_1") =>
      world.kernel.engine.store.read((reader) => resolveRepo(reader, orgId, text));
    const known = async (query?: string, limit?: number) => {
      const { store } = world.kernel.engine;
      return (await store.read((reader) => listKnownRepos(reader, "org_1", query, limit))).repos;
    };

    it("adds a repository by its name on GitHub", async () => {
      const repo = await add({ fullName: "acme/website" });
      expect(repo).toEqual({
        id: expect.stringMatching(/^rep_/),
        fullName: "acme/website",
        owner: "acme",
        name: "website",
        provider: "github",
        url: "https://github.com/acme/website.git",
        description: null,
        defaultBranch: null,
        language: null,
        topics: [],
        enabled: true,
        personaSlug: null,
        setupCommand: null,
        credential: null,
        hasWebhookSecret: false,
        syncedAt: null,
        missingAt: null,
        problem: null,
        createdAt: expect.any(String),
        updatedAt: repo.createdAt,
      });
      expect(await get(repo)).toEqual(repo);
      expect(await get(repo, member)).toEqual(repo);
    });

    it("adds by address, and says what kind it is", async () => {
      expect(await add({ url: "https://github.com/acme/by-url" })).toMatchObject({
        fullName: "acme/by-url",
        provider: "github",
      });
      expect(await add({ url: "https://git.example.org/group/tool.git" })).toMatchObject({
        fullName: "group/tool",
        provider: "git",
      });
      expect(await add({ url: "/srv/git/local" })).toMatchObject({
        fullName: "local",
        owner: null,
        name: "local",
        provider: "git",
        url: "/srv/git/local",
      });
      const ssh = await add({ url: "git@git.example.org:group/ssh.git" });
      expect(ssh).toMatchObject({ fullName: "group/ssh", provider: "git" });
      expect(ssh.problem).toContain("https://");
      const named = await add({ url: "https://github.com/acme/x", fullName: "mine" });
      expect(named).toMatchObject({ fullName: "mine", provider: "git" });
    });

    it("keeps everything that is said of it", async () => {
      const said = {
        description: "Otters, mostly",
        defaultBranch: "release/1.x",
        language: "TypeScript",
        topics: ["otters", "rivers"],
        enabled: false,
        personaSlug: "reviewer",
        setupCommand: "npm ci",
        credential: "GITHUB_TOKEN",
      };
      const repo = await add({
        fullName: "acme/full",
        ...said,
        topics: ["otters", "rivers", "otters"],
      });
      expect(repo).toMatchObject(said);
      const changed = await change(repo, { setupCommand: null, topics: [], enabled: true });
      expect(changed).toMatchObject({
        ...said,
        setupCommand: null,
        topics: [],
        enabled: true,
      });
      expect(await change(repo, { language: "Rust" }, owner, "PUT")).toMatchObject({
        language: "Rust",
        description: "Otters, mostly",
      });
      expect(await change(repo, { url: "https://git.example.org/moved" })).toMatchObject({
        fullName: "acme/full",
        url: "https://git.example.org/moved",
      });
    });

    it("refuses a name that is taken, whatever its letters, and suggests a free one", async () => {
      const first = await add({ fullName: "acme/taken" });
      await add({ fullName: "acme/taken-2" });
      const error = await add({ fullName: "Acme/Taken" }).catch((caught: unknown) => caught);
      expect(error).toMatchObject({ kind: "conflict", code: "repo_exists" });
      expect((error as Error).message).toContain(first.id);
      expect((error as Error).message).toContain("Acme/Taken-3");
      const race = await Promise.allSettled(
        Array.from({ length: 5 }, () => add({ fullName: "acme/raced" })),
      );
      expect(race.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      for (const result of race)
        if (result.status === "rejected")
          expect(result.reason).toMatchObject({ code: "repo_exists" });
    });

    it("carries a request that is sent twice out once", async () => {
      const route = world.kernel.routes.find(
        ({ method, path }) => method === "post" && path.endsWith("/repos"),
      );
      const send = (fullName: string, key: string) =>
        route?.handle({
          engine: world.kernel.engine,
          principal: owner,
          params: { orgId: "org_1" },
          query: {} as never,
          body: { fullName } as never,
          idempotency: { key, fingerprint: fullName },
        }) as Promise<{ repo: Repo }>;
      const first = await send("acme/once", "k1");
      expect(await send("acme/once", "k1")).toEqual(first);
      await expect(send("acme/other", "k1")).rejects.toMatchObject({
        code: "idempotency_conflict",
      });
      // A refused request leaves its key free.
      await expect(send("acme/once", "k2")).rejects.toMatchObject({ code: "repo_exists" });
      expect((await send("acme/after", "k2")).repo.fullName).toBe("acme/after");
    });

    it("removes from the list, and may be added again", async () => {
      const repo = await add({ fullName: "acme/gone", webhookSecret: HOOK, credential: "T" });
      expect(await remove(repo)).toMatchObject({ id: repo.id, hasWebhookSecret: false });
      for (const attempt of [get, remove, (gone: Repo) => change(gone, { enabled: true })])
        await expect(attempt(repo)).rejects.toMatchObject({ kind: "not_found" });
      expect(await names("q=gone")).toEqual([]);
      expect(await resolve("acme/gone")).toBeUndefined();
      const again = await add({ fullName: "acme/gone" });
      expect(again.id).not.toBe(repo.id);
      await remove(again);
      await add({ fullName: "acme/gone" });
    });

    it("is changed by admins only, read by members, and unknown to others", async () => {
      const repo = await add({ fullName: "acme/guarded" });
      const keyOfAdmin = { ...owner, scopes: ["sessions:read", "sessions:write"] };
      for (const who of [member, keyOfAdmin]) {
        expect(await names("q=guarded", who)).toEqual(["acme/guarded"]);
        const forbidden = { kind: "forbidden" };
        await expect(add({ fullName: "acme/no" }, who)).rejects.toMatchObject(forbidden);
        await expect(add({ url: "/etc" }, who)).rejects.toMatchObject(forbidden);
        await expect(change(repo, { enabled: false }, who)).rejects.toMatchObject(forbidden);
        await expect(remove(repo, who)).rejects.toMatchObject(forbidden);
        await expect(
          world.call(who, "PUT", `${REPOS}/${repo.id}/persona`, { personaSlug: null }),
        ).rejects.toMatchObject(forbidden);
        await expect(world.call(who, "POST", `${REPOS}/sync`, {})).rejects.toMatchObject(forbidden);
      }
      await expect(list("", session)).rejects.toMatchObject({ kind: "forbidden" });
      const missing = { kind: "not_found", code: "not_found" };
      await expect(list("", stranger)).rejects.toMatchObject(missing);
      await expect(get(repo, stranger)).rejects.toMatchObject(missing);
      await expect(add({ fullName: "a/b" }, stranger)).rejects.toMatchObject(missing);
      const theirs = `/api/orgs/org_2/repos/${repo.id}`;
      await expect(call(stranger, "GET", theirs)).rejects.toMatchObject(missing);
      await expect(call(stranger, "PATCH", theirs, { enabled: false })).rejects.toMatchObject(
        missing,
      );
      await expect(call(stranger, "DELETE", theirs)).rejects.toMatchObject(missing);
      expect(await resolve("acme/guarded", "org_2")).toBeUndefined();
    });

    it.each([
      [{ url: "https://token@github.com/acme/app" }, "url_holds_credentials"],
      [{ url: "ext::sh -c id" }, "url_invalid"],
      [{ fullName: "../x" }, "repo_name_invalid"],
      [{ fullName: "acme" }, "repo_name_invalid"],
      [{ fullName: "a/b\u0000" }, "repo_name_invalid"],
      [{ fullName: "../x", url: "/srv/x" }, "repo_name_invalid"],
      [{ url: "/" }, "repo_name_invalid"],
      [{ url: "/srv/My App" }, "repo_name_invalid"],
      [{}, "url_required"],
      [{ fullName: "x", provider: "git" }, "url_required"],
      [{ url: "https://git.example.org/x", provider: "github" }, "repo_name_invalid"],
      [{ fullName: "a/p", personaSlug: "nobody" }, "persona_unknown"],
      [{ url: "http://git.example.org/a/h", credential: "T" }, "credential_needs_https"],
    ])("refuses %j", async (body, code) => {
      await expect(add(body)).rejects.toMatchObject({ kind: "invalid", code });
    });

    it.each([
      { defaultBranch: "-x" },
      { defaultBranch: "a..b" },
      { defaultBranch: "a b" },
      { defaultBranch: "x.lock" },
      { credential: "not a name" },
      { personaSlug: "../x" },
      { webhookSecret: "short" },
      { webhookSecret: `${HOOK}\n` },
      { setupCommand: "x".repeat(4_001) },
      { description: "a\u0000b" },
      { topics: Array.from({ length: 51 }, (_, at) => `t${at}`) },
      { enabled: "yes" },
      { unknown: true },
    ])("refuses the setting %j", async (body) => {
      await expect(add({ fullName: "acme/odd", ...body })).rejects.toThrow();
      expect(await names("q=acme/odd")).toEqual([]);
    });

    it("takes no credential to plain http by a later change either", async () => {
      const repo = await add({ url: "http://git.example.org/plain", credential: null });
      const attempt = change(repo, { credential: "T" });
      await expect(attempt).rejects.toMatchObject({ code: "credential_needs_https" });
      await change(repo, { credential: "T", url: "https://git.example.org/plain" });
      const back = change(repo, { url: "http://git.example.org/plain" });
      await expect(back).rejects.toMatchObject({ code: "credential_needs_https" });
      expect(await get(repo)).toMatchObject({ url: "https://git.example.org/plain" });
    });

    it("keeps a webhook's secret sealed, for the server alone", async () => {
      const repo = await add({ fullName: "acme/hooked", webhookSecret: HOOK });
      expect(repo.hasWebhookSecret).toBe(true);
      const rows = await world.kernel.engine.store.read((reader) =>
        reader.query<RepoRow>(
          builder<RepoTables>(reader.dialect).selectFrom("repos").selectAll().compile(),
        ),
      );
      for (const text of [JSON.stringify(await list("limit=200")), JSON.stringify(rows)])
        expect(text).not.toContain(HOOK);
      const read = (name: string) => repos.webhookSecret(world.kernel.engine, "org_1", name);
      expect(await read("Acme/Hooked")).toBe(HOOK);
      expect(
        await repos.webhookSecret(world.kernel.engine, "org_2", "acme/hooked"),
      ).toBeUndefined();
      expect(await change(repo, { description: "d" })).toMatchObject({ hasWebhookSecret: true });
      const other = createRepos({
        secretKey: `${SECRET_KEY} changed`,
        secrets,
        findPersona: async () => undefined,
      });
      await expect(
        other.webhookSecret(world.kernel.engine, "org_1", "acme/hooked"),
      ).rejects.toMatchObject({ code: "secret_key_changed" });
      await change(repo, { webhookSecret: null });
      expect(await read("acme/hooked")).toBeUndefined();
    });

    it("has a persona of its own", async () => {
      const repo = await add({ fullName: "acme/styled" });
      const path = `${REPOS}/${repo.id}/persona`;
      expect(await world.call(member, "GET", path)).toEqual({ persona: null });
      const set = await world.call(owner, "PUT", path, { personaSlug: "reviewer" });
      expect(set).toEqual({
        persona: { id: "per_1", slug: "reviewer", name: "The Reviewer" },
      });
      expect(await world.call(member, "GET", path)).toEqual(set);
      expect(await get(repo)).toMatchObject({ personaSlug: "reviewer" });
      await expect(world.call(owner, "PUT", path, { personaSlug: "nobody" })).rejects.toMatchObject(
        { code: "persona_unknown" },
      );
      expect(await world.call(owner, "PUT", path, { personaSlug: null })).toEqual({
        persona: null,
      });
      await expect(world.call(owner, "GET", `${REPOS}/rep_none/persona`)).rejects.toMatchObject({
        kind: "not_found",
      });
    });

    it("is found by name and by every way to write its address", async () => {
      await add({
        url: "https://git.example.org/Zoo/otter.git",
        defaultBranch: "main",
        setupCommand: "make",
        personaSlug: "reviewer",
        credential: "ZOO",
      });
      const expected = {
        fullName: "Zoo/otter",
        url: "https://git.example.org/Zoo/otter.git",
        branch: "main",
        setup: "make",
        personaId: "per_1",
        credential: "ZOO",
      };
      for (const text of [
        "zoo/OTTER",
        " Zoo/otter ",
        "https://git.example.org/Zoo/otter",
        "https://GIT.example.org/zoo/otter/",
        "http://git.example.org/Zoo/otter.git",
      ])
        expect(await resolve(text)).toMatchObject(expected);
      for (const text of [
        "zoo/otters",
        "otter",
        "https://git.example.org.evil.example/Zoo/otter",
        "git@git.example.org:Zoo/otter.git",
        "/Zoo/otter",
        "",
        "\u0000",
      ])
        expect(await resolve(text)).toBeUndefined();
    });

    it("is refused, however it is written, when it is switched off", async () => {
      const repo = await add({ url: "https://git.example.org/zoo/closed", enabled: false });
      for (const text of [
        "zoo/closed",
        repo.url,
        "http://GIT.example.org/ZOO/closed.git",
        "https://git.example.org./zoo/closed",
        "https://git.example.org:443/zoo/closed",
        "http://git.example.org:80/zoo/closed",
        "https://git.example.org//zoo//closed.git//",
        "https://git.example.org/zoo/%63losed",
        "https://git.example.org/zoo%2Fclosed",
        "https://git.example.org/zoo/x/%2e%2e/closed",
        "https://git.example.org/zoo/x%2f..%2fclosed",
        "https://git.example.org/zoo\\closed",
        "https://git.example.org/zoo/closed.git.git/.",
        "https://git.example.org/zoo/closed/.git",
        "https://git.example.org/zoo/closed%2egit",
        "https://git.example.org/zoo/closed.",
        "https://git.example.org/zoo/closed%20",
      ])
        await expect(resolve(text), text).rejects.toMatchObject({ code: "repo_disabled" });
      // An address that cannot be compared is no way around the check either.
      for (const text of [
        "https://x@git.example.org/zoo/closed",
        "https://x:y@git.example.org/zoo/closed",
      ])
        await expect(resolve(text)).rejects.toMatchObject({ code: "url_holds_credentials" });
      for (const text of [
        "https://git.example.org/zoo/closed?x",
        "https://git.example.org/zoo/closed#x",
        "https://git.example.org/zoo/closed%",
        "https://git.example.org/zoo/closed%ff",
        "https://git.example.org/zoo/closed%00",
        "https://git.example.org/zoo/closed%E2%80%8B",
        "git://git.example.org/zoo/closed",
      ])
        await expect(resolve(text), text).rejects.toMatchObject({ code: "url_invalid" });
      const folder = await add({ url: "/srv/git/closed", enabled: false });
      for (const text of ["/srv//git/closed/", "/srv/git/closed/.git", "file:///srv/git/%63losed"])
        await expect(resolve(text), text).rejects.toMatchObject({ code: "repo_disabled" });
      await remove(folder);
      await change(repo, { enabled: true });
      expect(await resolve(repo.url)).toMatchObject({ id: repo.id });
    });

    it("leaves in the trail which settings were changed, in words of ours", async () => {
      const repo = await add({ url: "https://git.example.org/zoo/trail" });
      const details = async () => {
        const page = await world.call<{ items: { metadata: Record<string, unknown> }[] }>(
          owner,
          "GET",
          "/api/audit?limit=200",
        );
        return page.items
          .filter(({ metadata }) => metadata.subjectId === repo.id && metadata.change === "changed")
          .map(({ metadata }) => metadata.detail)
          .toSorted();
      };
      await change(repo, { url: "https://git.example.org/zoo/canary" });
      await change(repo, { credential: "CANARY" });
      await change(repo, { url: "https://git.example.org/zoo/canary", description: "canary" });
      await change(repo, { credential: "CANARY" });
      const all = {
        url: "https://git.example.org/zoo/canary-2",
        credential: "CANARY_2",
        defaultBranch: "canary",
        setupCommand: "canary",
        personaSlug: "reviewer",
        enabled: false,
        webhookSecret: HOOK,
        language: "canary",
        topics: ["canary"],
      };
      await change(repo, all);
      expect(await details()).toEqual([
        "about",
        "credential",
        "url",
        "url_credential_branch_setup_persona_enabled_webhook_about",
        undefined,
      ]);
    });

    it("is listed by name, page by page, filtered by words and use", async () => {
      const body = { description: "100% of Größe_x", topics: ["filtered"], language: "Go" };
      for (const name of ["d", "B", "a", "c"]) await add({ fullName: `list/${name}`, ...body });
      await add({ fullName: "list/off", ...body, enabled: false });
      const seen: string[] = [];
      let next: string | null = "";
      while (next !== null) {
        const page: Page = await list(`q=filtered&limit=2${next ? `&cursor=${next}` : ""}`);
        seen.push(...page.items.map(({ fullName }) => fullName));
        next = page.next;
      }
      expect(seen).toEqual(["list/a", "list/B", "list/c", "list/d", "list/off"]);
      expect(await names("q=filtered&enabled=false")).toEqual(["list/off"]);
      expect(await names("q=LIST/B%20gO")).toEqual(["list/B"]);
      expect(await names("q=gr%C3%96%C3%9Fe_x&enabled=true")).toHaveLength(4);
      // The search takes words, not patterns.
      expect(await names("q=100%25%20filtered")).toHaveLength(5);
      expect(await names("q=1%25%25%20filtered")).toEqual([]);
      expect(await names("q=l_st%20filtered")).toEqual([]);
      expect(await names("q=%5C%20filtered")).toEqual([]);
      await expect(list("limit=0")).rejects.toThrow();
      await expect(list("enabled=perhaps")).rejects.toThrow();
      await expect(list("cursor=x")).rejects.toMatchObject({ code: "cursor_invalid" });
    });

    it("tells agents what there is to choose from, best first, and where nothing is", async () => {
      const topics = ["agents-test"];
      const secret = { setupCommand: "make agents-test" };
      await add({ fullName: "pick/auth", description: "Login and tokens", topics, ...secret });
      await add({ fullName: "pick/web", description: "Pages, login button", topics });
      await add({ fullName: "pick/off", description: "login tokens", topics, enabled: false });
      expect((await known("fix the login tokens agents-test")).map((r) => r.fullName)).toEqual([
        "pick/auth",
        "pick/web",
      ]);
      expect((await known("agents-test", 1)).map((r) => r.fullName)).toEqual(["pick/auth"]);
      expect(await known("no-such-word-anywhere")).toEqual([]);
      expect((await known()).length).toBeGreaterThan(5);
      const text = JSON.stringify(await known("", 200));
      expect(text).not.toMatch(/https?:|\/srv\/|make agents-test/);
    });
  });
}

suite("repositories on sqlite", async () => undefined);
describe.skipIf(!postgresUrl)("with a server", () => {
  suite("repositories on postgres", createTestDatabase);
});
