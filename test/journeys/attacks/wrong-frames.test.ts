/**
 * A member's own runner sends every kind of frame, wrong in every field, on each database: wrong
 * types, huge and negative numbers, and ids of someone else's run, session, prompt, runner and
 * blob. Another member works beside it and must not notice.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { WebSocket } from "ws";
import type { Assignment } from "#protocol/frames.ts";
import { runnerFrameSchema, type ServerFrame } from "#protocol/frames.ts";
import type { Session } from "#protocol/sessions.ts";
import { type Browser, join, openSocket } from "#test/clients/people.ts";
import { connectRunner, type RawRunner } from "#test/clients/raw-runner.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import { type Frame, rightFrames, wrongCopies } from "./wrong-frames.ts";

const SECRET = "the salaries of everybody";
/** A blob of the victim, as it is sent. */
const SECRET_DATA = Buffer.from("a picture of the salaries").toString("base64");
const PATIENT = { timeout: 30_000, interval: 50 };
/** Entries that the victim wrote to its log; anything else was written by the attacker. */
const OWN_TEXT = /^victim \d+$/;

interface Turn {
  session: string;
  turn: Assignment;
}

/** A socket that sends frames unchanged and reconnects when it is cut off. */
class Attacker {
  readonly heard: string[] = [];
  readonly answers = new Map<string, ServerFrame>();
  readonly assigned: Assignment[] = [];
  #socket: WebSocket | undefined;
  readonly #platform: Platform;
  readonly #token: string;

  readonly #name: string;

  constructor(platform: Platform, token: string, name: string) {
    this.#platform = platform;
    this.#token = token;
    this.#name = name;
  }

