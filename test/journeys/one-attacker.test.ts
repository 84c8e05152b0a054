/**
 * One attacker beside people who work, with the limits as they are by default. Ben reads, prompts,
 * searches and follows a session; Ann floods the server in one way after the other. Nobody but Ann is
 * refused or cut off, memory stays bounded, and Ben's slowest answers stay of the same order. How much
 * slower exactly they are, on a machine with nothing else to do, is a figure of the bench.
 */
import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { WebSocket } from "ws";
import type { Session } from "#protocol/sessions.ts";
import { ATTACKS, startAttack, type Target } from "#test/attacks/start-attack.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import { type Browser, join, openSocket, orgOf } from "./people-clients.ts";

const ROUNDS = 40;
const MB = 1024 * 1024;
/** Slower than alone by more than this, and by more than this machine takes for some work, is a stall. */
const MAX_RATIO = 20;
const MOMENTS = 4;
const MAX_GROWTH_BYTES = 96 * MB;

/** What Ben does, and how long the slowest of each took. */
type Slowest = Record<"read" | "search" | "prompt" | "news", number>;

/** How long this machine takes for a fixed piece of work. */
function moment(): number {
  const at = performance.now();
  createHash("sha256")
    .update(Buffer.alloc(128 * MB))
    .digest();
  return performance.now() - at;
}

function story(name: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(name, () => {
    let platform: Platform;
    let made: TestDatabase | undefined;
    let ann: Browser;
    let ben: Browser;
    let benSession: string;
    let target: Omit<Target, "kind">;
    let alone: Slowest;
    let cuts = 0;
    let watcher: WebSocket;
    let ended = false;
    const logLines: string[] = [];
    /** The prompts whose turn has ended, as the live socket tells it. */
    const ends = new Map<string, PromiseWithResolvers<void>>();
    const endOf = (promptId: string) => {
      const end = ends.get(promptId) ?? Promise.withResolvers<void>();
      ends.set(promptId, end);
      return end;
    };

    const newSession = async (person: Browser) => {
      const { body } = await person.request<{ session: Session }>("POST", "/api/sessions", {});
      return body.session.id;
    };

    beforeAll(async () => {
      made = await database();
      platform = await startPlatform({
        logLines,
        env: {
          ...{ MUSTER_RATE_LIMIT: "100", MUSTER_LOG_LEVEL: "warn" },
          ...(made ? { MUSTER_DATABASE_URL: made.url } : {}),
        },
      });
      ann = await join(platform, "Ann");
      ben = await join(platform, "Ben");
      benSession = await newSession(ben);
      const session = await newSession(ann);
      await fillLog(platform, session);
      const { body } = await ann.request<{ token: string }>("POST", "/api/runners/tokens", {
        name: "own",
      });
      const headers = { cookie: ann.cookie, origin: platform.url };
      target = { url: platform.url, headers, session, runnerToken: body.token };
      watcher = await openSocket(platform, "/api/live", {
        ...{ cookie: ben.cookie, origin: platform.url },
      });
      watcher.on("message", (data) => {
        const event = JSON.parse(String(data)) as { type?: string; promptId?: string };
        if (event.type === "run_settled" && event.promptId) endOf(event.promptId).resolve();
      });
      watcher.on("close", () => {
        if (!ended) cuts++;
      });
      watcher.send(JSON.stringify({ op: "subscribe", topic: `session:${benSession}`, after: 0 }));
    });
    afterAll(async () => {
      ended = true;
      watcher.terminate();
      await platform.stop();
      await made?.drop();
    });

    async function measure(): Promise<Slowest> {
      const slowest: Slowest = { read: 0, search: 0, prompt: 0, news: 0 };
      const note = (kind: keyof Slowest, from: number) => {
        slowest[kind] = Math.max(slowest[kind], performance.now() - from);
      };
      const ask = async (kind: "read" | "search" | "prompt", path: string, body?: object) => {
        const from = performance.now();
        const answer = await ben.request<{ prompt?: { id: string } }>(
          body ? "POST" : "GET",
          path,
          body,
        );
        note(kind, from);
        expect(answer.status, `${kind}: ${JSON.stringify(answer.body)}`).toBeLessThan(300);
        return { from, id: answer.body.prompt?.id ?? "" };
      };
      for (let round = 0; round < ROUNDS; round++) {
        await ask("read", `/api/sessions/${benSession}`);
        await ask("search", "/api/search?q=hello");
        const path = `/api/sessions/${benSession}/prompts`;
        const { from, id } = await ask("prompt", path, { content: "hello" });
        await endOf(id).promise;
        note("news", from);
        await new Promise((resolve) => setTimeout(resolve, 15));
      }
      return slowest;
    }

    it("measures Ben alone", async () => {
      await measure();
      alone = await measure();
    });

    it.each(ATTACKS)("bears an attack by %s", async (kind) => {
      const memory = process.memoryUsage().rss;
      const bearable = moment() * MOMENTS;
      const attack = startAttack({ ...target, kind });
      const beside = await measure();
      const growth = process.memoryUsage().rss - memory;
      const counts = await attack.stop();
      EXPECTED[kind](counts);
      expect(cuts).toBe(0);
      expect(logLines.filter((line) => /fallen silent|given up/.test(line))).toEqual([]);
      expect(growth).toBeLessThan(MAX_GROWTH_BYTES);
      for (const what of Object.keys(alone) as (keyof Slowest)[]) {
        const most = Math.max(alone[what] * MAX_RATIO, bearable);
        expect(beside[what], `${what}, ${alone[what]} ms alone`).toBeLessThan(most);
      }
    });
  });
}

