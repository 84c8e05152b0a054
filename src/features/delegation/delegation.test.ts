/** Parents and children on the real kernel, with a runner that the test controls. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { command } from "#engine/index.ts";
import { owner, startWorld, type Turn, type World } from "#features/testing/index.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import { createDelegation, readInbox, spawnChild } from "./index.ts";

function suite(title: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(title, () => {
    let world: World;
    let made: TestDatabase | undefined;
    beforeAll(async () => {
      made = await database();
      world = await startWorld([createDelegation({ workersPerSupervisor: 3 })], made?.url);
    });
    afterAll(async () => {
      await world.stop();
      await made?.drop();
    });

    const engine = () => world.kernel.engine;
    const inbox = (id: string) => engine().store.read((reader) => readInbox(reader, id));
    const spawn = (parentId: string, prompt = "count the files", title = "counter") =>
      command(engine(), async (work) => {
        const parent = await work.session(parentId);
        if (!parent) throw new Error("no parent");
        return (await spawnChild(work, parent, "main", { prompt, title })).child.row.id;
      });
    const family = async (): Promise<{ parentId: string; childId: string; turn: Turn }> => {
      const parentId = await world.createSession();
      const childId = await spawn(parentId);
      return { parentId, childId, turn: await world.nextTurn() };
    };

    it("wakes an idle parent with what its child said", async () => {
      const { parentId, childId, turn } = await family();
      expect(turn.assignment).toMatchObject({ sessionId: childId, content: "count the files" });
      await turn.end("There are 7 files.");
      const woken = await world.nextTurn();
      expect(woken.assignment.sessionId).toBe(parentId);
      expect(woken.assignment.content).toContain(`"counter" (${childId}) ended its turn`);
      expect(woken.assignment.content).toContain("> There are 7 files.");
      expect(await inbox(parentId)).toMatchObject([
        { type: "worker.ended", workerId: childId, workerName: "counter", delivered: true },
      ]);
      await woken.end("Seven.");
    });

    it("notifies a busy parent of all events in one turn, after the current one", async () => {
      const parentId = await world.createSession();
      const busy = await world.startTurn(parentId);
      const ids = [await spawn(parentId, "a", "one"), await spawn(parentId, "b", "two")];
      for (const _id of ids) await (await world.nextTurn()).end("done");
      expect(await inbox(parentId)).toMatchObject([{ delivered: false }, { delivered: false }]);
      await busy.end("I am free.");
      const woken = await world.nextTurn();
      expect(woken.assignment.content).toMatch(/^\[orchestration\] 2 events/);
      expect((await inbox(parentId)).every(({ delivered }) => delivered)).toBe(true);
      await woken.end("ok");
    });

    it("accepts exactly as many children as the limit, and no grandchildren", async () => {
      const parentId = await world.createSession();
      const tries = await Promise.allSettled(Array.from({ length: 6 }, () => spawn(parentId)));
      expect(tries.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
      for (const one of tries)
        if (one.status === "rejected")
          expect(one.reason).toMatchObject({ code: "fanout_limit_exceeded" });
      const child = tries.find((one) => one.status === "fulfilled");
      await expect(spawn(child?.value ?? "")).rejects.toMatchObject({
        code: "depth_limit_exceeded",
      });
      await world.kernel.sessions.terminate(owner, parentId);
    });
  });
}

suite("delegation on sqlite", async () => undefined);
describe.skipIf(!postgresUrl)("with a server", () => {
  suite("delegation on postgres", () => createTestDatabase());
});
