/** Order of memories, equal on both databases, and pruning when there are too many. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { command } from "#engine/index.ts";
import { owner, startWorld, type World } from "#features/testing/index.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import { memory } from "../index.ts";
import {
  findScope,
  growScope,
  insertMemory,
  listMemories,
  lockOrCreateScope,
  type MemoryScopeKey,
} from "../queries.ts";
import type { MemoryRow } from "../schema.ts";
import { writeMemory } from "../writing/write-memory.ts";
import { FIRST_RELEVANCE, fadesAt } from "./relevance.ts";
import { markFoundRead, queryTerms, searchMemories } from "./search.ts";
import { addTerms } from "./term-queries.ts";
import { sizesOf, termRows, termsOfText } from "./topic.ts";

const WORDS =
  "deploy friday payments checkout service api server tests vitest persona branch review login page slow cache token budget Größe café 東京 設定 🔥 release notes".split(
    " ",
  );

/** Seeded random numbers. */
function dice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}
const pick = <T>(roll: () => number, from: readonly T[]): T =>
  from[Math.floor(roll() * from.length)] as T;
const sentence = (roll: () => number) =>
  Array.from({ length: 1 + Math.floor(roll() * 9) }, () => pick(roll, WORDS)).join(" ");

const key = (repo: string): MemoryScopeKey => ({
  orgId: owner.orgId,
  userId: owner.userId,
  kind: "session",
  repo,
});

/** Writes memories like the product does, but with ids that are the same everywhere. */
async function fill(world: World, repo: string, contents: readonly string[]): Promise<void> {
  await command(world.kernel.engine, async (work) => {
    const scope = await lockOrCreateScope(work.tx, key(repo), `shf_${repo}`);
    for (const [index, content] of contents.entries()) {
      const words = termsOfText({ title: null, content });
      const row: MemoryRow = {
        id: `mem_${repo}_${String(index).padStart(6, "0")}`,
        org_id: owner.orgId,
        user_id: owner.userId,
        shelf_id: scope.id,
        kind: "session",
        repo,
        category: index % 3 === 0 ? "even" : "odd",
        title: null,
        content,
        pinned: 0,
        fades_at: fadesAt(FIRST_RELEVANCE, work.now),
        access_count: 0,
        ...sizesOf(words),
        source_session_id: null,
        source_prompt_id: null,
        history: "[]",
        created_at: index,
        updated_at: index,
        last_accessed_at: index,
      };
      await insertMemory(work.tx, row);
      await addTerms(work.tx, termRows(row, words));
      await growScope(work.tx, scope, { memories: 1, pinned: 0, length: row.length });
    }
  });
}

async function runSearches(world: World): Promise<unknown[]> {
  const roll = dice(7);
  const results: unknown[] = [];
  await world.kernel.engine.store.read(async (reader) => {
    const small = await findScope(reader, key("small"));
    const large = await findScope(reader, key("large"));
    for (let n = 0; n < 60; n++) {
      const terms = queryTerms(sentence(roll));
      const scopes = [small, large].filter((scope) => scope !== undefined).slice(0, 1 + (n % 2));
      const filter = n % 5 === 0 ? { category: "even" } : {};
      const found = await searchMemories(reader, scopes, terms, { limit: 20, ...filter });
      results.push(found.map(({ row, score }) => [row.id, score]));
    }
  });
  return results;
}

describe("ranking", () => {
  let sqlite: World;
  let postgres: World | undefined;
  let made: TestDatabase | undefined;
  beforeAll(async () => {
    sqlite = await startWorld([memory]);
    if (postgresUrl) {
      made = await createTestDatabase();
      postgres = await startWorld([memory], made.url);
    }
    for (const world of [sqlite, postgres]) {
      const roll = dice(42);
      const small = Array.from({ length: 150 }, () => sentence(roll));
      // Many equal memories, and terms with more postings than are read.
      const large = Array.from({ length: 4_400 }, (_, n) =>
        n % 2 === 0 ? "deploy" : `deploy ${sentence(roll)}`,
      );
      if (world) await fill(world, "small", small);
      if (world) await fill(world, "large", large);
    }
  }, 120_000);
  afterAll(async () => {
    await sqlite.stop();
    await postgres?.stop();
    await made?.drop();
  });

  it("puts what is rarer, denser and newer first", async () => {
    await sqlite.kernel.engine.store.transaction(async (tx) => {
      const scope = await lockOrCreateScope(tx, key("tiny"), "shf_tiny");
      expect(scope.memories).toBe(0);
    });
    await fill(sqlite, "tiny", [
      "red apple",
      "red apple tree in the garden behind the house",
      "green apple",
      "red red apple",
      "red apple",
      "nothing of the kind",
    ]);
    const order = await sqlite.kernel.engine.store.read(async (reader) => {
      const scope = await findScope(reader, key("tiny"));
      const find = async (query: string) =>
        (await searchMemories(reader, scope ? [scope] : [], queryTerms(query), { limit: 9 })).map(
          ({ row }) => row.id.slice(-1),
        );
      return [await find("red apples"), await find("green red"), await find("zebra")];
    });
    expect(order).toEqual([["3", "4", "0", "1", "2"], ["2", "3", "4", "0", "1"], []]);
  });

  it("says the same twice", async () => {
    expect(await runSearches(sqlite)).toEqual(await runSearches(sqlite));
  });

  it.skipIf(!postgresUrl)("says the same on both databases, scores included", async () => {
    const results = await runSearches(sqlite);
    expect(results.flat().length).toBeGreaterThan(500);
    expect(await runSearches(postgres as World)).toEqual(results);
  });
});

