/** Memories of people and of agents, on the real kernel and both databases. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { command } from "#engine/index.ts";
import { createDelegation } from "#features/delegation/index.ts";
import { createOrchestrators } from "#features/orchestrators/index.ts";
import {
  member,
  owner,
  startWorld,
  stranger,
  type Turn,
  type User,
  type World,
} from "#features/testing/index.ts";
import { NASTY_STRINGS, UNSTORABLE } from "#test/nasty-strings.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import type { Imported, Memory, MemoryFile, MemoryScope, Pruned, WriteResult } from "./contract.ts";
import { memory } from "./index.ts";
import { pruneFaded } from "./writing/prune.ts";

const MINE = "/api/me/memories";
const SESSION = "/api/me/memories/session";
let people = 0;

function suite(name: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(name, () => {
    let world: World;
    let made: TestDatabase | undefined;
    beforeAll(async () => {
      made = await database();
      world = await startWorld([createDelegation(), createOrchestrators(), memory], made?.url);
    });
    afterAll(async () => {
      await world.stop();
      await made?.drop();
    });

    /** A new person without memories. */
    const somebody = (): User => ({ ...member, userId: `usr_m${++people}`, name: "Ann" });
    const write = (who: User, body: object, path = MINE) =>
      world.call<WriteResult>(who, "POST", path, body);
    const list = async (who: User, query: Record<string, string> = {}, path = MINE) => {
      const text = new URLSearchParams(query).toString();
      return world.call<{ items: Memory[]; next: string | null }>(who, "GET", `${path}?${text}`);
    };
    const contents = async (who: User, query: Record<string, string> = {}, path = MINE) =>
      (await list(who, query, path)).items.map(({ content }) => content);
    const sql = (text: string) =>
      world.kernel.engine.store.transaction((tx) => tx.execute({ sql: text, parameters: [] }));
    const rowsOf = (text: string) =>
      world.kernel.engine.store.read((reader) =>
        reader.query<Record<string, unknown>>({ sql: text, parameters: [] }),
      );

    it("keeps what it is given and finds it by any of its words", async () => {
      const ann = somebody();
      const { memory: kept, replaced } = await write(ann, {
        content: "Checkout means the payments service",
        title: "Checkout",
        category: "repo_affinity",
      });
      expect(replaced).toBe(false);
      expect(kept).toMatchObject({
        kind: "orchestrator",
        repo: null,
        relevance: 1,
        accessCount: 0,
        pinned: false,
        source: null,
      });
      await write(ann, { content: "Answers should be short" });
      expect(await contents(ann)).toHaveLength(2);
      expect(await contents(ann, { query: "PAYMENT?!" })).toEqual([kept.content]);
      expect(await contents(ann, { query: "nothing such" })).toEqual([]);
      expect(await contents(ann, { query: "  " })).toHaveLength(2);
      expect(await contents(ann, { category: "general" })).toEqual(["Answers should be short"]);
      expect(await contents(ann, { query: "payments", category: "general" })).toEqual([]);
      expect(await contents(ann, { since: "2999-01-01" })).toEqual([]);
      expect(await contents(ann, { query: "short", until: "2999-01-01" })).toHaveLength(1);
    });

    it("counts reading by search, and not listing", async () => {
      const ann = somebody();
      await write(ann, { content: "Deploys are on Fridays" });
      await list(ann);
      const browsed = await list(ann, { query: "deploys", counted: "false" });
      expect(browsed.items[0]).toMatchObject({ accessCount: 0, relevance: 1 });
      expect((await list(ann, { query: "deploys" })).items[0]).toMatchObject({
        accessCount: 1,
        relevance: 1.1,
      });
      for (let n = 0; n < 15; n++) await list(ann, { query: "fridays" });
      expect((await list(ann)).items[0]).toMatchObject({ accessCount: 16, relevance: 2 });
    });

    it("replaces what is about the same, and keeps what stood there", async () => {
      const ann = somebody();
      const first = await write(ann, { content: "Nine to five", title: "Office hours" });
      const second = await write(ann, { content: "Ten to six", title: "office  HOURS!" });
      expect(second).toMatchObject({ replaced: true, memory: { id: first.memory.id } });
      expect(
        (await write(ann, { content: "x y", title: "Office hours", category: "other" })).replaced,
      ).toBe(false);
      const read = await world.call<{ history: unknown[] }>(
        ann,
        "GET",
        `${MINE}/${first.memory.id}`,
      );
      expect(read.history).toMatchObject([{ content: "Nine to five", title: "Office hours" }]);
      await write(ann, { content: "Prefers tabs over spaces in TypeScript files" });
      const again = await write(ann, {
        content: "Prefers spaces over tabs in all TypeScript files",
      });
      expect(again.replaced).toBe(true);
      expect(await contents(ann, { query: "nine" })).toEqual([]);
      expect(await contents(ann, { query: "ten" })).toEqual(["Ten to six"]);
      for (let n = 0; n < 15; n++)
        await write(ann, { content: `hours ${n}`, title: "Office hours" });
      const { history } = await world.call<{ history: { content: string }[] }>(
        ann,
        "GET",
        `${MINE}/${first.memory.id}`,
      );
      expect(history).toHaveLength(10);
      expect(history[0]?.content).toBe("hours 13");
    });

    it("is edited, pinned and forgotten by its person", async () => {
      const ann = somebody();
      const { memory: kept } = await write(ann, { content: "old words", title: "T" });
      const path = `${MINE}/${kept.id}`;
      const edit = (body: object) => world.call<{ memory: Memory }>(ann, "PATCH", path, body);
      expect((await edit({ content: "fresh text" })).memory.title).toBe("T");
      expect(await contents(ann, { query: "old" })).toEqual([]);
      expect(await contents(ann, { query: "fresh" })).toEqual(["fresh text"]);
      expect((await edit({ pinned: true, title: null })).memory).toMatchObject({
        pinned: true,
        title: null,
      });
      expect(await contents(ann, { pinned: "true" })).toEqual(["fresh text"]);
      await world.call(ann, "DELETE", path);
      await expect(world.call(ann, "DELETE", path)).rejects.toMatchObject({ code: "not_found" });
      expect(await contents(ann)).toEqual([]);
    });

    it("shows nobody what is another's", async () => {
      const [ann, ben] = [somebody(), somebody()];
      const eve = { ...stranger, userId: ann.userId };
      const { memory: kept } = await write(ann, { content: "a secret garden" });
      await write(ann, { content: "a secret shed", repo: "https://example.org/a/b" }, SESSION);
      const bare = { ...ann, scopes: ["sessions:read"] };
      for (const who of [ben, eve, owner]) {
        expect(await contents(who, { query: "secret" })).toEqual([]);
        expect(await contents(who, { query: "secret" }, SESSION)).toEqual([]);
        expect(await contents(who)).toEqual([]);
        for (const method of ["GET", "DELETE"])
          await expect(world.call(who, method, `${MINE}/${kept.id}`)).rejects.toMatchObject({
            code: "not_found",
          });
        await expect(
          world.call(who, "PATCH", `${MINE}/${kept.id}`, { content: "x" }),
        ).rejects.toMatchObject({ code: "not_found" });
        expect(await world.call(who, "GET", `${MINE}/export`)).toEqual({ files: [] });
      }
      await expect(list(bare)).rejects.toMatchObject({ code: "forbidden" });
      expect(await contents(ann, { query: "secret" })).toEqual(["a secret garden"]);
    });

    it("pages through what it finds without a gap or a double", async () => {
      const ann = somebody();
      for (let n = 0; n < 25; n++)
        await write(ann, { content: `apple number ${n} of ${"x ".repeat(n)}`, title: `t${n}` });
      for (const query of [{}, { query: "apple" }]) {
        const seen: string[] = [];
        let cursor: string | null = null;
        do {
          const page = await list(ann, { ...query, limit: "10", ...(cursor ? { cursor } : {}) });
          seen.push(...page.items.map(({ id }) => id));
          cursor = page.next;
        } while (cursor !== null);
        expect(new Set(seen).size).toBe(25);
        expect(seen).toHaveLength(25);
      }
    });

    it("keeps session memories by repository, however it is written", async () => {
      const ann = somebody();
      const at = (repo: string, content: string) => write(ann, { repo, content }, SESSION);
      await at("https://github.com/acme/api.git", "uses vitest");
      const again = await at("https://GitHub.com/Acme/API", "also has a linter");
      expect(again.memory).toMatchObject({ kind: "session", repo: "github.com/acme/api" });
      await at("https://github.com/acme/web", "uses jest");
      expect((await contents(ann, { repo: "acme/api" }, SESSION)).sort()).toEqual([
        "also has a linter",
        "uses vitest",
      ]);
      expect(await contents(ann, { repo: "acme/api", query: "uses" }, SESSION)).toEqual([
        "uses vitest",
      ]);
      expect(await contents(ann, { query: "uses" }, SESSION)).toHaveLength(2);
      expect(await contents(ann, { repo: "acme/none" }, SESSION)).toEqual([]);
      expect(await contents(ann, { query: "uses" })).toEqual([]);
      await write(ann, { content: "no repository at all", pinned: true }, SESSION);
      expect(await contents(ann, { repo: " " }, SESSION)).toEqual(["no repository at all"]);
      const { items } = await world.call<{ items: MemoryScope[] }>(ann, "GET", `${MINE}/shelves`);
      expect(items).toEqual([
        { kind: "session", repo: "github.com/acme/api", memories: 2, pinned: 0, room: 1_000 },
        { kind: "session", repo: "github.com/acme/web", memories: 1, pinned: 0, room: 1_000 },
        { kind: "session", repo: null, memories: 1, pinned: 1, room: 1_000 },
      ]);
      expect(await world.call(somebody(), "GET", `${MINE}/shelves`)).toEqual({ items: [] });
    });

    it("prunes what it is asked to and says what went", async () => {
      const ann = somebody();
      for (const content of ["alpha one", "beta two", "gamma three"])
        await write(ann, { content, category: content.split(" ")[0] ?? "" });
      const pinned = await write(ann, { content: "delta four", pinned: true });
      const prune = (body: object) => world.call<Pruned>(ann, "POST", `${MINE}/prune`, body);
      expect((await prune({})).pruned).toEqual([]);
      expect((await prune({ below: 2, dryRun: true })).pruned).toHaveLength(3);
      expect((await prune({ below: 2, category: "beta" })).pruned).toMatchObject([
        { content: "beta two" },
      ]);
      expect((await prune({ below: 2, unusedDays: 1 })).pruned).toEqual([]);
      await list(ann, { query: "gamma" });
      expect((await prune({ below: 1.05 })).pruned).toMatchObject([{ content: "alpha one" }]);
      await prune({ below: 2 });
      expect((await list(ann)).items.map(({ id }) => id)).toEqual([pinned.memory.id]);
    });

    it("lets what has faded go by itself, and nothing that is pinned", async () => {
      const ann = somebody();
      await write(ann, { content: "a faded note" });
      await write(ann, { content: "a pinned one", pinned: true });
      await write(ann, { content: "the fresh thing" });
      await sql(
        `update memories set fades_at = 1 where user_id = '${ann.userId}' and content <> 'the fresh thing'`,
      );
      await pruneFaded(world.kernel.engine, world.kernel.engine.clock.now());
      expect((await contents(ann)).sort()).toEqual(["a pinned one", "the fresh thing"]);
    });

    it("writes out as markdown and takes it in again, to the letter", async () => {
      const [ann, ben] = [somebody(), somebody()];
      await write(ann, { content: "one\n---\ntwo", title: 'A "title"', category: "work" });
      await write(ann, { content: "pinned thing", pinned: true });
      await write(ann, { content: "untitled 日本語" });
      const read = (who: User) => world.call<{ files: MemoryFile[] }>(who, "GET", `${MINE}/export`);
      const take = (who: User, files: MemoryFile[]) =>
        world.call<Imported>(who, "POST", `${MINE}/import`, { files });
      const { files } = await read(ann);
      expect(files.map(({ path }) => path)).toEqual(files.map(({ path }) => path).toSorted());
      expect(await take(ben, files.toReversed())).toEqual({
        created: 3,
        replaced: 0,
        unchanged: 0,
        pruned: 0,
        refused: [],
      });
      expect((await read(ben)).files).toEqual(files);
      expect(await take(ben, files)).toMatchObject({ created: 0, unchanged: 3 });
      const changed = {
        path: "x.md",
        content: '---\ntitle: A "title"\ncategory: work\n---\nthree\n',
      };
      const broken = { path: "y.md", content: "" };
      expect(await take(ben, [changed, broken])).toMatchObject({
        replaced: 1,
        refused: [{ path: "y.md" }],
      });
      expect(await contents(ben, { query: "three" })).toEqual(["three"]);
    });

    it("leaves nasty strings as they are, and finds them by themselves", async () => {
      expect(NASTY_STRINGS.length).toBeGreaterThanOrEqual(515);
      const ann = somebody();
      const repo = "https://example.org/nasty/strings";
      const ids = new Map<string, string>();
      for (const [index, content] of NASTY_STRINGS.entries()) {
        const title = `t${index}`;
        const kept = await write(ann, { repo, content, title }, SESSION);
        expect(kept).toMatchObject({ replaced: false, memory: { content } });
        ids.set(kept.memory.id, content);
      }
      const all = await list(ann, { repo, limit: "200" }, SESSION);
      for (const { id, content } of all.items) expect(ids.get(id)).toBe(content);
      for (const content of NASTY_STRINGS.filter((text) => /\S/.test(text))) {
        const found = await contents(ann, { repo, query: content, limit: "200" }, SESSION);
        expect(found, JSON.stringify(content)).toContain(content);
      }
    }, 60_000);

    it("keeps what no database can hold as near to it as can be", async () => {
      const ann = somebody();
      for (const content of UNSTORABLE) {
        const clean = content.replaceAll("\0", "\ufffd").toWellFormed();
        const kept = await write(ann, { content, category: content, title: `u${content}` });
        expect(kept.memory).toMatchObject({ content: clean, title: `u${clean}`, category: clean });
      }
    });

    it("is gone with its person", async () => {
      const ann = somebody();
      for (let n = 0; n < 3; n++) await write(ann, { content: `thing ${n}`, title: `t${n}` });
      await write(ann, { content: "thing", repo: "https://example.org/a/b" }, SESSION);
      const { engine } = world.kernel;
      const { orgId, userId } = ann;
      expect(
        await command(
          engine,
          (work) => memory.purgePerson?.(work, { orgId, userId }) ?? (false as never),
        ),
      ).toBe(true);
      for (const table of ["memories", "memory_shelves"])
        expect(await rowsOf(`select 1 from ${table} where user_id = '${userId}'`)).toEqual([]);
      expect(
        await rowsOf("select 1 from memory_terms where memory_id not in (select id from memories)"),
      ).toEqual([]);
    });

    const orchestratorTurn = async (who: User, content = "go"): Promise<Turn> => {
      await world.call(who, "POST", "/api/me/orchestrator", {});
      return world.startTurn(`orchestrator:${who.userId}`, content, who);
    };

    it("is an orchestrator's, by its tools", async () => {
      const ann = somebody();
      const turn = await orchestratorTurn(ann);
      expect(turn.assignment.tools).toEqual(
        expect.arrayContaining(["memory_read", "memory_write", "memory_delete", "memory_prune"]),
      );
      const kept = (
        await turn.tool("memory_write", {
          content: "Likes tea",
          category: "preference",
          title: "Drinks",
        })
      ).output as { id: string };
      expect(
        (
          await turn.tool("memory_write", {
            content: "Likes coffee",
            category: "preference",
            title: "drinks",
          })
        ).output,
      ).toMatchObject({ id: kept.id, replaced: true });
      expect(
        (await turn.tool("memory_read", { query: "what does she like? (coffee" })).output,
      ).toMatchObject({
        memories: [
          {
            id: kept.id,
            content: "Likes coffee",
            relevance: 1.1,
            source: turn.assignment.sessionId,
          },
        ],
      });
      expect((await list(ann)).items[0]?.source).toEqual({
        sessionId: turn.assignment.sessionId,
        promptId: turn.assignment.promptId,
      });
      await world.call(ann, "PATCH", `${MINE}/${kept.id}`, { pinned: true });
      expect(
        (
          await turn.tool("memory_write", {
            content: "Likes oil",
            category: "preference",
            title: "Drinks",
          })
        ).error,
      ).toMatch(/^memory_pinned: /);
      expect((await turn.tool("memory_delete", { id: kept.id })).error).toMatch(/^memory_pinned: /);
      expect((await turn.tool("memory_prune", { below: 2 })).output).toMatchObject({ pruned: [] });
      await world.call(ann, "PATCH", `${MINE}/${kept.id}`, { pinned: false });
      expect((await turn.tool("memory_prune", { below: 2 })).output).toMatchObject({
        pruned: [{ id: kept.id, content: "Likes coffee" }],
      });
      expect((await turn.tool("memory_delete", { id: kept.id })).error).toMatch(/^not_found: /);
      await turn.end("ok");
    });

    it("is a session's only when it was enabled, and then its repository's", async () => {
      const ann = somebody();
      const repo = "https://example.org/team/app.git";
      const plain = await world.startTurn(await world.createSession({ repo }, ann), "go", ann);
      expect(plain.assignment.tools.filter((tool) => tool.startsWith("memory_"))).toEqual([]);
      expect((await plain.tool("memory_read", {})).error).toContain("no tool named memory_read");
      await plain.end("ok");
      const session = await world.createSession({ repo, enableMemory: true }, ann);
      const turn = await world.startTurn(session, "go", ann);
      await turn.tool("memory_write", { content: "Tests need redis", category: "workflow" });
      await turn.end("ok");
      expect(await contents(ann)).toEqual([]);
      expect(await contents(ann, { repo: "team/app" }, SESSION)).toEqual(["Tests need redis"]);
      const elsewhere = await world.createSession({ enableMemory: true }, ann);
      const other = await world.startTurn(elsewhere, "go", ann);
      expect((await other.tool("memory_read", { query: "redis" })).output).toMatchObject({
        memories: [],
      });
      await other.end("ok");
      const lead = await orchestratorTurn(ann);
      expect((await lead.tool("memory_read", { query: "redis" })).output).toMatchObject({
        memories: [],
      });
      await lead.end("ok");
    });

    it("is offered when a turn begins, without counting as read", async () => {
      const ann = somebody();
      await write(ann, {
        content: "Checkout means the\npayments service",
        category: "repo_affinity",
      });
      await write(ann, { content: "Prefers short answers" });
      const session = { kind: "orchestrator", org_id: ann.orgId, owner_id: ann.userId, repo: null };
      const brief = (content: string, kind = "orchestrator", thread = "main", is_guest = 0) => {
        const prompt = { content, thread, is_guest };
        return world.kernel.engine.store.read(
          (reader) =>
            memory.brief?.(reader, { ...session, kind } as never, prompt as never) as Promise<
              { recall: string[] } | undefined
            >,
        );
      };
      // A guest's thread recalls nothing, whoever speaks there.
      expect(await brief("The checkout?", "orchestrator", "mail:usr_2")).toBeUndefined();
      expect(await brief("The checkout?", "orchestrator", "main", 1)).toBeUndefined();
      const material = await brief("Please look at the checkout, it is slow");
      expect(material?.recall).toHaveLength(1);
      expect(material?.recall[0]).toMatch(
        /^\[repo_affinity\] Checkout means the payments service \(mem_\w+, \d{4}-\d\d-\d\d\)$/,
      );
      expect(await brief("what is it that you do")).toBeUndefined();
      expect(await brief("checkout", "standalone")).toBeUndefined();
      expect((await list(ann)).items.map(({ accessCount }) => accessCount)).toEqual([0, 0]);
    });
  });
}

suite("memory on sqlite", async () => undefined);
describe.skipIf(!postgresUrl)("with a server", () => {
  suite("memory on postgres", () => createTestDatabase());
});
