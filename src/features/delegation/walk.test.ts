/**
 * Random walk over everything that can happen to parents and children: every ending reaches its
 * parent exactly once, and the parent's own actions are never reported to it. A seed reproduces a
 * walk.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { decideGate, listPendingGates } from "#engine/gates/index.ts";
import { FakeSessionTree } from "#features/fake-session-tree/index.ts";
import { owner, startWorld, type Turn } from "#features/testing/index.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import {
  beginWait,
  childEventOf,
  createDelegation,
  endChild,
  interruptChild,
  messageChild,
  requireChild,
  takePendingEvents,
  wakeText,
} from "./index.ts";

const STEPS = 120;
const MAX_CHILDREN = 6;
const THREADS = ["main", "side"];

/** mulberry32: small and the same on every platform. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface Child {
  id: string;
  thread: string;
  /** Turn that the child works on. */
  turn: Turn | undefined;
  /** Word of the question that the child waits with. */
  asks: string | undefined;
  /** Person or parent that stops its turn; a stop by a person is reported to the parent. */
  stoppedBy: "person" | "parent" | undefined;
  endedBy: "person" | undefined;
  isGone: boolean;
}

class Walk {
  readonly #at: FakeSessionTree;
  readonly #random: () => number;
  readonly #parentId: string;
  readonly #children: Child[] = [];
  readonly #parentTurns = new Map<string, Turn>();
  /** Words that the parent must read once, and words that it must never read. */
  readonly #expected = new Set<string>();
  readonly #forbidden = new Set<string>();
  /** Questions that the parent may have answered before it was notified of them. */
  readonly #open = new Set<string>();
  #delivered = "";
  #words = 0;

  constructor(at: FakeSessionTree, parentId: string, random: () => number) {
    this.#at = at;
    this.#parentId = parentId;
    this.#random = random;
  }

  #pick<T>(from: readonly T[]): T | undefined {
    return from[Math.floor(this.#random() * from.length)];
  }

  #word(): string {
    this.#words += 1;
    return `word-${this.#words}-`;
  }