function countsLess(one: MemoryRow, other: MemoryRow): boolean {
  const order = (row: MemoryRow) => [row.fades_at, row.last_accessed_at, row.id] as const;
  const [a, b] = [order(one), order(other)];
  const at = a.findIndex((value, index) => value !== b[index]);
  return at >= 0 && (a[at] as number) < (b[at] as number);
}

describe("the cap", () => {
  const roll = dice(11);
  const scopeKey: MemoryScopeKey = { ...key(""), kind: "orchestrator" };
  const writer = { by: "user:usr_1", source: null };

  it("holds whatever is done, and nothing goes before what counts less", async () => {
    const world = await startWorld([memory]);
    const { engine } = world.kernel;
    const all = () =>
      engine.store.read((reader) => listMemories(reader, { ...scopeKey, limit: 1_000 }));
    let pruned = 0;
    for (let n = 0; n < 500; n++) {
      if (roll() < 0.3) world.clock.advance(Math.floor(roll() * 5 * 86_400_000));
      const before = await all();
      const read = roll() < 0.3 ? before.filter(() => roll() < 0.02) : [];
      await command(engine, (work) => markFoundRead(work, read));
      const held = await all();
      const pinnedCount = held.filter(({ pinned }) => pinned === 1).length;
      const pinned = roll() < 0.05 && pinnedCount < 50;
      const draft = { content: `fact ${n}`, category: "general", title: `title ${n}`, pinned };
      const written = await command(engine, (work) => writeMemory(work, scopeKey, draft, writer));
      const after = await all();
      expect(after.filter((row) => row.pinned === 0).length).toBeLessThanOrEqual(200);
      const isLeft = new Set(after.map(({ id }) => id));
      const gone = held.filter(({ id }) => !isLeft.has(id));
      expect(gone.map(({ id }) => id).sort()).toEqual(written.pruned.map(({ id }) => id).sort());
      const stayed = held.filter(({ id, pinned }) => pinned === 0 && isLeft.has(id));
      for (const row of gone) {
        expect(row.pinned).toBe(0);
        expect(stayed.filter((kept) => countsLess(kept, row))).toEqual([]);
      }
      pruned += gone.length;
      expect(isLeft.has(written.row.id)).toBe(true);
    }
    expect(pruned).toBeGreaterThan(200);
    const scope = await engine.store.read((reader) => findScope(reader, scopeKey));
    const left = await all();
    expect(scope).toMatchObject({
      memories: left.length,
      pinned: left.filter((row) => row.pinned === 1).length,
      length: left.reduce((sum, { length }) => sum + length, 0),
    });
    await world.stop();
  }, 60_000);

  it.skipIf(!postgresUrl)(
    "holds when many write at once",
    async () => {
      const made = await createTestDatabase();
      const world = await startWorld([memory], made.url);
      const { engine } = world.kernel;
      for (let round = 0; round < 9; round++)
        await Promise.all(
          Array.from({ length: 30 }, (_, n) => {
            const title = `title ${round} ${n}`;
            const draft = { content: `fact ${round} ${n}`, category: "general", title };
            return command(engine, (work) => writeMemory(work, scopeKey, draft, writer));
          }),
        );
      const left = await engine.store.read((reader) =>
        listMemories(reader, { ...scopeKey, limit: 1_000 }),
      );
      expect(left).toHaveLength(200);
      await world.stop();
      await made.drop();
    },
    60_000,
  );
});
