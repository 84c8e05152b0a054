/**
 * One attacker beside people who work, with default limits. Ben reads, prompts, searches and
 * follows a session; Ann floods the server in one way after another. Nobody but Ann is refused or
 * cut off, memory stays bounded, and Ben's slowest answers stay in the same order of magnitude. The
 * bench measures the exact slowdown on an idle machine.
 */
import { createHash } from "node:crypto";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { WebSocket } from "ws";
import type { Session } from "#protocol/sessions.ts";
import { ATTACKS, startAttack, type Target } from "#test/attacks/start-attack.ts";
import { type Browser, join, openSocket, orgOf } from "#test/clients/people.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";

const ROUNDS = 40;
const MB = 1024 * 1024;
/**
 * A stall is slower than alone by more than this factor, and by more than a fixed piece of work
 * takes here.
 */
const MAX_RATIO = 20;
const MOMENTS = 4;
/** Memory limits: during the attack, including garbage that is not collected yet, and after it. */
const MAX_GROWTH_BYTES = 256 * MB;
const MAX_KEPT_BYTES = 32 * MB;

/** The slowest answer to each kind of request that Ben makes. */
type Slowest = Record<"read" | "search" | "prompt" | "news" | "loop", number>;

/** Duration of a fixed piece of work on this machine. */
function moment(): number {
  const at = performance.now();
  createHash("sha256")
    .update(Buffer.alloc(128 * MB))
    .digest();
  return performance.now() - at;
}

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

function keptBytes(): number {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function story(name: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(name, () => {
    let platform: Platform;
    let made: TestDatabase | undefined;
    let ben: Browser;
    let benSession: string;
    let alone: Slowest;
    let cuts = 0;
    let watcher: WebSocket;
    let ended = false;
    const logLines: string[] = [];
    /** Prompts whose turn has ended, as reported by the live socket. */
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
      ben = await join(platform, "Ben");
      benSession = await newSession(ben);
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

    /** Ann is a new person in each attack: limits that one attack used up would slow the next. */
    async function newAttacker(kind: Target["kind"]): Promise<Target> {
      const ann = await join(platform, `ann-${kind.replace(" ", "-")}`);
      const session = await newSession(ann);
      if (OF_LONG_LOGS.has(kind)) await fillLog(platform, session);
      const token = await ann.request<{ token: string }>("POST", "/api/runners/tokens", {
        name: "own",
      });
      const headers = { cookie: ann.cookie, origin: platform.url };
      return { kind, url: platform.url, headers, session, runnerToken: token.body.token };
    }

    async function measure(): Promise<Slowest> {
      const slowest: Slowest = { read: 0, search: 0, prompt: 0, news: 0, loop: 0 };
      const loop = monitorEventLoopDelay({ resolution: 5 });
      loop.enable();
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
      loop.disable();
      slowest.loop = loop.max / 1e6;
      return slowest;
    }

    it("measures Ben alone", async () => {
      await measure();
      alone = await measure();
    });

    it.each(ATTACKS)("bears an attack by %s", async (kind) => {
      const target = await newAttacker(kind);
      const kept = keptBytes();
      const memory = process.memoryUsage().rss;
      const bearable = moment() * MOMENTS;
      const attack = await startAttack(target);
      const beside = await measure();
      const growth = process.memoryUsage().rss - memory;
      const counts = await attack.stop();
      EXPECTED[kind](counts);
      expect(cuts).toBe(0);
      expect(logLines.filter((line) => /fallen silent|given up/.test(line))).toEqual([]);
      expect(growth).toBeLessThan(MAX_GROWTH_BYTES);
      await expect.poll(() => keptBytes() - kept).toBeLessThan(MAX_KEPT_BYTES);
      for (const what of Object.keys(alone) as (keyof Slowest)[]) {
        const most = Math.max(alone[what] * MAX_RATIO, bearable);
        expect(beside[what], `${what}, ${alone[what]} ms alone`).toBeLessThan(most);
      }
    });
  });
}

const OF_LONG_LOGS: ReadonlySet<string> = new Set(["streams", "subscriptions", "stalled sockets"]);

/** Answers that the attacker must have seen: an attack that did nothing is no success. */
const EXPECTED: Record<Target["kind"], (counts: Record<string, number>) => void> = {
  requests: (counts) => expect(counts).toHaveProperty("429"),
  searches: (counts) => expect(counts["200"]).toBeGreaterThan(10),
  streams(counts) {
    expect(counts.opened).toBe(128);
    expect(counts).toHaveProperty("too_many_streams");
  },
  subscriptions: ({ sent }) => expect(sent).toBeGreaterThan(1_000),
  "stalled sockets": ({ stalled }) => expect(stalled).toBe(60),
  frames: ({ sent }) => expect(sent).toBeGreaterThan(1_000),
  "nested frames": (counts) => expect(counts).toHaveProperty("closed 1009"),
  "full frames"(counts) {
    expect(counts.sent).toBeGreaterThan(5);
    expect(counts).not.toHaveProperty("closed 1009");
  },
  "escaped frames"(counts) {
    expect(counts.sent).toBeGreaterThan(5);
    expect(counts).not.toHaveProperty("closed 1009");
  },
  journal: ({ journaled }) => expect(journaled).toBeGreaterThan(5),
  connections: (counts) => expect(counts).toHaveProperty("cut"),
};

/** Writes 10,000 entries in bulk: a turn for each would take minutes. */
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
describe.skipIf(!postgresUrl)("with a PostgreSQL server", () => {
  story("one attacker on postgres", createTestDatabase);
});
