/**
 * Random walk over a full scope:
 * every operation prunes only the least relevant memories that may be pruned.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createOrchestrators } from "#features/orchestrators/index.ts";
import { member, startWorld, type User, type World } from "#features/testing/index.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import { memory } from "./index.ts";
import { MAX_UNPINNED } from "./scope.ts";

const MINE = "/api/me/memories";
const CAP = MAX_UNPINNED.orchestrator;
const STEPS = 150;
const DAY_MS = 86_400_000;

interface MemoryState {
  id: string;
  pinned: number;
  /** A less relevant memory fades sooner. */
  fades_at: number;
}

/** Seeded random numbers. */
function dice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 4_294_967_296) * sides);
  };
}

class ScopeWalk {
  readonly #world: World;
  readonly #who: User;
  readonly #roll: (sides: number) => number;
  #written = 0;

  constructor(world: World, seed: number) {
    this.#world = world;
    this.#who = { ...member, userId: `usr_walk${seed}`, name: "Ann" };
    this.#roll = dice(seed);
  }

  async kept(): Promise<MemoryState[]> {
    const sql = `select id, pinned, fades_at from memories where user_id = '${this.#who.userId}'`;
    const rows = await this.#world.kernel.engine.store.read((reader) =>
      reader.query<MemoryState>({ sql, parameters: [] }),
    );
    return rows.map((row) => ({ ...row, fades_at: Number(row.fades_at) }));
  }

  /** Writes a memory about a new topic. */
  async write(pinned = false): Promise<string> {
    const n = ++this.#written;
    const content = `otter${n} river${n} stone${n}`;
    const body = { content, category: "general", pinned };
    const { memory: made } = await this.#call<{ memory: { id: string } }>("POST", MINE, body);
    return made.id;
  }

  /** Performs one random operation; returns the memory it made and the one it removed. */
  async step(): Promise<{ made?: string; taken?: string }> {
    const kept = await this.kept();
    const { id } = kept[this.#roll(kept.length)] as MemoryState;
    switch (this.#roll(14)) {
      case 0:
        return { made: await this.write(true) };
      case 1:
        await this.#call("PATCH", `${MINE}/${id}`, { pinned: true });
        return {};
      case 2:
      case 3:
        await this.#call("PATCH", `${MINE}/${id}`, { pinned: false });
        return { made: id };
      case 4:
        await this.#call("GET", `${MINE}?query=otter${1 + this.#roll(this.#written)}`);
        return {};
      case 5:
        await this.#call("DELETE", `${MINE}/${id}`);
        return { taken: id };
      case 6:
        await this.#age();
        return {};
      default:
        return { made: await this.write() };
    }
  }

  /** Ages some memories by days, as if they had been written earlier. */
  async #age(): Promise<void> {
    const days = this.#roll(30) * DAY_MS;
    const sql = `update memories set fades_at = fades_at - ${days} where user_id = '${this.#who.userId}' and access_count < 2 and length % 2 = ${this.#roll(2)}`;
    await this.#world.kernel.engine.store.transaction((tx) => tx.execute({ sql, parameters: [] }));
  }

  #call<T>(method: string, path: string, body?: object): Promise<T> {
    return this.#world.call<T>(this.#who, method, path, body);
  }
}

async function walk(world: World, seed: number): Promise<number> {
  const scope = new ScopeWalk(world, seed);
  for (let n = 0; n < CAP + 20; n++) await scope.write(n % 20 === 0);
  let went = 0;
  for (let n = 0; n < STEPS; n++) {
    const before = await scope.kept();
    const { made, taken } = await scope.step();
    const after = await scope.kept();
    const ids = new Set(after.map(({ id }) => id));
    const gone = before.filter(({ id }) => !ids.has(id) && id !== taken);
    const left = after.filter(({ id, pinned }) => pinned === 0 && id !== made);
    const where = `seed ${seed}, step ${n}`;
    expect(after.filter(({ pinned }) => pinned === 0).length, where).toBeLessThanOrEqual(CAP);
    if (made !== undefined) expect(ids.has(made), where).toBe(true);
    expect(
      gone.filter(({ pinned }) => pinned === 1),
      where,
    ).toEqual([]);
    const least = Math.min(...left.map(({ fades_at }) => fades_at));
    for (const { fades_at } of gone) expect(fades_at, where).toBeLessThanOrEqual(least);
    went += gone.length;
  }
  return went;
}

function suite(name: string, seeds: number[], database: () => Promise<TestDatabase | undefined>) {
  describe(name, () => {
    let world: World;
    let made: TestDatabase | undefined;
    beforeAll(async () => {
      made = await database();
      world = await startWorld([createOrchestrators(), memory], made?.url);
    });
    afterAll(async () => {
      await world.stop();
      await made?.drop();
    });

    it.each(seeds)(
      "holds its bounds and lets the least go first, seed %i",
      async (seed) => {
        expect(await walk(world, seed)).toBeGreaterThan(10);
      },
      30_000,
    );
  });
}

suite("a full shelf on SQLite", [1, 2, 3, 4], async () => undefined);
describe.skipIf(!postgresUrl)("with a server", () => {
  suite("a full shelf on PostgreSQL", [5], createTestDatabase);
});