/** What the attacker must have met, so that an attack that did nothing is no success. */
const EXPECTED: Record<Target["kind"], (counts: Record<string, number>) => void> = {
  requests: (counts) => expect(counts).toHaveProperty("429"),
  searches: (counts) => expect(counts).toHaveProperty("429"),
  streams(counts) {
    expect(counts.opened).toBe(128);
    expect(counts).toHaveProperty("too_many_streams");
  },
  subscriptions: ({ sent }) => expect(sent).toBeGreaterThan(1_000),
  "stalled sockets": (counts) => expect(counts).not.toHaveProperty("sent"),
  frames: ({ sent }) => expect(sent).toBeGreaterThan(1_000),
  "nested frames": (counts) => expect(counts).toHaveProperty("closed 1009"),
  "full frames": ({ sent }) => expect(sent).toBeGreaterThan(5),
  connections: (counts) => expect(counts).toHaveProperty("cut"),
};

/** 10,000 entries, written as one statement would: a turn for each would take minutes. */
async function fillLog(platform: Platform, sessionId: string): Promise<void> {
  const { store } = platform.server.kernel.engine;
  const { orgId } = await orgOf(platform);
  const content = JSON.stringify([{ type: "text", text: `hello ${"x".repeat(500)}` }]);
  await store.transaction(async (tx) => {
    for (let from = 2; from <= 10_001; from += 100) {
      const rows = Array.from({ length: 100 }, (_none, at) => from + at);
      const values = rows
        .map(
          (seq) =>
            `('${sessionId}', ${seq}, '${orgId}', 'notice', 1, ${tx.now}, 'main', 'ent_${seq}', 'notice', 'assistant', '${content}')`,
        )
        .join();
      await tx.execute({
        sql: `insert into events (session_id, seq, org_id, type, v, at, thread, entry_id, kind, role, content) values ${values}`,
        parameters: [],
      });
    }
    await tx.execute({
      sql: `update sessions set last_seq = 10001 where id = '${sessionId}'`,
      parameters: [],
    });
  });
}

story("one attacker on sqlite", async () => undefined);
describe.skipIf(!postgresUrl)("with a server", () => {
  story("one attacker on postgres", createTestDatabase);
});
