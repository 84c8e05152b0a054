/**
 * Random walk over everything that can happen to messages and their recipients: every message is
 * read by its agent exactly once, waits, or has visibly failed. A seed reproduces a walk.
 */
import { describe, expect, it } from "vitest";
import { Refusal } from "#base/refusal.ts";
import type { Turn, User } from "#features/testing/index.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import { FakeOffice, idOf } from "../sending/fake-office.ts";

const TYPES = ["message", "notification", "question", "escalation", "approval"] as const;
const THREADS = ["main", "side"];
const MAX_CHILDREN = 4;

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

interface Known {
  id: string;
  owner: User;
}

class Walk {
  readonly #office: FakeOffice;
  readonly #random: () => number;
  readonly #people: readonly User[];
  #sessions: Known[];
  #turns: Turn[] = [];
  readonly #messages: { id: string; word: string }[] = [];
  /** All text that agents have read. */
  #read = "";

  constructor(office: FakeOffice, people: readonly User[], random: () => number) {
    this.#office = office;
    this.#people = people;
    this.#random = random;
    this.#sessions = people.map((owner) => ({ id: idOf(owner), owner }));
  }

  #pick<T>(from: readonly T[]): T | undefined {
    return from[Math.floor(this.#random() * from.length)];
  }

  /** Gives everybody children and a first prompt. */
  async begin(): Promise<void> {
    for (const lead of this.#people)
      for (let n = 0; n < 2; n++)
        this.#sessions.push({ id: await this.#office.at.spawn(idOf(lead)), owner: lead });
    for (const { id, owner } of this.#sessions) await this.#office.say(owner, id);
    await this.#take();
  }

  async step(): Promise<void> {
    const act = this.#pick([
      this.#agentWrites,
      this.#agentWrites,
      this.#agentWrites,
      this.#agentWrites,
      this.#agentWrites,
      this.#personWrites,
      this.#personWrites,
      this.#answer,
      this.#answer,
      this.#answer,
      this.#look,
      this.#endTurn,
      this.#endTurn,
      this.#speak,
      this.#stopTurn,
      this.#release,
      this.#sleep,
      this.#putAway,
      this.#wake,
      this.#spawn,
      this.#end,
      this.#withdraw,
      this.#markRead,
      this.#wait,
    ]);
    try {
      await act?.call(this);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
    }
    await this.#take();
  }

  /** Takes the turns that runners received meanwhile. */
  async #take(): Promise<void> {
    for (const turn of await this.#office.at.arrived()) {
      this.#turns.push(turn);
      if (turn.assignment.attempt === 1) this.#read += `${turn.assignment.content}\n`;
    }
  }

  #mail(): { content: string; messageType: (typeof TYPES)[number] } {
    const word = `word-${this.#messages.length + 1}-`;
    return { content: word, messageType: this.#pick(TYPES) ?? "message" };
  }

