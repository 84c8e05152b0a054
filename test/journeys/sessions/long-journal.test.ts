/**
 * A runner decides how much it sends at once. The server writes it in pieces, so that nobody else
 * waits for all of it.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Assignment } from "#protocol/frames.ts";
import { type Browser, join } from "#test/clients/people.ts";
import { connectRunner, type RawRunner } from "#test/clients/raw-runner.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";

const PATIENT = { timeout: 60_000, interval: 10 };

function story(name: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(name, () => {
    let platform: Platform;
    let made: TestDatabase | undefined;
    let ann: Browser;
    let runner: RawRunner;

    beforeAll(async () => {
      made = await database();
      platform = await startPlatform({
        runner: false,
        env: made ? { MUSTER_DATABASE_URL: made.url } : {},
      });
      ann = await join(platform, "Ann");
      const { token } = await ann.api.runnerTokens.create({ body: { name: "own" } });
      runner = await connectRunner(platform, token);
    });
    afterAll(async () => {
      runner.socket.terminate();
      await platform.stop();
      await made?.drop();
    });

    async function begin(): Promise<{ session: string; turn: Assignment }> {
      const fields = { runtime: "native", model: "lab/small", prompt: "go" };
      const { session } = await ann.api.sessions.create({ body: fields });
      const turn = await runner.assigned();
      runner.keep(turn);
      return { session: session.id, turn };
    }
    /** Ends a turn, so that another test's runner is not assigned it. */
    const end = ({ run, fence }: Assignment, firstOrdinal: number) => {
      const settle = { outcome: "completed" };
      return runner.ask({ op: "journal", run, fence, firstOrdinal, items: [], settle });
    };
    const messages = (from: number, count: number) =>
      Array.from({ length: count }, (_none, at) => ({
        type: "message",
        entryId: `e${from + at}`,
        kind: "text",
        text: `line ${from + at}`,
      }));
    const lengthOf = async (id: string): Promise<number> =>
      (await ann.api.sessions.get({ id })).session.lastSeq;
    const linesOf = async (session: string) =>
      (await platform.events(session))
        .flatMap(({ content }) => content?.map(({ text }) => String(text)) ?? [])
        .filter((text) => text.startsWith("line "));

    it("is written whole and once, also when it is sent again", async () => {
      const { session, turn } = await begin();
      const { run, fence } = turn;
      const settle = { outcome: "completed" };
      const batch = { op: "journal", run, fence, firstOrdinal: 1, items: messages(1, 400), settle };
      const done = { op: "journaled", lastOrdinal: 400 };
      expect(await runner.ask(batch)).toMatchObject(done);
      expect(await runner.ask(batch)).toMatchObject(done);
      expect(await linesOf(session)).toEqual(messages(1, 400).map(({ text }) => text));
      const ends = (await platform.events(session)).filter(({ type }) => type === "run_settled");
      expect(ends).toHaveLength(1);
    });

    it("continues after the part that was written", async () => {
      const { session, turn } = await begin();
      const { run, fence } = turn;
      const frame = (count: number) => ({
        ...{ op: "journal", run, fence, firstOrdinal: 1, items: messages(1, count) },
      });
      expect(await runner.ask(frame(60))).toMatchObject({ lastOrdinal: 60 });
      expect(await runner.ask(frame(130))).toMatchObject({ lastOrdinal: 130 });
      expect(await linesOf(session)).toEqual(messages(1, 130).map(({ text }) => text));
      await end(turn, 131);
    });

    it("is refused when a frame has more items than the limit", async () => {
      const { turn } = await begin();
      const { run, fence } = turn;
      const frame = { op: "journal", run, fence, firstOrdinal: 1, items: messages(1, 501) };
      expect(await runner.ask(frame)).toMatchObject({ op: "refused", code: "frame_invalid" });
      await end(turn, 1);
    });

    it("lets others work between its pieces", async () => {
      const { session, turn } = await begin();
      const { run, fence } = turn;
      const items = messages(1, 500).map((item) => ({ ...item, text: "x".repeat(7_000) }));
      const frame = { op: "journal", run, fence, firstOrdinal: 1, items };
      const before = await lengthOf(session);
      const lengths = new Set<number>();
      let isDone = false;
      const written = runner.ask(frame).finally(() => {
        isDone = true;
      });
      while (!isDone) lengths.add(await lengthOf(session));
      expect(await written).toMatchObject({ op: "journaled", lastOrdinal: 500 });
      const between = [...lengths].filter((at) => at > before && at < before + 500);
      expect(between.length).toBeGreaterThan(0);
      await end(turn, 501);
    });

    it("ends at a limit for one turn, with a reason", async () => {
      const { turn } = await begin();
      const { run, fence } = turn;
      let ordinal = 0;
      let refused: unknown;
      while (refused === undefined && ordinal < 40_000) {
        const items = messages(ordinal + 1, 500);
        const id = `limit ${ordinal}`;
        runner.send({ op: "journal", id, run, fence, firstOrdinal: ordinal + 1, items });
        const answer = () => runner.frames.find((frame) => "id" in frame && frame.id === id);
        await expect.poll(() => answer() !== undefined, PATIENT).toBe(true);
        if (answer()?.op === "refused") refused = answer();
        ordinal += 500;
      }
      expect(refused).toMatchObject({ op: "refused", code: "journal_full" });
      expect(ordinal).toBe(20_500);
      // The frame that ends the turn is always accepted.
      const settle = { outcome: "failed", error: { code: "journal_refused", message: "full" } };
      const last = { op: "journal", run, fence, firstOrdinal: 20_001, items: [], settle };
      expect(await runner.ask(last)).toMatchObject({ op: "journaled" });
    }, 180_000);

    it("continues a turn that has written more than a frame holds", async () => {
      const { session, turn } = await begin();
      const { run, fence } = turn;
      const long = "x".repeat(500_000);
      const entries = Array.from({ length: 30 }, (_none, at) => [
        { type: "message", entryId: `m${at}`, kind: "text", text: `said ${at} ${long}` },
        { type: "pre_tool", entryId: `c${at}`, callId: `call${at}`, tool: "read", input: long },
        {
          ...{ type: "post_tool", entryId: `r${at}`, callId: `call${at}`, tool: "read" },
          ...{ input: long, output: long, error: null },
        },
      ]).flat();
      for (const [at, item] of entries.entries()) {
        const frame = { op: "journal", run, fence, firstOrdinal: at + 1, items: [item] };
        expect(await runner.ask(frame)).toMatchObject({ op: "journaled" });
      }
      await runner.ask({ op: "release", run, fence });
      const again = await runner.assigned();
      expect(again).toMatchObject({ run, sessionId: session });
      expect(JSON.stringify(again).length).toBeLessThan(20_000_000);
      expect(again.journal.map(({ entryId }) => entryId)).toEqual(
        entries.map(({ entryId }) => entryId),
      );
      // Results are dropped first, oldest first; then text.
      const [first, , firstResult] = again.journal;
      expect(JSON.stringify(firstResult)).toContain("left out: too long");
      expect(JSON.stringify(first)).toContain("left out: too long");
      expect(JSON.stringify(again.journal.at(-1))).toContain(long);
      expect(again.journal.at(-3)).toMatchObject({ text: `said 29 ${long}` });
      expect(await end(again, 1)).toMatchObject({ op: "journaled" });
    });

    it("answers the calls left open by a stopped turn, the newest of very many", async () => {
      const { session, turn } = await begin();
      const { run, fence } = turn;
      const calls = Array.from({ length: 1_200 }, (_none, at) => ({
        ...{ type: "pre_tool", entryId: `o${at}`, callId: `open${at}`, tool: "read", input: {} },
      }));
      for (let from = 0; from < calls.length; from += 400) {
        const items = calls.slice(from, from + 400);
        await runner.ask({ op: "journal", run, fence, firstOrdinal: from + 1, items });
      }
      // So that it is not assigned the turn again at once.
      await runner.ask({ op: "drain" });
      await runner.ask({ op: "release", run, fence });
      await ann.api.sessions.stop({ id: session });
      const answers = (await platform.events(session)).filter(({ type }) => type === "post_tool");
      expect(answers.length).toBe(1_000);
      expect(answers.at(-1)?.data).toMatchObject({ callId: "open1199" });
    });
  });
}

story("a long journal on sqlite", async () => undefined);
describe.skipIf(!postgresUrl)("with a PostgreSQL server", () => {
  story("a long journal on postgres", createTestDatabase);
});
