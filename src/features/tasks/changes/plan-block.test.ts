/** Tasks are blocked while the plan of their assignee waits, and are restored afterwards. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { listPendingGates } from "#engine/gates/index.ts";
import { approvals } from "#features/approvals/index.ts";
import { createDelegation } from "#features/delegation/index.ts";
import { FakeSessionTree } from "#features/fake-session-tree/index.ts";
import { policy } from "#features/policy/index.ts";
import { owner, startWorld } from "#features/testing/index.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import type { Task } from "../contract.ts";
import { tasks } from "../index.ts";

function suite(name: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(name, () => {
    let at: FakeSessionTree;
    let made: TestDatabase | undefined;
    beforeAll(async () => {
      made = await database();
      const features = [createDelegation(), policy, approvals, tasks];
      at = new FakeSessionTree(await startWorld(features, made?.url));
    });
    afterEach(() => at.end());
    afterAll(async () => {
      await at.world.stop();
      await made?.drop();
    });

    const call = async (method: string, path: string, body?: object) =>
      (await at.world.call<{ task: Task }>(owner, method, `/api/sessions/${path}`, body)).task;
    const put = (task: Task, change: object) =>
      call("PUT", `${task.boardId}/tasks/${task.id}`, change);
    const now = (task: Task) => call("GET", `${task.boardId}/tasks/${task.id}`);
    const decide = async (childId: string, body: object) => {
      const [gate] = await at.world.kernel.engine.store.read((reader) =>
        listPendingGates(reader, childId),
      );
      await at.world.call(owner, "POST", `/api/approvals/${gate?.id}`, body);
    };
    const presented = async () => {
      const parentId = await at.parent();
      const childId = await at.spawn(parentId, { requirePlanApproval: true });
      const begun = await call("POST", `${parentId}/tasks`, { title: "a", sessionId: childId });
      await put(begun, { status: "in_progress" });
      const later = await call("POST", `${parentId}/tasks`, { title: "b", sessionId: childId });
      const others = await call("POST", `${parentId}/tasks`, { title: "c" });
      await at.present(await at.turnOf(childId), "1. Do it");
      return { childId, begun, later, others };
    };

    for (const [how, body] of [
      ["approved", { decision: "allow" }],
      ["sent back", { decision: "revise", reason: "Not so." }],
      ["rejected", { decision: "deny" }],
    ] as const)
      it(`is blocked, and is what it was when the plan was ${how}`, async () => {
        const { childId, begun, later, others } = await presented();
        for (const task of [begun, later])
          expect(await now(task)).toMatchObject({
            status: "blocked",
            blockedReason: expect.stringContaining("is waiting for a decision"),
          });
        expect((await now(others)).status).toBe("pending");
        await decide(childId, body);
        expect(await now(begun)).toMatchObject({ status: "in_progress", blockedReason: null });
        expect(await now(later)).toMatchObject({ status: "pending", blockedReason: null });
      });

    it("leaves what somebody has settled or blocked by hand meanwhile", async () => {
      const { childId, begun, later } = await presented();
      await put(begun, { status: "blocked", blockedReason: "The budget is spent." });
      await put(later, { status: "failed" });
      await decide(childId, { decision: "allow" });
      expect(await now(begun)).toMatchObject({
        status: "blocked",
        blockedReason: "The budget is spent.",
      });
      expect((await now(later)).status).toBe("failed");
    });

    it("is released when the planning session ends", async () => {
      const { childId, begun } = await presented();
      await at.world.kernel.sessions.terminate(owner, childId);
      expect(await now(begun)).toMatchObject({ status: "pending", sessionId: null });
    });
  });
}

suite("on SQLite", async () => undefined);
describe.skipIf(!postgresUrl)("with a server", () => {
  suite("on PostgreSQL", createTestDatabase);
});
