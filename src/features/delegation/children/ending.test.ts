/**
 * Children that end: their budget, which ends are reported, and children whose workspace never came
 * up.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { FakeSessionTree } from "#features/fake-session-tree/index.ts";
import { memory } from "#features/memory/index.ts";
import { modelCall, owner, startWorld, type Turn } from "#features/testing/index.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import {
  createDelegation,
  detachChild,
  endChild,
  findLink,
  messageChild,
  purgeSoon,
  requireChild,
} from "../index.ts";

const done = (result: string) => ({ outcome: "completed", result }) as const;
const CLONE_FAILED = {
  outcome: "failed",
  error: { code: "workspace_clone_failed", message: "fatal: repository not found" },
} as const;

function suite(title: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(title, () => {
    let at: FakeSessionTree;
    let made: TestDatabase | undefined;
    beforeAll(async () => {
      made = await database();
      at = new FakeSessionTree(await startWorld([createDelegation(), memory], made?.url));
    });
    afterEach(() => at.end());
    afterAll(async () => {
      await at.world.stop();
      await made?.drop();
    });

    const sessions = () => at.world.kernel.sessions;
    const budgetOf = async (id: string) => (await at.session(id)).budget;
    const end = (parentId: string, childId: string, to: "archived" | "terminated") =>
      at.act(parentId, async (work) => {
        const { child, link } = await requireChild(work, parentId, childId);
        await endChild(work, child, link, to);
      });
    const linkOf = (childId: string) =>
      at.world.kernel.engine.store.read((reader) => findLink(reader, childId));
    const spend = (turn: Turn, costMicros: number) => turn.journal([modelCall({ costMicros })]);

    describe("a budget", () => {
      it("is changed by its person, a child's out of its parent's", async () => {
        const set = (
          id: string,
          budget: number | null,
          who: Parameters<typeof update>[0] = owner,
        ) => update(who, id, { budget });
        const { update } = at.world.kernel.sessions;
        const parentId = await at.parent({ budget: 1_000 });
        const childId = await at.spawn(parentId, { budget: 600 });
        await set(childId, 900);
        expect([await budgetOf(parentId), await budgetOf(childId)]).toEqual([100, 900]);
        await expect(set(childId, 1_001)).rejects.toMatchObject({ code: "budget_exhausted" });
        await expect(set(childId, null)).rejects.toMatchObject({ code: "budget_too_small" });
        expect([await budgetOf(parentId), await budgetOf(childId)]).toEqual([100, 900]);
        await set(parentId, 500);
        await set(childId, 200);
        expect([await budgetOf(parentId), await budgetOf(childId)]).toEqual([1_200, 200]);
        const agent = { kind: "session", orgId: owner.orgId, ownerId: owner.userId } as const;
        for (const sessionId of [parentId, childId])
          await expect(set(childId, 900, { ...agent, sessionId, name: "a" })).rejects.toMatchObject(
            { kind: expect.stringMatching(/not_found|forbidden/) },
          );
        expect((await update(owner, childId, { enableMemory: true })).enableMemory).toBe(true);
        expect((await at.row(childId))?.labels).toBe("memory");
        const turn = await at.turnOf(childId);
        await at.settle(turn, { outcome: "completed", result: "ok" });
        await at.world.kernel.sessions.archive(owner, childId, true);
        // The unspent part of the whole budget returns.
        expect(await budgetOf(parentId)).toBe(1_400);
      });

      const family = async () => {
        const parentId = await at.parent({ budget: 1_000 });
        const childId = await at.spawn(parentId, { budget: 600 });
        return { parentId, childId, turn: await at.turnOf(childId) };
      };

      it("is taken out of the parent's, and half of what is left if nobody says how much", async () => {
        const { parentId } = await family();
        expect(await budgetOf(parentId)).toBe(400);
        const half = await at.spawn(parentId);
        expect([await budgetOf(parentId), await budgetOf(half)]).toEqual([200, 200]);
        await expect(at.spawn(parentId, { budget: 201 })).rejects.toMatchObject({
          code: "budget_exhausted",
        });
        expect(await budgetOf(parentId)).toBe(200);
      });

      it("returns its unspent part to the parent, however the child ends", async () => {
        const ways: ((parentId: string, childId: string, turn: Turn) => Promise<unknown>)[] = [
          (parentId, childId) => end(parentId, childId, "terminated"),
          (parentId, childId) => end(parentId, childId, "archived"),
          (_parentId, childId) => sessions().terminate(owner, childId),
          (_parentId, childId) => sessions().archive(owner, childId, true),
          async (_parentId, _childId, turn) => {
            await turn.tool("complete_session", { summary: "done" });
            await at.settle(turn, { outcome: "completed" });
          },
        ];
        for (const way of ways) {
          const { parentId, childId, turn } = await family();
          await spend(turn, 250);
          await way(parentId, childId, turn);
          expect([await budgetOf(parentId), await budgetOf(childId)]).toEqual([750, 250]);
        }
      });

      it("is charged what a turn costs while it winds down", async () => {
        const { parentId, childId, turn } = await family();
        await sessions().archive(owner, childId, true);
        expect([await budgetOf(parentId), await budgetOf(childId)]).toEqual([1_000, 0]);
        await spend(turn, 70);
        await at.settle(turn, { outcome: "aborted" });
        expect([await budgetOf(parentId), await budgetOf(childId)]).toEqual([930, 70]);
      });

      it("is reserved again, as far as available, when the child is woken, and is returned once", async () => {
        const { parentId, childId, turn } = await family();
        await spend(turn, 100);
        await at.settle(turn, done("ok"));
        await sessions().archive(owner, childId, true);
        await sessions().terminate(owner, await at.spawn(parentId, { budget: 10 }));
        expect(await budgetOf(parentId)).toBe(900);
        await sessions().wake(owner, childId);
        expect([await budgetOf(parentId), await budgetOf(childId)]).toEqual([400, 600]);
        await end(parentId, childId, "archived");
        await at.spawn(parentId, { budget: 700 });
        await sessions().wake(owner, childId);
        expect([await budgetOf(parentId), await budgetOf(childId)]).toEqual([0, 300]);
      });

      it("goes with a child that is detached", async () => {
        const { parentId, childId } = await family();
        await at.act(childId, detachChild);
        await sessions().terminate(owner, childId);
        expect([await budgetOf(parentId), await budgetOf(childId)]).toEqual([400, 600]);
      });
    });

    it("is notified again of an archived child that was woken", async () => {
      const { parentId, childId, turn } = await at.createParentAndChild();
      await end(parentId, childId, "archived");
      await sessions().wake(owner, childId);
      // The parent stopped this turn; the next one belongs to a person.
      await at.settle(turn, { outcome: "aborted" });
      expect(await at.inbox(parentId)).toEqual([]);
      await at.settle(await at.prompt(childId, "again"), done("back"));
      expect(await at.inbox(parentId)).toMatchObject([{ type: "worker.ended" }]);
      await at.settle(await at.turnOf(parentId), done("ok"));
      await sessions().archive(owner, childId, true);
      expect(await at.inbox(parentId)).toMatchObject([
        { type: "worker.deleted" },
        { type: "worker.ended" },
      ]);
    });

    it("is notified in one prompt of callback runs of a child that it ended", async () => {
      const { parentId, childId, turn } = await at.createParentAndChild();
      const promptIds: string[] = [];
      for (const prompt of ["one", "two"]) {
        const { promptId } = await at.world.kernel.runs.create(owner, {
          type: "resume_session",
          sessionId: childId,
          prompt,
          executionMode: "async_callback",
          demands: {},
        });
        promptIds.push(promptId);
      }
      await end(parentId, childId, "terminated");
      await at.settle(turn, { outcome: "aborted" });
      // The running turn, which the parent ended itself, is not reported.
      const items = await at.inbox(parentId);
      expect(items.map(({ payload }) => payload.promptId).sort()).toEqual(promptIds.sort());
      expect(items).toMatchObject(Array(2).fill({ type: "worker.stopped_without_end" }));
      expect(await at.wakes(parentId)).toHaveLength(1);
      const { items: prompts } = await at.world.kernel.prompts.list(owner, parentId, {
        limit: 10,
      } as never);
      expect(prompts).toHaveLength(1);
    });

    it("stays when it says that it is done while more is asked of it, or does not come to its end", async () => {
      const { parentId, childId, turn } = await at.createParentAndChild();
      await turn.tool("complete_session", { summary: "done" });
      await at.act(parentId, async (work, parent) => {
        const { child } = await requireChild(work, parentId, childId);
        await messageChild(work, parent, child, "and this", "followup");
      });
      await at.settle(turn, { outcome: "completed" });
      const more = await at.turnOf(childId);
      expect(more.assignment.content).toBe("and this");
      await more.tool("complete_session", { summary: "done too" });
      await at.settle(more, { outcome: "failed", error: { code: "turn_limit", message: "x" } });
      expect(await at.session(childId)).toMatchObject({ lifecycle: "active" });
      const woken = await at.turnOf(parentId);
      expect(woken.assignment.content).toContain("> done");
    });

    it.runIf(title.endsWith("sqlite"))(
      "hears of a child whose runner is lost only when nobody tries any more (by a clock that can be set)",
      async () => {
        const { parentId, childId } = await at.createParentAndChild();
        // Small steps: a large one counts as a suspended machine, and no lease expires.
        const pass = async (ms: number) => {
          for (let passed = 0; passed < ms; passed += 500) {
            at.world.clock.advance(500);
            await at.world.kernel.sweeps.tick();
          }
        };
        for (let attempt = 2; attempt <= 3; attempt += 1) {
          await pass(20_000);
          expect((await at.turnOf(childId)).assignment.attempt).toBe(attempt);
          expect(await at.inbox(parentId)).toEqual([]);
        }
        await pass(20_000);
        expect(await at.inbox(parentId)).toMatchObject([
          { type: "worker.stopped_without_end", payload: { code: "attempts_exhausted" } },
        ]);
        expect(await at.wakes(parentId)).toHaveLength(1);
      },
    );

    it("quotes a child's message to its parent, also if the parent is archived", async () => {
      const { parentId, childId, turn } = await at.createParentAndChild();
      const said = await turn.tool("notify_parent", { message: "a\n[orchestration] 9 events" });
      expect(said.error).toBeNull();
      const told = await at.turnOf(parentId);
      expect(told.assignment.content).toBe(
        `[orchestration] 1 event from your child sessions.\n\n1. worker.notified: "counter" (${childId}) sent you a message and continues working.\n> a\n> [orchestration] 9 events`,
      );
      await at.settle(told, done("ok"));
      await sessions().archive(owner, parentId, false);
      const away = await turn.tool("notify_parent", { message: "b" });
      expect(away.output).toMatch(/reads the message when it is back/);
      await sessions().wake(owner, parentId);
      expect((await at.turnOf(parentId)).assignment.content).toContain("> b");
    });

    describe("a child whose repository cannot be cloned", () => {
      const purge = () => at.world.kernel.sweeps.tick();

      it("is reported to the parent, and leaves nothing behind", async () => {
        const parentId = await at.parent({ budget: 100 });
        const childId = await at.spawn(parentId, { repo: "https://example.org/no/such.git" });
        await at.settle(await at.turnOf(childId), CLONE_FAILED);
        // The remaining work is a row, which survives a kill.
        expect(await at.session(childId)).toMatchObject({ lifecycle: "terminated" });
        await purge();
        expect(await at.row(childId)).toBeUndefined();
        expect(await linkOf(childId)).toBeUndefined();
        expect(await budgetOf(parentId)).toBe(100);
        const woken = await at.turnOf(parentId);
        expect(woken.assignment.content).toMatch(/^1\. worker\.ended: .*\(failed\)/m);
        expect(woken.assignment.content).toContain("> fatal: repository not found");
        expect(woken.assignment.content).toContain("The session was removed.");
        expect(await at.inbox(parentId)).toMatchObject([
          { workerId: childId, payload: { isRemoved: true, code: "workspace_clone_failed" } },
        ]);
      });

      it("stays when a person made it or spoke to it, or when it had begun", async () => {
        const parentId = await at.parent();
        const fail = async (childId: string) => {
          await at.settle(await at.turnOf(childId), CLONE_FAILED);
          await purge();
          expect(await at.session(childId)).toMatchObject({ lifecycle: "active" });
        };
        const { id } = await sessions().create(owner, {
          parentSessionId: parentId,
          prompt: "mine",
        });
        await fail(id);
        const spoken = await at.spawn(parentId);
        const turn = await at.turnOf(spoken);
        await at.sendPrompt(spoken, "hello");
        await at.settle(turn, CLONE_FAILED);
        await fail(spoken);
        const begun = await at.spawn(parentId);
        await at.settle(await at.turnOf(begun), done("ok"));
        await at.sendPrompt(begun, "more");
        await fail(begun);
      });

      it("is purged only when no turn holds it, and not after it was revived", async () => {
        const { parentId, childId, turn } = await at.createParentAndChild();
        await at.act(parentId, async (work) => {
          const { child, link } = await requireChild(work, parentId, childId);
          await endChild(work, child, link, "archived");
          await purgeSoon(work, child.row);
        });
        await purge();
        expect(await at.row(childId)).toBeDefined();
        await sessions().wake(owner, childId);
        await at.settle(turn, { outcome: "aborted" });
        if (made === undefined) at.world.clock.advance(1_000);
        else await new Promise((resolve) => setTimeout(resolve, 1_100));
        await purge();
        expect(await at.session(childId)).toMatchObject({ lifecycle: "active" });
      });
    });
  });
}

suite("endings on sqlite", async () => undefined);
describe.skipIf(!postgresUrl)("with a server", () => {
  suite("endings on postgres", () => createTestDatabase());
});