  async step(): Promise<void> {
    await this.#take();
    const act = this.#pick([
      this.#spawn,
      this.#end,
      this.#end,
      this.#ask,
      this.#notify,
      this.#answer,
      this.#speak,
      this.#stop,
      this.#release,
      this.#endSession,
      this.#parentTurn,
      this.#parentTurn,
      this.#withdraw,
      this.#read,
      this.#wait,
      this.#parentAway,
      this.#parentBack,
    ]);
    await act?.call(this);
    await this.#take();
  }

  /** Takes the turns that runners received meanwhile. */
  async #take(): Promise<void> {
    for (const turn of await this.#at.arrived()) {
      const { sessionId, thread, content } = turn.assignment;
      if (sessionId === this.#parentId) {
        this.#parentTurns.set(thread, turn);
        if (turn.assignment.attempt === 1) this.#delivered += `${content}\n`;
        continue;
      }
      const child = this.#children.find(({ id }) => id === sessionId);
      if (child) child.turn = turn;
    }
  }

  get #lifecycle() {
    return this.#at.session(this.#parentId).then(({ lifecycle }) => lifecycle);
  }

  #live(filter: (child: Child) => boolean): Child | undefined {
    return this.#pick(this.#children.filter((child) => !child.isGone && filter(child)));
  }

  async #spawn(): Promise<void> {
    const live = this.#children.filter(({ isGone }) => !isGone);
    if (live.length >= MAX_CHILDREN || (await this.#lifecycle) !== "active") return;
    const thread = this.#pick(THREADS) ?? "main";
    const id = await this.#at.spawn(this.#parentId, { thread });
    const rest = {
      turn: undefined,
      asks: undefined,
      stoppedBy: undefined,
      endedBy: undefined,
      isGone: false,
    };
    this.#children.push({ id, thread, ...rest });
  }

  async #end(): Promise<void> {
    const child = this.#live(({ turn }) => turn !== undefined);
    if (child) await this.#settle(child);
  }

  async #settle(child: Child): Promise<void> {
    const { turn, stoppedBy, isGone } = child;
    if (!turn) return;
    const word = this.#word();
    const error = (code: string) =>
      ({ outcome: "failed", error: { code, message: word } }) as const;
    child.turn = undefined;
    child.stoppedBy = undefined;
    // A turn that ends before the stop reaches it is reported, whoever stopped it.
    const isStopped = isGone || (stoppedBy !== undefined && this.#random() < 0.7);
    if (isStopped) {
      // A turn that a person stopped is reported, even if its session ends with it.
      const isPersons = isGone ? child.endedBy === "person" : stoppedBy === "person";
      const isReported = isPersons && stoppedBy !== "parent";
      (isReported ? this.#expected : this.#forbidden).add(word);
      return this.#at.settle(turn, { outcome: "aborted", result: word });
    }
    this.#expected.add(word);
    const ending = this.#pick([
      { outcome: "completed", result: word } as const,
      { outcome: "completed", result: word } as const,
      error("turn_limit"),
      error("model_unavailable"),
      error("attempts_exhausted"),
    ]);
    await this.#at.settle(turn, ending ?? { outcome: "completed", result: word });
  }

  async #ask(): Promise<void> {
    const child = this.#live(({ turn, stoppedBy }) => turn !== undefined && !stoppedBy);
    // A resumed turn has asked before.
    if (!child?.turn || child.turn.assignment.decisions.length > 0) return;
    const word = this.#word();
    this.#expected.add(word);
    child.asks = word;
    const { turn } = child;
    child.turn = undefined;
    await this.#at.ask(turn, word);
  }

  async #notify(): Promise<void> {
    const child = this.#live(({ turn }) => turn !== undefined);
    if (!child?.turn) return;
    const word = this.#word();
    const { error } = await child.turn.tool("notify_parent", { message: word });
    if (error === null) this.#expected.add(word);
  }

  async #answer(): Promise<void> {
    const child = this.#live(({ asks }) => asks !== undefined);
    if (!child?.asks) return;
    const word = child.asks;
    child.asks = undefined;
    if (this.#random() < 0.5) {
      await this.#asParent(child, (work, { parent, hands }) =>
        messageChild(work, parent, hands.child, "yes", "followup"),
      );
      this.#expected.delete(word);
      this.#open.add(word);
      return;
    }
    await this.#at.act(child.id, async (work) => {
      const [gate] = await listPendingGates(work.tx, child.id);
      const decision = { allowed: true, reason: null, answers: ["yes"], scope: "once" as const };
      await decideGate(work, gate?.id ?? "", decision, "user:usr_1");
    });
  }

  /** A person or the parent sends another prompt, queued behind a running turn or in its place. */
  async #speak(): Promise<void> {
    const child = this.#live(({ asks, stoppedBy }) => asks === undefined && !stoppedBy);
    if (!child) return;
    const isCut = child.turn !== undefined && this.#random() < 0.4;
    if (!isCut) return void (await this.#at.sendPrompt(child.id, "more"));
    const mode = this.#random() < 0.5 ? "steer" : "interrupt";
    await this.#asParent(child, (work, { parent, hands }) =>
      messageChild(work, parent, hands.child, "not so", mode),
    );
    child.stoppedBy = "parent";
    await this.#settle(child);
  }

  async #stop(): Promise<void> {
    const child = this.#live(({ turn, stoppedBy }) => turn !== undefined && !stoppedBy);
    if (!child) return;
    if (this.#random() < 0.5) {
      const promptId = child.turn?.assignment.promptId;
      await this.#at.world.kernel.sessions.stop(owner, child.id, promptId);
      child.stoppedBy = "person";
      return;
    }
    // A turn that started right after a stopped one is left out.
    let isMeant = false;
    await this.#asParent(child, async (work, { hands }) => {
      isMeant = await interruptChild(work, hands.child, hands.link);
    });
    if (isMeant) child.stoppedBy = "parent";
  }

  /** Releases a turn's runner; another attempt continues. */
  async #release(): Promise<void> {
    const child = this.#live(({ turn, stoppedBy }) => turn !== undefined && !stoppedBy);
    if (!child?.turn) return;
    const { turn } = child;
    child.turn = undefined;
    await turn.release();
  }

  async #endSession(): Promise<void> {
    const child = this.#live(() => this.#random() < 0.3);
    if (!child) return;
    child.isGone = true;
    if (this.#random() < 0.5) {
      child.endedBy = "person";
      await this.#at.world.kernel.sessions.archive(owner, child.id, true);
      this.#expected.add(`worker.deleted: "counter" (${child.id})`);
    } else {
      this.#forbidden.add(`worker.deleted: "counter" (${child.id})`);
      await this.#asParent(child, (work, { hands }) =>
        endChild(work, hands.child, hands.link, "terminated"),
      );
    }
    await this.#settle(child);
  }

  async #parentTurn(): Promise<void> {
    const thread = this.#pick(THREADS) ?? "main";
    const turn = this.#parentTurns.get(thread);
    if (turn) {
      this.#parentTurns.delete(thread);
      return this.#at.settle(turn, { outcome: "completed", result: "ok" });
    }
    const lifecycle = await this.#lifecycle;
    if (lifecycle === "active" || lifecycle === "hibernated")
      await this.#at.sendPrompt(this.#parentId, "hello", thread);
  }

  async #withdraw(): Promise<void> {
    const queued = (await this.#at.wakes(this.#parentId)).find(({ state }) => state === "queued");
    if (queued)
      await this.#at.world.kernel.prompts.withdraw(owner, queued.id).catch(() => undefined);
  }

  async #read(): Promise<void> {
    const [thread] = this.#pick([...this.#parentTurns]) ?? [];
    if (thread !== undefined) await this.#readAll(thread);
  }

  async #readAll(thread: string): Promise<void> {
    const rows = await this.#at.act(this.#parentId, (work, parent) =>
      takePendingEvents(work, parent, thread),
    );
    this.#delivered += `${wakeText(rows.map(childEventOf))}\n`;
  }

  async #wait(): Promise<void> {
    const [thread, turn] = this.#pick([...this.#parentTurns]) ?? [];
    if (thread === undefined || !turn) return;
    const some = this.#live((child) => child.thread === thread);
    const children = some && this.#random() < 0.5 ? [some.id] : null;
    await this.#readAll(thread);
    await this.#at.act(this.#parentId, (work, parent) =>
      beginWait(work, parent, {
        thread,
        promptId: turn.assignment.promptId,
        children,
        timeoutMs: null,
      }),
    );
    this.#parentTurns.delete(thread);
    await this.#at.settle(turn, { outcome: "completed", result: "waiting" });
  }

  async #parentAway(): Promise<void> {
    if ((await this.#lifecycle) !== "active" || this.#random() < 0.5) return;
    const { sessions } = this.#at.world.kernel;
    const to = this.#pick(["hibernated", "archived", "terminated"] as const);
    if (to === "hibernated")
      return void (await sessions.hibernate(owner, this.#parentId).catch(() => {}));
    if (to === "archived") await sessions.archive(owner, this.#parentId, true);
    else await this.#at.terminateAlone(this.#parentId);
    await this.#take();
    for (const turn of this.#parentTurns.values())
      await this.#at.settle(turn, { outcome: "aborted" });
    this.#parentTurns.clear();
  }

  #parentBack(): Promise<void> {
    return this.#at.revive(this.#parentId);
  }

  #asParent(
    { id }: Child,
    act: (
      work: Parameters<typeof requireChild>[0],
      seen: {
        parent: Parameters<typeof messageChild>[1];
        hands: Awaited<ReturnType<typeof requireChild>>;
      },
    ) => Promise<unknown>,
  ): Promise<unknown> {
    return this.#at.act(this.#parentId, async (work, parent) => {
      const hands = await requireChild(work, this.#parentId, id);
      return act(work, { parent, hands });
    });
  }

  /** Brings everybody back, ends everything, and lets the parent read what was not delivered. */
  async finish(): Promise<void> {
    await this.#parentBack();
    for (let round = 0; round < 200 && (await this.#isMoving()); round += 1) {
      await this.#take();
      for (const child of this.#children) await this.#settle(child);
      for (const [thread, turn] of this.#parentTurns) {
        this.#parentTurns.delete(thread);
        await this.#at.settle(turn, { outcome: "completed", result: "ok" });
      }
    }
    for (const thread of THREADS) await this.#readAll(thread);
  }

  async #isMoving(): Promise<boolean> {
    for (const id of [this.#parentId, ...this.#children.map((child) => child.id)]) {
      const row = await this.#at.row(id);
      if (row && row.run_state !== null && row.run_state !== "gated") return true;
    }
    return false;
  }

  check(): void {
    const times = (word: string) => this.#delivered.split(word).length - 1;
    const wrong = [
      ...[...this.#expected].filter((word) => times(word) !== 1),
      ...[...this.#forbidden].filter((word) => times(word) !== 0),
      ...[...this.#open].filter((word) => times(word) > 1),
    ];
    expect(wrong.map((word) => `${word} × ${times(word)}`)).toEqual([]);
    expect(this.#expected.size).toBeGreaterThan(0);
  }
}

function suite(title: string, seeds: number, database: () => Promise<TestDatabase | undefined>) {
  describe(title, () => {
    let at: FakeSessionTree;
    let made: TestDatabase | undefined;
    beforeAll(async () => {
      made = await database();
      at = new FakeSessionTree(await startWorld([createDelegation()], made?.url));
    });
    afterAll(async () => {
      await at.world.stop();
      await made?.drop();
    });

    it.each(Array.from({ length: seeds }, (_, index) => index + 1))("seed %i", async (seed) => {
      const walk = new Walk(at, await at.parent(), randomFrom(seed));
      for (let step = 0; step < STEPS; step += 1) await walk.step();
      await walk.finish();
      walk.check();
      await at.end();
    });
  });
}

suite("a walk on sqlite", 12, async () => undefined);
describe.skipIf(!postgresUrl)("with a server", () => {
  suite("a walk on postgres", 3, () => createTestDatabase());
});
