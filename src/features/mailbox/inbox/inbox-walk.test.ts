/**
 * Random walk over everything that several people can do with messages. After every step each inbox
 * count matches its rows, every message is in exactly one folder, and nobody sees another person's
 * messages. A seed reproduces a walk.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Refusal } from "#base/refusal.ts";
import { command } from "#engine/index.ts";
import { runDueTimers } from "#engine/timers/index.ts";
import { createDelegation } from "#features/delegation/index.ts";
import { createOrchestrators } from "#features/orchestrators/index.ts";
import { member, startWorld, type User, type World } from "#features/testing/index.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import { type MailMessage, MESSAGE_TYPES } from "../contract.ts";
import { createMailbox } from "../index.ts";
import { writeMessage } from "../sending/write-message.ts";
import { SNOOZE_TIMER } from "./change-message.ts";
import { endSnooze } from "./snooze.ts";

const HOUR_MS = 60 * 60_000;

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

class Walk {
  readonly #world: World;
  readonly #random: () => number;
  readonly #people: User[];
  /** Sender, recipient and thread of each message. */
  readonly #messages = new Map<string, { to: User; from: User; threadId: string }>();

  constructor(world: World, seed: number) {
    this.#world = world;
    this.#random = randomFrom(seed);
    this.#people = [1, 2, 3].map((n) => ({
      ...member,
      userId: `usr_w${seed}x${n}`,
      name: `p${n}`,
    }));
  }

  #pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.#random() * from.length)] as T;
  }

  #call<T>(who: User, method: string, path: string, body?: unknown): Promise<T> {
    return this.#world.call<T>(who, method, `/api/me/inbox${path}`, body);
  }

  /** Runs several actions at once, some on the same message. */
  async step(): Promise<void> {
    const width = 1 + Math.floor(this.#random() * 3);
    const acts = Array.from({ length: width }, () => this.#choose());
    const ends = await Promise.allSettled(acts.map((act) => act()));
    for (const end of ends)
      if (end.status === "rejected" && !(end.reason instanceof Refusal)) throw end.reason;
  }

  #choose(): () => Promise<unknown> {
    const known = [...this.#messages.keys()];
    const who = this.#pick(this.#people);
    if (known.length < 3 || this.#random() < 0.3) return this.#write(who);
    // Sometimes another person tries.
    const id = this.#pick(known);
    const to = this.#random() < 0.8 ? (this.#messages.get(id)?.to ?? who) : who;
    const { engine } = this.#world.kernel;
    const soon = new Date(engine.clock.now() + HOUR_MS).toISOString();
    const change = this.#pick([
      { read: true },
      { read: false },
      { archived: true },
      { archived: false },
      { snoozedUntil: soon },
      { snoozedUntil: null },
      { archived: true, read: false },
      { snoozedUntil: soon, read: true },
    ]);
    return this.#pick([
      () => this.#call(to, "PATCH", `/${id}`, change),
      () => this.#call(to, "PATCH", `/${id}`, change),
      () => this.#call(to, "PUT", `/${id}/read`),
      () => this.#call(to, "GET", `/threads/${this.#messages.get(id)?.threadId}`),
      () => this.#call(to, "PUT", this.#random() < 0.5 ? "/read-all" : "/read-non-actionable"),
      () => runDueTimers(engine, { [SNOOZE_TIMER]: endSnooze }, engine.clock.now() + 2 * HOUR_MS),
    ]);
  }

  #write(to: User): () => Promise<unknown> {
    const from = this.#pick(this.#people);
    const type = this.#pick(MESSAGE_TYPES);
    const earlier = this.#pick([...this.#messages.entries(), undefined]);
    const replyTo = earlier && { id: earlier[0], thread_id: earlier[1].threadId };
    const side = (user: User) => ({
      kind: "user" as const,
      id: user.userId,
      ownerId: user.userId,
      name: user.name,
    });
    return async () => {
      const row = await command(this.#world.kernel.engine, (work) =>
        writeMessage(work, {
          orgId: to.orgId,
          from: side(from),
          to: side(to),
          type,
          content: "words",
          replyTo,
        }),
      );
      this.#messages.set(row.id, { to, from, threadId: row.thread_id });
    };
  }

  async #box(who: User, query: string): Promise<MailMessage[]> {
    const { items } = await this.#call<{ items: MailMessage[] }>(who, "GET", `?limit=200&${query}`);
    return items;
  }

  async check(): Promise<void> {
    for (const who of this.#people) {
      const { count } = await this.#call<{ count: number }>(who, "GET", "/count");
      const inbox = await this.#box(who, "box=inbox");
      expect(inbox.filter(({ read }) => !read)).toHaveLength(count);
      expect(await this.#box(who, "unreadOnly=true")).toHaveLength(count);
      const snoozed = await this.#box(who, "box=snoozed");
      const archived = await this.#box(who, "box=archived");
      const boxed = [...inbox, ...snoozed, ...archived].map(({ id }) => id).sort();
      const all = (await this.#box(who, "box=all")).map(({ id }) => id).sort();
      const theirs = [...this.#messages].filter(([, { to }]) => to === who).map(([id]) => id);
      expect(boxed).toEqual(all);
      expect(all).toEqual(theirs.sort());
    }
  }

  /** Everybody sees exactly the messages of a thread that they sent or received. */
  async checkThreads(): Promise<void> {
    const threads = new Set([...this.#messages.values()].map(({ threadId }) => threadId));
    for (const threadId of threads)
      for (const who of this.#people) {
        const theirs = [...this.#messages]
          .filter(([, { to, from }]) => to === who || from === who)
          .filter(([, message]) => message.threadId === threadId)
          .map(([id]) => id);
        const seen = await this.#call<{ items: MailMessage[] }>(
          who,
          "GET",
          `/threads/${threadId}`,
        ).catch(() => ({ items: [] }));
        expect(seen.items.map(({ id }) => id).sort()).toEqual(theirs.sort());
      }
  }
}

function suite(title: string, database: () => Promise<TestDatabase | undefined>, seeds: number[]) {
  describe(title, () => {
    let world: World;
    let made: TestDatabase | undefined;
    beforeAll(async () => {
      made = await database();
      const features = [createDelegation(), createOrchestrators(), createMailbox()];
      world = await startWorld(features, made?.url);
    });
    afterAll(async () => {
      await world.stop();
      await made?.drop();
    });

    it.each(seeds)("counts what is there after every step, seed %i", async (seed) => {
      const walk = new Walk(world, seed);
      for (let step = 0; step < 60; step++) {
        await walk.step();
        if (!made) world.clock.advance(1_000);
        await walk.check();
      }
      await walk.checkThreads();
      await walk.check();
    });
  });
}

suite("a walk over messages on sqlite", async () => undefined, [1, 2, 3, 4, 5]);
describe.skipIf(!postgresUrl)("with a server", () => {
  suite("a walk over messages on postgres", () => createTestDatabase(), [1, 2]);
});
