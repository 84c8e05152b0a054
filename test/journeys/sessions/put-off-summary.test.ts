import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readHistory } from "#engine/runs/runners/turn-material.ts";
import { startWorld, type Turn, type World } from "#features/testing/index.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";

const MINUTE_MS = 60_000;

function story(name: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(name, () => {
    let world: World;
    let made: TestDatabase | undefined;
    beforeAll(async () => {
      made = await database();
      world = await startWorld([], made?.url);
    });
    afterAll(async () => {
      await world.stop();
      await made?.drop();
    });

    it("a failed summary is remembered, retried later with each failure, and cleared by a summary", async () => {
      const { store, clock } = world.kernel.engine;
      const id = await world.createSession({});
      const thread = async () =>
        (
          await store.read((reader) =>
            reader.query<{ failures: number; retry: number }>({
              sql: `select summary_failures as failures, summary_retry_at as retry from threads
                where session_id = '${id}'`,
              parameters: [],
            }),
          )
        )[0];
      /** The flag as a runner gets it with the thread's history. */
      const isDue = async ({ assignment: { run } }: Turn) => {
        const place = { sessionId: id, thread: "main" };
        return (await readHistory(world.kernel.engine, place, run, null, 10)).summaryDue;
      };
      const pauses: number[] = [];
      for (let n = 1; n <= 3; n++) {
        const turn = await world.startTurn(id, `turn ${n}`);
        expect(await isDue(turn)).toBe(n === 1);
        await turn.journal([{ type: "summary_failed", entryId: `ent_${n}` }]);
        const { failures, retry } = (await thread()) ?? { failures: 0, retry: 0 };
        expect(Number(failures)).toBe(n);
        pauses.push(Math.round((Number(retry) - clock.now()) / MINUTE_MS));
        await turn.end("done");
      }
      expect(pauses).toEqual([10, 20, 40]);
      const last = await world.startTurn(id, "turn 4");
      await last.journal([
        { type: "context_summary", entryId: "ent_s", text: "all of it", throughSeq: 3 },
      ]);
      expect(await thread()).toMatchObject({ failures: 0, retry: 0 });
      await last.end("done");
      const after = await world.startTurn(id, "turn 5");
      expect(await isDue(after)).toBe(true);
      await after.end("done");
    });
  });
}

story("a summary that failed, on SQLite", async () => undefined);
if (postgresUrl) story("a summary that failed, on PostgreSQL", createTestDatabase);