  async send(frame: object): Promise<void> {
    if (this.#socket?.readyState !== 1) await this.open();
    this.#socket?.send(JSON.stringify(frame));
  }

  /**
   * Sends a frame on its own connection, which ends with the answer. A connection has one register
   * frame, and it is the first.
   */
  async sendFirst(frame: object): Promise<void> {
    const headers = { authorization: `Bearer ${this.#token}` };
    const socket = await openSocket(this.#platform, "/api/runners/connect", headers);
    socket.on("error", () => {});
    const answered = new Promise((resolve) => {
      socket.once("message", resolve);
      socket.once("close", resolve);
    });
    socket.on("message", (data) => this.#hear(String(data)));
    socket.send(JSON.stringify(frame));
    await answered;
    socket.terminate();
  }

  /**
   * Sends a frame alone that has no answer and may cut the connection, so that no other answer is
   * lost.
   */
  async sendAlone(frame: object, asked: readonly string[]): Promise<void> {
    const isAnswered = (id: string) => this.answers.has(id);
    await expect.poll(() => asked.every(isAnswered), PATIENT).toBe(true);
    await this.send(frame);
    const id = `after ${this.heard.length}`;
    const socket = this.#socket;
    await this.send({ op: "sessions", id, sessions: [] });
    await expect.poll(() => isAnswered(id) || socket?.readyState !== 1, PATIENT).toBe(true);
  }

  close(): void {
    this.#socket?.terminate();
  }

  async open(): Promise<void> {
    const headers = { authorization: `Bearer ${this.#token}` };
    const socket = await openSocket(this.#platform, "/api/runners/connect", headers);
    this.#socket = socket;
    socket.on("error", () => {});
    // A real runner also waits for this answer before it sends anything else.
    const answered = new Promise((resolve) => {
      socket.once("message", resolve);
      socket.once("close", resolve);
    });
    socket.on("message", (data) => this.#hear(String(data)));
    const { run, fence } = this.assigned.at(-1) ?? {};
    const holding = run === undefined ? [] : [{ run, fence }];
    const profile = profileOf(this.#name);
    const base = { op: "register", id: "open", protocol: 1, bootId: `boot_${this.#name}` };
    socket.send(JSON.stringify({ ...base, profile, holding }));
    await answered;
  }

  #hear(text: string): void {
    this.heard.push(text);
    const frame = JSON.parse(text) as ServerFrame & { id?: string };
    if (frame.op === "assign") this.assigned.push(frame.assignment);
    if (typeof frame.id === "string") this.answers.set(frame.id, frame);
  }

  async #sendOne(right: Frame, copy: Frame, before: readonly string[] | undefined): Promise<void> {
    if (right.op === "register") await this.sendFirst(copy);
    else if (before && right.id !== undefined) await this.sendAlone(copy, before);
    else await this.send(copy);
  }

  /** Repeats the frame, then sends an older one. */
  async #repeat(copy: Frame, right: Frame): Promise<void> {
    await this.send(copy);
    await this.send(right);
  }

  /** Sends a frame wrong in every field. Returns the ids of the answers. */
  async sendWrong(right: Frame, foreign: readonly unknown[], pause: () => Promise<void>) {
    const asked: string[] = [];
    let count = 0;
    for (const copy of wrongCopies(right, foreign)) {
      count += 1;
      const id = `${right.op} ${count} ${this.heard.length}`;
      // The id itself is wrong in some copies; all others must be answered.
      const isAnswered = right.id !== undefined && copy.id === right.id;
      if (isAnswered) copy.id = id;
      await this.#sendOne(right, copy, isAnswered ? undefined : asked);
      if (right.op === "register") continue;
      if (isAnswered) asked.push(id);
      if (count % 50 === 0) await this.#repeat(copy, right);
      if (count % 200 === 0) await pause();
    }
    await expect.poll(() => asked.filter((id) => !this.answers.has(id)), PATIENT).toEqual([]);
    return asked;
  }
}

function story(name: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(name, () => {
    let platform: Platform;
    let made: TestDatabase | undefined;
    const logLines: string[] = [];
    const rejections: unknown[] = [];
    const onRejection = (error: unknown) => rejections.push(error);
    let ann: Browser;
    let ben: Browser;
    let benRunner: RawRunner;
    let victim: Turn;
    let foreign: unknown[];
    const attackers: Attacker[] = [];
    let ordinal = 0;
    let renewals: NodeJS.Timeout;

    beforeAll(async () => {
      process.on("unhandledRejection", onRejection);
      made = await database();
      platform = await startPlatform({
        runner: false,
        logLines,
        env: made ? { MUSTER_DATABASE_URL: made.url } : {},
      });
      ann = await join(platform, "Ann");
      ben = await join(platform, "Ben");
      benRunner = await connectRunner(platform, await tokenOf(ben, "ben"), "ben");
    });
    afterAll(async () => {
      clearInterval(renewals);
      process.off("unhandledRejection", onRejection);
      for (const attacker of attackers) attacker.close();
      benRunner.socket.terminate();
      await platform.stop();
      await made?.drop();
    });

    const newTurn = async (person: Browser, prompt: string): Promise<string> => {
      const fields = { runtime: "native", model: "lab/small", prompt };
      const { body } = await person.request<{ session: Session }>("POST", "/api/sessions", fields);
      return body.session.id;
    };
    /** The victim continues its turn and is told that its journal was written. */
    const works = async () => {
      const { run, fence } = victim.turn;
      const firstOrdinal = ++ordinal;
      const text = `victim ${ordinal}`;
      const items = [{ type: "message", entryId: `v${ordinal}`, kind: "text", text }];
      const answer = await benRunner.ask({ op: "journal", run, fence, firstOrdinal, items });
      expect(answer).toMatchObject({ op: "journaled", lastOrdinal: ordinal });
      expect((await ben.request("GET", `/api/sessions/${victim.session}`)).status).toBe(200);
    };

    it("has an example of every kind of frame in the schema", async () => {
      const kinds = new Set<string>(runnerFrameSchema.options.map(({ shape }) => shape.op.value));
      for (const frame of rightFrames()) {
        const parsed = runnerFrameSchema.safeParse({ ...frame, id: "1" });
        expect([frame.op, parsed.error?.issues]).toEqual([frame.op, undefined]);
        kinds.delete(frame.op);
      }
      expect([...kinds]).toEqual([]);
      victim = { session: await newTurn(ben, SECRET), turn: await benRunner.assigned() };
      const { run, fence, sessionId, promptId } = victim.turn;
      const kept = await benRunner.ask({
        ...{ op: "blob", run, fence, mediaType: "text/plain", data: SECRET_DATA },
      });
      const { sha256 } = kept as Extract<ServerFrame, { op: "blob" }>;
      const { body } = await ben.request<{ items: { id: string }[] }>("GET", "/api/runners");
      const runnerIds = body.items.map(({ id }) => id);
      expect([sha256.length, runnerIds.length]).toEqual([64, 1]);
      foreign = [run, fence, sessionId, promptId, sha256, ...runnerIds, [{ run, fence }]];
      renewals = setInterval(() => {
        benRunner.send({ op: "renew", id: "renew", runs: [{ run, fence }] });
      }, 2_000);
    });

    const ops = [...new Set(rightFrames().map(({ op }) => op))];
    it.each(ops)(
      "sends %s wrong in every field, and nobody else notices",
      async (op) => {
        // One machine per kind: state left by one kind must not affect the next.
        const attacker = new Attacker(platform, await tokenOf(ann, op), op);
        for (const earlier of attackers) earlier.close();
        attackers.push(attacker);
        await attacker.open();
        await newTurn(ann, "go");
        await expect.poll(() => attacker.assigned.length > 0, PATIENT).toBe(true);
        const own = attacker.assigned.at(-1) as Assignment;
        const asked: string[] = [];
        for (const frame of rightFrames().filter((one) => one.op === op)) {
          const mine = "run" in frame ? { ...frame, run: own.run, fence: own.fence } : frame;
          asked.push(...(await attacker.sendWrong(mine, foreign, works)));
        }
        const end = { op: "sessions", id: `end of ${op}`, sessions: [] };
        await expect
          .poll(async () => {
            // A frame that cut the connection lost the question too.
            await attacker.send(end);
            return attacker.answers.has(end.id);
          }, PATIENT)
          .toBe(true);
        await works();
        const failed = asked
          .map((id) => attacker.answers.get(id))
          .filter((answer) => answer?.op === "refused" && answer.code === "internal_error");
        expect(failed).toEqual([]);
      },
      240_000,
    );

    it("has read, written and stalled nothing of the victim's", async () => {
      await works();
      for (const { heard } of attackers) {
        expect(heard.join("\n")).not.toContain(SECRET);
        expect(heard.join("\n")).not.toContain(SECRET_DATA);
      }
      expect(benRunner.socket.readyState).toBe(1);
      const events = await platform.events(victim.session);
      const texts = events
        .filter(({ type }) => type === "message")
        .flatMap(({ content }) => content?.map(({ text }) => String(text)) ?? []);
      expect(texts.filter((text) => text !== SECRET && !OWN_TEXT.test(text))).toEqual([]);
      expect(events.some(({ type }) => type === "run_lost" || type === "run_settled")).toBe(false);
      const { run, fence } = victim.turn;
      const last = { op: "journal", run, fence, firstOrdinal: ordinal + 1, items: [] };
      expect(await benRunner.ask({ ...last, settle: { outcome: "completed" } })).toMatchObject({
        op: "journaled",
      });
      expect(rejections).toEqual([]);
      expect(logLines.filter((line) => line.includes("runner frame failed"))).toEqual([]);
    });
  });
}

async function tokenOf(person: Browser, name: string): Promise<string> {
  const { body } = await person.request<{ token: string }>("POST", "/api/runners/tokens", { name });
  return body.token;
}

function profileOf(name: string) {
  return {
    name,
    hostname: name,
    folder: `/${name}`,
    profile: name,
    projectDir: null,
    tags: [name],
    runtimes: ["native"],
    capacity: 1_000,
    version: "0",
    models: [{ id: "lab/small", provider: "lab", usable: true, why: null, price: null }],
  };
}

story("wrong frames on sqlite", async () => undefined);
describe.skipIf(!postgresUrl)("with a PostgreSQL server", () => {
  story("wrong frames on postgres", createTestDatabase);
});
