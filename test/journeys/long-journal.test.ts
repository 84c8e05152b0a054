/**
 * A runner decides how much it sends at once. What it sends is written in pieces, and nobody else
 * waits for all of it.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Assignment } from "#protocol/frames.ts";
import type { Session } from "#protocol/sessions.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import { type Browser, join } from "./people-clients.ts";
import { connectRunner, type RawRunner } from "./raw-runner.ts";

const PATIENT = { timeout: 60_000, interval: 10 };

function story(name: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(name, () => {
    let platform: Platform;
    let made: TestDatabase | undefined;
    let ann: Browser;
    let ben: Browser;
    let runner: RawRunner;

    beforeAll(async () => {
      made = await database();
      platform = await startPlatform({
        runner: false,
        env: made ? { MUSTER_DATABASE_URL: made.url } : {},
      });
      ann = await join(platform, "Ann");
      ben = await join(platform, "Ben");
      const { body } = await ann.request<{ token: string }>("POST", "/api/runners/tokens", {
        name: "own",
      });
      runner = await connectRunner(platform, body.token);
    });
    afterAll(async () => {
      runner.socket.terminate();
      await platform.stop();
      await made?.drop();
    });

    async function begin(): Promise<{ session: string; turn: Assignment }> {
      const fields = { runtime: "native", model: "lab/small", prompt: "go" };
      const { body } = await ann.request<{ session: Session }>("POST", "/api/sessions", fields);
      return { session: body.session.id, turn: await runner.assigned() };
    }
    const messages = (from: number, count: number) =>
      Array.from({ length: count }, (_none, at) => ({
        type: "message",
        entryId: `e${from + at}`,
        kind: "text",
        text: `line ${from + at}`,
      }));
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

    it("goes on where it was written, when only a part of it was", async () => {
      const { session, turn } = await begin();
      const { run, fence } = turn;
      const frame = (count: number) => ({
        ...{ op: "journal", run, fence, firstOrdinal: 1, items: messages(1, count) },
      });
      expect(await runner.ask(frame(60))).toMatchObject({ lastOrdinal: 60 });
      expect(await runner.ask(frame(130))).toMatchObject({ lastOrdinal: 130 });
      expect(await linesOf(session)).toEqual(messages(1, 130).map(({ text }) => text));
    });

    it("lets others read and write in between", async () => {
      const { turn } = await begin();
      const { run, fence } = turn;
      runner.send({
        ...{ op: "journal", id: "long", run, fence, firstOrdinal: 1, items: messages(1, 5_000) },
      });
      const isDone = () => runner.frames.some((frame) => "id" in frame && frame.id === "long");
      let served = 0;
      while (!isDone()) {
        const made = await ben.request("POST", "/api/sessions", { title: "beside" });
        expect(made.status).toBe(201);
        served += 1;
      }
      expect(served).toBeGreaterThan(5);
    });

    it("ends at a limit for one turn, with a reason", async () => {
      const { turn } = await begin();
      const { run, fence } = turn;
      let ordinal = 0;
      let refused: unknown;
      while (refused === undefined && ordinal < 40_000) {
        const items = messages(ordinal + 1, 5_000);
        const id = `limit ${ordinal}`;
        runner.send({ op: "journal", id, run, fence, firstOrdinal: ordinal + 1, items });
        const answer = () => runner.frames.find((frame) => "id" in frame && frame.id === id);
        await expect.poll(() => answer() !== undefined, PATIENT).toBe(true);
        if (answer()?.op === "refused") refused = answer();
        ordinal += 5_000;
      }
      expect(refused).toMatchObject({ op: "refused", code: "journal_full" });
      expect(ordinal).toBe(35_000);
    }, 180_000);
  });
}

story("a long journal on sqlite", async () => undefined);
describe.skipIf(!postgresUrl)("with a server", () => {
  story("a long journal on postgres", createTestDatabase);
});