  async #agentWrites(): Promise<void> {
    const to = this.#pick([...this.#sessions.map(({ id }) => id), "orchestrator"]);
    await this.#write(this.#pick(this.#turns), { to });
  }

  async #answer(): Promise<void> {
    const message = this.#pick(this.#messages.slice(-8));
    const to = message && (await this.#office.message(message.id)).to_session_id;
    const turn = this.#turns.find(({ assignment }) => assignment.sessionId === to);
    await this.#write(turn, { replyToId: message?.id });
  }

  async #write(turn: Turn | undefined, aim: object): Promise<void> {
    const mail = this.#mail();
    const answer = await turn?.tool("mailbox_send", { ...aim, ...mail });
    const { messageId } = (answer?.output ?? {}) as { messageId?: string };
    if (messageId) this.#messages.push({ id: messageId, word: mail.content });
  }

  async #personWrites(): Promise<void> {
    const mail = this.#mail();
    const [from, to] = [this.#pick(this.#people), this.#pick(this.#sessions)];
    if (!from || !to) return;
    const { id } = await this.#office.send(from, { to: to.id, ...mail });
    this.#messages.push({ id, word: mail.content });
  }

  async #look(): Promise<void> {
    const answer = await this.#pick(this.#turns)?.tool("mailbox_check", {});
    const { messages = [] } = (answer?.output ?? {}) as { messages?: string[] };
    this.#read += messages.join("\n");
  }

  #drop(turn: Turn): void {
    this.#turns = this.#turns.filter((one) => one !== turn);
  }

  async #endTurn(): Promise<void> {
    const turn = this.#pick(this.#turns);
    if (!turn) return;
    this.#drop(turn);
    const outcome = this.#random() < 0.8 ? "completed" : "failed";
    const error = outcome === "failed" ? { error: { code: "x", message: "x" } } : {};
    await turn.journal([], { settle: { outcome, ...error } as never }).catch(() => {});
  }

  async #speak(): Promise<void> {
    const session = this.#pick(this.#sessions);
    if (!session) return;
    const mode = this.#pick(["followup", "followup", "steer", "collect"] as const);
    const thread = this.#pick(THREADS) ?? "main";
    const request = { content: "say", mode, thread, attachments: [] };
    await this.#office.world.kernel.prompts.admit(session.owner, session.id, request);
  }

  async #stopTurn(): Promise<void> {
    const session = this.#pick(this.#sessions);
    if (session) await this.#office.world.kernel.sessions.stop(session.owner, session.id);
  }

  /** Releases a turn's runner; another one continues the turn. */
  async #release(): Promise<void> {
    const turn = this.#pick(this.#turns);
    if (!turn) return;
    this.#drop(turn);
    await turn.release();
  }

  async #sleep(): Promise<void> {
    const session = this.#pick(this.#sessions);
    if (session) await this.#office.sleep(session.owner, session.id);
  }

  async #putAway(): Promise<void> {
    const session = this.#pick(this.#sessions);
    if (session && this.#random() < 0.5)
      await this.#office.world.kernel.sessions.archive(session.owner, session.id, true);
  }

  async #wake(): Promise<void> {
    const session = this.#pick(this.#sessions);
    if (session) await this.#office.world.kernel.sessions.wake(session.owner, session.id);
  }

  async #spawn(): Promise<void> {
    const lead = this.#pick(this.#people);
    const own = this.#sessions.filter(({ owner }) => owner === lead);
    if (!lead || own.length > MAX_CHILDREN) return;
    this.#sessions.push({ id: await this.#office.at.spawn(idOf(lead)), owner: lead });
  }

  /** Ends a session for good; an orchestrator returns when somebody writes to it. */
  async #end(): Promise<void> {
    const session = this.#pick(this.#sessions);
    if (!session || this.#random() < 0.6) return;
    await this.#office.world.kernel.sessions.terminate(session.owner, session.id);
    const lives = async ({ id }: Known) =>
      id.startsWith("orchestrator:") || (await this.#office.lifecycle(id)) !== "terminated";
    const left: Known[] = [];
    for (const one of this.#sessions) if (await lives(one)) left.push(one);
    this.#sessions = left;
  }

  async #withdraw(): Promise<void> {
    const message = this.#pick(this.#messages.slice(-10));
    const row = message && (await this.#office.message(message.id));
    const owner = this.#people.find(({ userId }) => userId === row?.to_owner_id);
    if (owner && row?.prompt_id)
      await this.#office.world.kernel.prompts.withdraw(owner, row.prompt_id);
  }

  async #markRead(): Promise<void> {
    const session = this.#pick(this.#sessions);
    if (session && this.#random() < 0.3)
      await this.#office.world.call(
        session.owner,
        "PUT",
        `/api/sessions/${session.id}/messages/read`,
        {},
      );
  }

  async #wait(): Promise<void> {
    const turn = this.#pick(this.#turns);
    const answer = await turn?.tool("wait_for_event", { timeoutSeconds: 3_600 });
    if (!turn || !answer?.endsTurn) return;
    this.#drop(turn);
    await turn.end("").catch(() => {});
  }

  /** Compares each row with the number of times that its agent has read the message. */
  async check(isOver = false): Promise<Record<string, number>> {
    const fates: Record<string, number> = { delivered: 0, waiting: 0, failed: 0 };
    for (const { id, word } of this.#messages) {
      const { fate, fate_reason, to_user_id } = await this.#office.message(id);
      if (to_user_id !== null) continue;
      fates[fate] = (fates[fate] ?? 0) + 1;
      const times = await this.#timesRead(word, fate === "delivered");
      expect([id, fate, times]).toEqual([id, fate, fate === "delivered" ? 1 : 0]);
      if (fate === "failed")
        expect(["recipient_ended", "read_by_owner", "hop_limit"]).toContain(fate_reason);
      if (isOver) expect([id, fate]).not.toEqual([id, "waiting"]);
    }
    return fates;
  }

  /**
   * Takes turns until a delivered message is read, because its turn may only just have started. A
   * message that never arrives still fails the check.
   */
  async #timesRead(word: string, isDelivered: boolean): Promise<number> {
    const count = () => this.#read.split(word).length - 1;
    for (let looks = 0; isDelivered && count() === 0 && looks < 50; looks++) await this.#take();
    return count();
  }

  /** Wakes everybody and lets them read until nothing is left. */
  async drain(): Promise<void> {
    const { sessions } = this.#office.world.kernel;
    const threads = [...THREADS, ...this.#people.map(({ userId }) => `mail:${userId}`)];
    for (const { id, owner } of this.#sessions) {
      await sessions.wake(owner, id).catch(() => {});
      // Collected prompts run before the new one.
      for (const thread of threads) await this.#office.say(owner, id, "anything?", thread);
      await this.#take();
    }
    await this.#workOff();
    // Messages whose prompt somebody withdrew are delivered when the agent is active again.
    for (const { id, owner } of this.#sessions) {
      await sessions.hibernate(owner, id);
      await sessions.wake(owner, id);
    }
    await this.#workOff();
  }

  async #workOff(): Promise<void> {
    for (let quiet = 0; quiet < 2; ) {
      await this.#take();
      quiet = this.#turns.length === 0 ? quiet + 1 : 0;
      for (const turn of this.#turns.splice(0)) await turn.end("").catch(() => {});
    }
  }
}

function suite(title: string, seeds: readonly number[], steps: number, database: Database): void {
  describe(title, () => {
    it.each(seeds)("reaches everybody once, seed %i", { timeout: 120_000 }, async (seed) => {
      const made = await database();
      const office = await FakeOffice.open({ url: made?.url, limits: { unattendedTurns: 40 } });
      try {
        const people = [await office.person("Ann"), await office.person("Bob")];
        for (const who of people) await office.accept(who, "org");
        const collect = { queueMode: "collect" };
        await office.world.call(people[0] as User, "PATCH", "/api/me/preferences", collect);
        const walk = new Walk(office, people, randomFrom(seed));
        await walk.begin();
        for (let step = 0; step < steps; step++) {
          await walk.step();
          if (step % 10 === 0) await walk.check();
        }
        await walk.drain();
        expect((await walk.check(true)).delivered).toBeGreaterThan(4);
      } finally {
        await office.world.stop();
        await made?.drop();
      }
    });
  });
}

type Database = () => Promise<TestDatabase | undefined>;

suite("messages on a random walk, on SQLite", [1, 2, 3, 4, 5, 6], 200, async () => undefined);
describe.skipIf(!postgresUrl)("with a server", () => {
  suite("messages on a random walk, on PostgreSQL", [7], 100, createTestDatabase);
});
