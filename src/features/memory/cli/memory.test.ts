import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Memory, MemoryFile } from "#features/memory/contract.ts";
import { createFakeHost, type FakeHostOptions, runCommand } from "#test/cli/fake-host.ts";
import { FakeServer, reply } from "#test/cli/fake-server.ts";

const MINE = "/api/me/memories";
const SESSION = "/api/me/memories/session";
const now = new Date().toISOString();
const memory: Memory = {
  id: "mem_1",
  kind: "orchestrator",
  repo: null,
  category: "preference",
  title: "Tea",
  content: "Likes it\nstrong \u001b[31m",
  relevance: 1.1,
  pinned: false,
  accessCount: 1,
  createdAt: now,
  updatedAt: now,
  lastAccessedAt: now,
  source: null,
};

let server: FakeServer;
let folder: string;
beforeEach(async () => {
  server = await new FakeServer().start();
  folder = mkdtempSync(join(tmpdir(), "muster-memory-"));
});
afterEach(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function run(words: string[], options: FakeHostOptions = {}) {
  const host = createFakeHost({ env: server.env, ...options });
  const code = await runCommand(host, "memory", ...words);
  return { code, out: host.out, err: host.err };
}
const answers = (method: "GET" | "POST" | "PATCH" | "DELETE", path: string, body: unknown) =>
  server.answer(method, path, (_seen, response) => reply(response, 200, body));
const bodies = (method: string, path: string) =>
  server.requests(method, path).map(({ body }) => body);

describe("muster memory", () => {
  it("lists and searches, one's own or a repository's", async () => {
    answers("GET", MINE, { items: [memory], next: null });
    answers("GET", SESSION, {
      items: [{ ...memory, repo: "x.org/a/b", pinned: true }],
      next: null,
    });
    const listed = await run(["ls", "--category", "preference"]);
    expect(listed.out).toMatch(
      /mem_1 +preference +1\.10 +just now +Tea: Likes it strong <U\+001B>\[31m/,
    );
    expect(listed.out).not.toContain("\u001b");
    expect((await run(["search", "strong", "tea", "--limit", "3"])).code).toBe(0);
    expect(server.requests("GET", MINE).map(({ query }) => query)).toEqual([
      { category: "preference", limit: "200" },
      { query: "strong tea", limit: "3" },
    ]);
    expect((await run(["search", "tea", "--repo", "a/b"])).out).toMatch(
      /pinned .*\[x\.org\/a\/b\] Tea/,
    );
    expect(JSON.parse((await run(["ls", "--sessions", "--json"])).out)).toMatchObject({
      next: null,
    });
    expect((await run(["search", "x", "--limit", "0"])).code).toBe(2);
    answers("GET", MINE, { items: [], next: null });
    expect((await run([])).out).toContain("muster memory add");
    const none = await run(["ls", "--category", "nope"]);
    expect(none.out).toContain('No memories in the category "nope".');
    expect((await run(["ls", "--pinned"])).out).toContain("muster memory ls");
  });

  it("adds what is said or piped in, and says what went", async () => {
    const written = { memory, replaced: false, pruned: [{ ...memory, id: "mem_0" }] };
    answers("POST", MINE, written);
    answers("POST", SESSION, { ...written, replaced: true, pruned: [] });
    const { out } = await run([
      "add",
      "Likes it",
      "--category",
      "preference",
      "--title",
      "Tea",
      "--pin",
    ]);
    expect(out).toContain("Remembered as mem_1.");
    expect(out).toContain("Removed mem_0 to make room: Tea");
    const history = [{ title: "Tea", content: "no milk", replacedAt: now }];
    answers("GET", `${MINE}/mem_1`, { memory, history });
    const { out: again } = await run(["add", "--repo", "a/b"], { input: "two\nlines\n" });
    expect(again).toContain("Replaced mem_1, which was about the same subject. Before: Tea: no");
    expect(again).toContain("muster memory show mem_1");
    expect(bodies("POST", MINE)).toEqual([
      { content: "Likes it", category: "preference", title: "Tea", pinned: true },
    ]);
    expect(bodies("POST", SESSION)).toEqual([{ content: "two\nlines", repo: "a/b" }]);
    expect((await run(["add"], { input: "\n" })).code).toBe(2);
  });

  it("shows a memory with what stood there before", async () => {
    const history = [{ title: null, content: "Likes it\nweak\u001b[31m", replacedAt: now }];
    answers("GET", `${MINE}/mem_1`, { memory, history });
    const { out } = await run(["show", "mem_1"]);
    expect(out).toMatch(/category +preference\n/);
    expect(out).toMatch(/\n\nLikes it\nstrong [\s\S]*\n\nUntil just now\nLikes it\nweak/);
    expect(out).not.toContain("\u001b");
  });

  it("edits, pins, forgets and prunes", async () => {
    answers("PATCH", `${MINE}/mem_1`, { memory });
    answers("DELETE", `${MINE}/mem_1`, { memory });
    answers("POST", `${MINE}/prune`, { pruned: [memory], more: false, dryRun: true });
    expect(
      (await run(["edit", "mem_1", "--content", "-", "--title", ""], { input: "new" })).code,
    ).toBe(0);
    await run(["pin", "mem_1"]);
    await run(["unpin", "mem_1"]);
    expect(bodies("PATCH", `${MINE}/mem_1`)).toEqual([
      { content: "new", title: null },
      { pinned: true },
      { pinned: false },
    ]);
    expect((await run(["forget", "mem_1"])).out).toContain("mem_1 is deleted: Tea");
    const pruned = await run(["prune", "--below", "0.5", "--unused-days", "30", "--dry-run"]);
    expect(pruned.out).toContain("1 memory would be deleted.");
    expect(bodies("POST", `${MINE}/prune`)).toEqual([{ below: 0.5, unusedDays: 30, dryRun: true }]);
    expect((await run(["prune", "--below", "much"])).code).toBe(2);
    server.refuse("DELETE", `${MINE}/mem_2`, 404, "not_found");
    expect((await run(["forget", "mem_2"])).code).toBe(6);
  });

  it("writes to a folder and takes it in again", async () => {
    const files: MemoryFile[] = [
      { path: "general/a-0123456789.md", content: '---\ncategory: "general"\n---\nä\r\n\n' },
      { path: "work/b-0123456789.md", content: "plain\n" },
    ];
    answers("GET", `${MINE}/export`, { files });
    answers("POST", `${MINE}/import`, {
      created: 1,
      replaced: 0,
      unchanged: 1,
      pruned: 0,
      refused: [{ path: "x.md", reason: "It is empty." }],
    });
    const to = join(folder, "out");
    expect((await run(["export", to])).out).toContain("2 memories are written");
    expect(readFileSync(join(to, "general", "a-0123456789.md"), "utf8")).toBe(files[0]?.content);
    writeFileSync(join(to, "notes.txt"), "not sent");
    writeFileSync(join(to, ".hidden.md"), "not sent");
    symlinkSync("/etc/passwd", join(to, "link.md"));
    const { out } = await run(["import", to]);
    expect(out).toContain("1 new, 0 replaced, 1 unchanged.");
    expect(out).toContain("x.md was not imported: It is empty.");
    expect(bodies("POST", `${MINE}/import`)).toEqual([{ files }]);
    expect((await run(["export", to])).code).toBe(0);
    expect((await run(["import", join(folder, "none")])).code).toBe(2);
  });

  it("refreshes a folder kept in git, and touches nothing of anybody else's", async () => {
    const to = join(folder, "out");
    const serve = (...files: MemoryFile[]) => answers("GET", `${MINE}/export`, { files });
    const a = { path: "general/a-0123456789.md", content: "a\n" };
    const b = { path: "work/b-0123456789.md", content: "b\n" };
    const at = ({ path }: MemoryFile) => join(to, ...path.split("/"));
    mkdirSync(join(to, ".git"), { recursive: true });
    serve(a, b);
    expect((await run(["export", to])).code).toBe(0);
    writeFileSync(join(to, "README.md"), "mine");
    serve({ ...a, content: "a2\n" });
    expect((await run(["export", to])).out).toContain("Files of deleted memories removed: 1.");
    expect(readFileSync(at(a), "utf8")).toBe("a2\n");
    expect(readdirSync(to).sort()).toEqual([".git", ".muster-memory.json", "README.md", "general"]);

    writeFileSync(at(a), "changed by hand\n");
    serve(a, b);
    const refused = await run(["export", to]);
    expect(refused.code).toBe(7);
    expect(refused.err).toContain(a.path);
    expect(readFileSync(at(a), "utf8")).toBe("changed by hand\n");
    expect(existsSync(at(b))).toBe(false);
    expect((await run(["export", to, "--force"])).code).toBe(0);
    expect(readFileSync(at(a), "utf8")).toBe("a\n");
    expect(readFileSync(join(to, "README.md"), "utf8")).toBe("mine");
  });

  it("writes into no folder of somebody else's, and over no file that is not of an export", async () => {
    const a = { path: "general/a-0123456789.md", content: "a\n" };
    answers("GET", `${MINE}/export`, { files: [a] });
    writeFileSync(join(folder, "thesis.md"), "mine");
    expect((await run(["export", folder])).code).toBe(7);
    const to = join(folder, "out");
    const elsewhere = join(folder, "elsewhere");
    mkdirSync(elsewhere);
    writeFileSync(join(elsewhere, "x.md"), "mine");
    mkdirSync(to);
    const list = { "../elsewhere/x.md": "0".repeat(64) };
    writeFileSync(join(to, ".muster-memory.json"), JSON.stringify({ files: list }));
    symlinkSync(elsewhere, join(to, "general"));
    expect((await run(["export", to, "--force"])).code).toBe(7);
    expect(readdirSync(elsewhere)).toEqual(["x.md"]);
  });

  it("writes nothing when a server names a file as no memory is named", async () => {
    for (const path of ["../evil.md", "a/../../b.md", "/etc/x.md", "a/b.sh", "a\\b.md"]) {
      answers("GET", `${MINE}/export`, { files: [{ path, content: "x" }] });
      expect((await run(["export", join(folder, "out")])).code).not.toBe(0);
      expect(readdirSync(folder)).toEqual([]);
    }
  });
});
