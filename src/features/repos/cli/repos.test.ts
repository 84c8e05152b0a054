import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createFakeHost, runCommand } from "#test/cli/fake-host.ts";
import { FakeServer, reply } from "#test/cli/fake-server.ts";

const REPOS = "/api/orgs/org_1/repos";
const ID = `rep_${"0".repeat(26)}`;
const repo = {
  id: ID,
  fullName: "acme/app",
  provider: "github",
  url: "https://github.com/acme/app.git",
  description: "Otters\u001b[31m",
  defaultBranch: "main",
  language: "Rust",
  topics: [],
  enabled: true,
  personaSlug: "reviewer",
  problem: null as string | null,
};

let server: FakeServer;
beforeEach(async () => {
  server = await new FakeServer().start();
  server.answer("GET", "/api/me", (_seen, response) =>
    reply(response, 200, { org: { id: "org_1" } }),
  );
  server.answer("POST", REPOS, (_seen, response) => reply(response, 201, { repo }));
  server.answer("DELETE", `${REPOS}/${ID}`, (_seen, response) => reply(response, 200, { repo }));
  list([{ ...repo, id: "rep_other", fullName: "acme/app-2" }, repo]);
});
afterEach(() => server.stop());

function list(items: object[]): void {
  server.answer("GET", REPOS, (_seen, response) => reply(response, 200, { items, next: null }));
}

async function run(...words: string[]) {
  const host = createFakeHost({ env: server.env });
  const code = await runCommand(host, "repos", ...words);
  return { code, out: host.out, err: host.err };
}
const added = () => server.requests("POST", REPOS).map(({ body }) => body);

describe("muster repos", () => {
  it("lists repositories, searched by words", async () => {
    list([repo, { ...repo, fullName: "acme/gone", enabled: false, problem: "It is gone." }]);
    const { out } = await run("ls", "some", "otters", "--enabled");
    expect(out).toMatch(/acme\/app +on +main +Rust +reviewer +Otters/);
    expect(out).toMatch(/acme\/gone +off .*It is gone\./);
    expect(out).not.toContain("\u001b");
    expect(server.requests("GET", REPOS)[0]?.query).toMatchObject({
      q: "some otters",
      enabled: "true",
    });
    list([]);
    expect((await run("ls")).out).toContain("muster repos add");
    expect((await run("ls", "x")).out).toContain("all these words");
  });

  it("adds by address, by path and by name on GitHub", async () => {
    expect((await run("add", "acme/app")).out).toBe(`Added acme/app: ${repo.url}\n`);
    await run("add", "/srv/git/app", "--name", "mine", "--branch", "main", "--setup", "make");
    await run("add", "https://x.example/y", "--persona", "p", "--credential", "T");
    await run("add", "git@x.example:y.git", "--description", "d");
    expect(added()).toEqual([
      { fullName: "acme/app" },
      { fullName: "mine", url: "/srv/git/app", defaultBranch: "main", setupCommand: "make" },
      { url: "https://x.example/y", personaSlug: "p", credential: "T" },
      { url: "git@x.example:y.git", description: "d" },
    ]);
  });

  it("says what is wrong with one that was added", async () => {
    server.answer("POST", REPOS, (_seen, response) =>
      reply(response, 201, { repo: { ...repo, problem: "No SSH." } }),
    );
    expect((await run("add", "git@x.example:y.git")).err).toContain("No SSH.");
    server.refuse("POST", REPOS, 409, "repo_exists");
    expect((await run("add", "acme/app")).code).toBe(7);
  });

  it("removes by name, whatever its letters, or by id", async () => {
    expect((await run("rm", "Acme/App")).out).toBe("acme/app is removed.\n");
    expect((await run("rm", ID)).code).toBe(0);
    expect(server.requests("DELETE", `${REPOS}/${ID}`)).toHaveLength(2);
    expect((await run("rm", "acme/ap")).code).toBe(6);
  });

  it("syncs, and says what was done and what was not", async () => {
    const sync = {
      state: "complete",
      stoppedBy: null,
      until: null,
      found: 3,
      added: 1,
      updated: 1,
      missing: 0,
      skipped: [{ fullName: "acme/gone", reason: "removed" }],
      skippedCount: 1,
    };
    const answer = (fields: object) =>
      server.answer("POST", `${REPOS}/sync`, (_seen, response) =>
        reply(response, 200, { sync: { ...sync, ...fields } }),
      );
    answer({});
    const { code, out } = await run("sync");
    expect(code).toBe(0);
    expect(out).toBe(
      "3 found, 1 added, 1 updated, 0 missing, 1 skipped.\n  skipped acme/gone (removed)\n",
    );
    answer({ state: "stopped", stoppedBy: "rate_limit", until: "2026-01-01T00:00:00.000Z" });
    const stopped = await run("sync", "acme", "--credential", "T", "--disabled");
    expect(stopped.code).toBe(4);
    expect(stopped.out).toContain("Sync again at 2026-01-01T00:00:00.000Z.");
    expect(server.requests("POST", `${REPOS}/sync`).map(({ body }) => body)).toEqual([
      {},
      { owner: "acme", credential: "T", enabled: false },
    ]);
  });
});
