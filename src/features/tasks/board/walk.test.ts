/**
 * Random walk over every operation on a board. After every step: no task waits for itself, no task is
 * blocked without an open blocker or a block by hand, and no pending task has an open blocker. To
 * replay a walk, give its seed.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Refusal } from "#base/refusal.ts";
import { createDelegation } from "#features/delegation/index.ts";
import { FakeSessionTree } from "#features/fake-session-tree/index.ts";
import { owner, startWorld } from "#features/testing/index.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import { TASK_STATUSES, type Task } from "../contract.ts";
import { tasks } from "../index.ts";

const MAX_TASKS = 14;

/** mulberry32: small, and the same on every machine. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

class Walk {
  readonly #at: FakeSessionTree;
  readonly #boardId: string;
  readonly #random: () => number;
  #children: string[] = [];
  #known: Task[] = [];
  refused = 0;

  constructor(at: FakeSessionTree, boardId: string, random: () => number) {
    this.#at = at;
    this.#boardId = boardId;
    this.#random = random;
  }

  #pick<T>(from: readonly T[]): T | undefined {
    return from[Math.floor(this.#random() * from.length)];
  }

  #some(): string[] {
    return this.#known.filter(() => this.#random() < 0.2).map(({ id }) => id);
  }

  #call<T>(method: string, path: string, body?: unknown): Promise<T> {
    return this.#at.world.call<T>(owner, method, `/api/sessions/${this.#boardId}${path}`, body);
  }

  async step(): Promise<void> {
    try {
      await this.#act();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.refused += 1;
    }
    for (const turn of await this.#at.arrived()) await turn.end("seen");
    this.#known = (await this.#call<{ items: Task[] }>("GET", "/tasks?limit=200")).items;
    this.#check();
  }

  async #act(): Promise<void> {
    const dice = this.#random();
    const task = this.#pick(this.#known);
    if (!task || (dice < 0.25 && this.#known.length < MAX_TASKS)) {
      const parentTaskId = this.#random() < 0.3 ? (task?.id ?? null) : null;
      const sessionId = this.#pick([null, ...this.#children]);
      await this.#call("POST", "/tasks", {
        title: "t",
        blockedBy: this.#some(),
        parentTaskId,
        sessionId,
      });
      return;
    }
    if (dice < 0.32) return void (await this.#call("DELETE", `/tasks/${task.id}`));
    if (dice < 0.38) return this.#changeFamily();
    await this.#call("PUT", `/tasks/${task.id}`, this.#change());
  }

  #change(): object {
    const status = this.#pick(TASK_STATUSES);
    const reason = status === "blocked" && this.#random() < 0.7 ? { blockedReason: "by hand" } : {};
    const changes = [
      { status, ...reason },
      { blockedBy: this.#some() },
      { status, ...reason, blockedBy: this.#some() },
      { sessionId: this.#pick([null, ...this.#children]) },
      { parentTaskId: this.#pick(this.#known)?.id ?? null },
      { result: "so" },
    ];
    return this.#pick(changes) ?? {};
  }

  async #changeFamily(): Promise<void> {
    if (this.#children.length < 3) {
      this.#children.push(await this.#at.spawn(this.#boardId));
      return;
    }
    const gone = this.#children.shift() as string;
    await this.#at.world.kernel.sessions.archive(owner, gone, true);
  }

  #check(): void {
    const byId = new Map(this.#known.map((task) => [task.id, task]));
    for (const task of this.#known) {
      const { id, status, blockedReason, openBlockers, blockedBy, sessionId } = task;
      const real = blockedBy.filter((blocker) => byId.get(blocker)?.status !== "completed");
      expect(openBlockers, id).toEqual(real);
      expect(status === "blocked", `${id} ${status}`).toBe(
        blockedReason !== null || (real.length > 0 && !BEGUN.has(status)),
      );
      if (sessionId !== null && !SETTLED.has(status)) expect(this.#children).toContain(sessionId);
      if (task.parentTaskId !== null) expect(byId.has(task.parentTaskId), id).toBe(true);
    }
    expect(findAnyCycle(byId, ({ blockedBy }) => blockedBy)).toBeUndefined();
    const parents = ({ parentTaskId }: Task) => (parentTaskId === null ? [] : [parentTaskId]);
    expect(findAnyCycle(byId, parents)).toBeUndefined();
  }
}

const SETTLED = new Set(["completed", "failed"]);
const BEGUN = new Set(["in_progress", ...SETTLED]);

function findAnyCycle(
  byId: ReadonlyMap<string, Task>,
  next: (task: Task) => readonly string[],
): string | undefined {
  const seen = new Map<string, "open" | "done">();
  const visit = (id: string): string | undefined => {
    if (seen.get(id) === "done") return undefined;
    if (seen.get(id) === "open") return id;
    seen.set(id, "open");
    for (const one of next(byId.get(id) as Task)) {
      const found = visit(one);
      if (found !== undefined) return found;
    }
    seen.set(id, "done");
    return undefined;
  };
  for (const id of byId.keys()) {
    const found = visit(id);
    if (found !== undefined) return found;
  }
  return undefined;
}

function walks(
  title: string,
  database: () => Promise<TestDatabase | undefined>,
  { seeds, steps }: { seeds: number; steps: number },
): void {
  describe(title, () => {
    let at: FakeSessionTree;
    let made: TestDatabase | undefined;
    beforeAll(async () => {
      made = await database();
      at = new FakeSessionTree(await startWorld([createDelegation(), tasks], made?.url));
    });
    afterAll(async () => {
      await at.world.stop();
      await made?.drop();
    });

    it.each(Array.from({ length: seeds }, (_, seed) => [seed + 1]))("seed %i", async (seed) => {
      const walk = new Walk(at, await at.parent(), randomFrom(seed));
      for (let step = 0; step < steps; step++) await walk.step();
      expect(walk.refused).toBeLessThan(steps);
      await at.end();
    });
  });
}

walks("a walk over a board on sqlite", async () => undefined, { seeds: 8, steps: 120 });
describe.skipIf(!postgresUrl)("with a server", () => {
  walks("a walk over a board on postgres", () => createTestDatabase(), { seeds: 1, steps: 40 });
});
