/** An allowed call that no runner has performed when the session moves to another machine. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { decideGate } from "#engine/gates/index.ts";
import { relocateSession } from "#engine/workspaces/index.ts";
import { createDelegation } from "#features/delegation/index.ts";
import { FakeSessionTree } from "#features/fake-session-tree/index.ts";
import { policy } from "#features/policy/index.ts";
import { asks, owner, startWorld, type Turn } from "#features/testing/index.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import { approvals } from "./index.ts";

function suite(name: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(name, () => {
    let at: FakeSessionTree;
    let made: TestDatabase | undefined;
    beforeAll(async () => {
      made = await database();
      at = new FakeSessionTree(
        await startWorld([createDelegation(), policy, approvals], made?.url),
      );
    });
    afterEach(() => at.end());
    afterAll(async () => {
      await at.world.stop();
      await made?.drop();
    });

    const change = (sql: string) =>
      at.world.kernel.engine.store.transaction((tx) => tx.execute({ sql, parameters: [] }));
    const bindFiles = (turn: Turn) =>
      turn.journal([], {
        bind: {
          executorSessionId: null,
          executorType: "native",
          executorProfile: null,
          projectDir: null,
          workspaceId: `wsp_${turn.assignment.sessionId}`,
        },
      } as never);
    const ask = async (turn: Turn, callId: string, tool: string, input: object) => {
      const verdicts = await turn.journal([asks(callId, tool, input)]);
      expect(verdicts[callId]?.verdict).toBe("ask");
      await turn.journal([], { park: { kind: "gate", callId } });
    };
    const asked = async (sessionId: string) => {
      const query = { state: "pending", session: sessionId } as const;
      const { items } = await at.world.as(owner).approvals.list({ query });
      return items[0]?.id ?? "";
    };
    /** Removes the machine before the decision, so that the session continues elsewhere. */
    const moveAfter = async (sessionId: string, allowed: boolean): Promise<Turn> => {
      await change(
        "update runners set state = 'offline', last_seen_at = last_seen_at - 360000 where name = 'r'",
      );
      const id = await asked(sessionId);
      // One step, because the runner of this test is always connected.
      await at.act(sessionId, async (work, session) => {
        const decision = { allowed, reason: null, answers: null, scope: "once" } as const;
        await decideGate(work, id, decision, owner.userId);
        await relocateSession(work, session);
      });
      await change("update runs set available_at = 0 where state = 'pending'");
      await change("update runners set state = 'online' where name = 'r'");
      return at.turnOf(sessionId);
    };
    const begin = async () => {
      const sessionId = await at.world.createSession();
      const turn = await at.prompt(sessionId);
      await bindFiles(turn);
      return { sessionId, turn };
    };

    it("is not acted on there: the agent makes the call again, and it is judged again", async () => {
      const { sessionId, turn } = await begin();
      const command = { command: "git push origin main" };
      await ask(turn, "c1", "bash", command);
      const next = await moveAfter(sessionId, true);
      expect(next.assignment.decisions).toMatchObject([
        { callId: "c1", allowed: false, reason: expect.stringContaining("make the call again") },
      ]);
      // The call was not performed, but nobody denied it: the same call asks again.
      await ask(next, "c2", "bash", command);
      await at.world.as(owner).approvals.decide({
        id: await asked(sessionId),
        body: { decision: "allow" },
      });
      const last = await at.turnOf(sessionId);
      expect(last.assignment.decisions).toContainEqual(
        expect.objectContaining({ callId: "c2", allowed: true }),
      );
      await at.settle(last, { outcome: "completed" });
    });

    it("stays a no when it was one", async () => {
      const { sessionId, turn } = await begin();
      await ask(turn, "c1", "bash", { command: "git push origin main" });
      const next = await moveAfter(sessionId, false);
      expect(next.assignment.decisions).toMatchObject([
        { callId: "c1", allowed: false, reason: expect.stringContaining("did not allow") },
      ]);
      await at.settle(next, { outcome: "completed" });
    });

    // The last test, because its machine is gone afterwards.
    it("says on an approval that still waits that its machine was removed", async () => {
      const { sessionId, turn } = await begin();
      await ask(turn, "c1", "bash", { command: "git push origin main" });
      const id = await asked(sessionId);
      const { items } = await at.world.kernel.runners.list(owner);
      await at.world.kernel.runners.remove(owner, items[0]?.id ?? "");
      const { approval } = await at.world.as(owner).approvals.get({ id });
      expect(approval).toMatchObject({ state: "pending", callId: "c1" });
      const { reason } = approval.shown as { reason: string };
      expect(reason).toMatch(/^The session has moved to another machine .* \(builtin:git-push\)$/s);
    });
  });
}

suite("on SQLite", async () => undefined);
describe.skipIf(!postgresUrl)("with a server", () => {
  suite("on PostgreSQL", createTestDatabase);
});
