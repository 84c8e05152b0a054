/** A runner whose disk is almost full, on each database: it gets no work, and people see why. */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { DiskReport } from "#protocol/reports/disk-report.ts";
import type { Prompt } from "#protocol/sessions.ts";
import { connectRunner, type RawRunner } from "#test/clients/raw-runner.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";

const GiB = 1024 ** 3;
const report = (freeBytes: number): DiskReport => ({
  freeBytes,
  totalBytes: 100 * GiB,
  floorBytes: 5 * GiB,
  isLow: freeBytes < 5 * GiB,
  quota: { bytes: 20 * GiB, files: 1_000_000 },
  workspaces: { count: 3, bytes: 7 * GiB },
  mirrors: { count: 1, bytes: GiB },
  removed: { count: 2, bytes: 2 * GiB },
});

function story(name: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(name, () => {
    let platform: Platform;
    let runner: RawRunner;
    beforeAll(async () => {
      platform = await startPlatform({ runner: false, database });
      const { token } = await platform.api.runnerTokens.create({ body: { name: "machine" } });
      runner = await connectRunner(platform, token);
      const isRegistered = () => runner.frames.some(({ op }) => op === "registered");
      await vi.waitUntil(isRegistered, { timeout: 15_000 });
    });
    afterAll(async () => {
      runner.socket.terminate();
      await platform.stop();
    });

    const tell = (disk: DiskReport) => runner.ask({ op: "disk", disk });
    const begin = async () => {
      const fields = { runtime: "native", model: "lab/small", prompt: "go" };
      const { id } = await platform.createSession(fields);
      return (await platform.api.prompts.list({ id })).items[0] as Prompt;
    };
    const now = async ({ id }: Prompt) => (await platform.api.prompts.get({ id })).prompt;
    const settle = ({ run, fence }: { run: string; fence: number }) =>
      runner.ask({
        op: "journal",
        run,
        fence,
        firstOrdinal: 1,
        items: [],
        settle: { outcome: "completed" },
      });

    it("holds new work with a reason, and assigns it when there is space", async () => {
      expect(await tell(report(4 * GiB))).toMatchObject({ op: "done" });
      const prompt = await begin();
      const { waitingFor, state } = await now(prompt);
      expect(state).toBe("queued");
      expect(waitingFor).toMatchObject({
        reason: "runner_busy",
        message: expect.stringContaining("runner's disk is almost full"),
      });
      expect(await tell(report(10 * GiB))).toMatchObject({ op: "done" });
      const turn = await runner.assigned();
      expect(turn.promptId).toBe(prompt.id);
      await settle(turn);
      expect(await now(prompt)).toMatchObject({ state: "settled", outcome: "completed" });
    });

    it("requeues a turn that was paused for lack of space", async () => {
      const prompt = await begin();
      const { run, fence } = await runner.assigned();
      await tell(report(1));
      const message = "The runner's disk is almost full: 1 byte.";
      const park = { kind: "pause", waitMs: 600_000, code: "disk_low", message };
      expect(
        await runner.ask({ op: "journal", run, fence, firstOrdinal: 1, items: [], park }),
      ).toMatchObject({ op: "journaled" });
      expect((await now(prompt)).waitingFor).toMatchObject({
        reason: "paused",
        message,
        until: null,
      });
      await tell(report(10 * GiB));
      const again = await runner.assigned();
      expect(again.promptId).toBe(prompt.id);
      await settle(again);
      expect(await now(prompt)).toMatchObject({ outcome: "completed" });
    });

    it("shows disk figures with the runner", async () => {
      await tell(report(9 * GiB));
      const { items } = await platform.api.runners.list();
      expect(items[0]?.disk).toMatchObject({ ...report(9 * GiB), at: expect.any(String) });
    });

    it("removes the files of an ended session, and keeps those of an archived one", async () => {
      const [ended, archived] = [await begin(), await begin()];
      await platform.api.sessions.terminate({ id: ended.sessionId });
      await platform.api.sessions.archive({ id: archived.sessionId, body: { force: true } });
      const sessions = [ended.sessionId, archived.sessionId];
      expect(await runner.ask({ op: "sessions", sessions })).toMatchObject({
        op: "sessions",
        gone: [ended.sessionId],
        resting: [archived.sessionId],
      });
    });

    it("refuses invalid figures", async () => {
      for (const freeBytes of [-1, 1.5, 1e300, "x", null])
        expect(await tell({ ...report(1), freeBytes } as never)).toMatchObject({ op: "refused" });
      const { items } = await platform.api.runners.list();
      expect(items[0]?.disk?.freeBytes).toBe(9 * GiB);
    });
  });
}

story("a full disk of a runner, on SQLite", async () => undefined);
describe.skipIf(!postgresUrl)("with PostgreSQL", () => {
  story("a full disk of a runner, on PostgreSQL", () => createTestDatabase());
});
