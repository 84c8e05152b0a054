/**
 * A child whose machine is gone: its parent is notified once, and a parent or a person can relocate
 * it.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { notifyMachinesGone } from "#engine/runs/index.ts";
import { FakeSessionTree } from "#features/fake-session-tree/index.ts";
import { member, owner, startWorld, stranger, type Turn } from "#features/testing/index.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import { createDelegation } from "../index.ts";

const CHANGES = {
  files: [
    {
      path: "a.txt",
      status: "added",
      from: null,
      additions: 1,
      deletions: 0,
      binary: false,
      patch:
        "diff --git a/a.txt b/a.txt\nnew file mode 100644\n--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+hi\n",
    },
    {
      path: "pic.png",
      status: "added",
      from: null,
      additions: 0,
      deletions: 0,
      binary: true,
      patch: null,
    },
  ],
  more: 0,
  additions: 1,
  deletions: 0,
} as const;

function suite(title: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(title, () => {
    let at: FakeSessionTree;
    let made: TestDatabase | undefined;
    beforeAll(async () => {
      made = await database();
      at = new FakeSessionTree(await startWorld([createDelegation()], made?.url));
    });
    afterEach(() => at.end());
    afterAll(async () => {
      await at.world.stop();
      await made?.drop();
    });

    const change = (sql: string) =>
      at.world.kernel.engine.store.transaction((tx) => tx.execute({ sql, parameters: [] }));
    const relocate = (id: string, who = owner) => at.world.kernel.sessions.relocate(who, id);
    const refused = (code: string) => ({ code });

    /** Binds the child's files to a machine, and reports changes of its turn. */
    async function bindFiles(turn: Turn): Promise<void> {
      const { sessionId } = turn.assignment;
      await turn.journal([], {
        bind: {
          executorSessionId: null,
          executorType: "native",
          executorProfile: null,
          projectDir: null,
          workspaceId: `wsp_${sessionId}`,
        },
      } as never);
      await turn.journal([
        {
          type: "workspace_changed",
          entryId: `ent_${sessionId}`,
          turn: CHANGES,
          all: CHANGES,
          files: [],
          diskBytes: 3,
        } as never,
      ]);
    }
    /** Sets how long the machine has been gone. */
    const machineGone = (forMs: number) =>
      change(
        `update runners set state = 'offline', last_seen_at = last_seen_at - ${forMs} where name = 'r'`,
      );
    const machineBack = () => change("update runners set state = 'online' where name = 'r'");
    const lookForGone = () => {
      const { engine } = at.world.kernel;
      return notifyMachinesGone(engine, engine.clock.now());
    };

    /** A child whose next turn waits for a machine that is gone. */
    async function stuck(): Promise<{ parentId: string; childId: string; turn: Turn }> {
      const { parentId, childId, turn } = await at.createParentAndChild();
      await bindFiles(turn);
      await machineGone(6 * 60_000);
      const park = { kind: "pause", waitMs: 3_600_000, code: "models_unknown", message: "x" };
      await turn.journal([], { park } as never);
      return { parentId, childId, turn };
    }

    it("notifies the parent once, with its options", async () => {
      const { parentId, childId } = await stuck();
      await lookForGone();
      await lookForGone();
      expect(await at.inbox(parentId)).toMatchObject([
        {
          type: "worker.stopped_without_end",
          workerId: childId,
          payload: { code: "workspace_offline" },
        },
      ]);
      const woken = await at.turnOf(parentId);
      expect(woken.assignment.content).toContain("relocate_session");
      await machineBack();
      await at.settle(woken, { outcome: "completed" });
    });

    it("continues elsewhere with the recorded changes, and informs the agent", async () => {
      const { childId, turn } = await stuck();
      const moved = await relocate(childId);
      expect(moved).toMatchObject({ id: childId, activity: "waiting" });
      // A second click changes nothing.
      await relocate(childId);
      const log = await at.world.kernel.sessions.events(childId, 0, 1_000);
      const notices = log.filter(({ reason }) => reason === "workspace_relocated");
      expect(notices).toHaveLength(1);
      const text = JSON.stringify(notices[0]);
      expect(text).toContain("a.txt");
      expect(text).toContain("Not restored");
      expect(text).toContain("pic.png");
      await change("update runs set available_at = 0 where state = 'pending'");
      await machineBack();
      const next = await at.turnOf(childId);
      expect(next.assignment.carried).toEqual(CHANGES);
      expect(next.assignment.journal).toContainEqual(
        expect.objectContaining({ type: "notice", forModel: true }),
      );
      // The old attempt cannot write any more.
      await expect(turn.journal([], { settle: { outcome: "completed" } })).rejects.toThrow(
        "stale_fence",
      );
      await bindFiles(next);
      await at.settle(next, { outcome: "completed", result: "moved" });
      // The files have a machine again: nothing is carried over a second time.
      const later = await at.prompt(childId, "more");
      expect(later.assignment.carried).toBeUndefined();
      await at.settle(later, { outcome: "completed" });
    });

    it("refuses for a session that was started for a machine or folder no other runner has", async () => {
      const { childId } = await stuck();
      const demand = (demands: object) =>
        change(
          `update sessions set demands = '${JSON.stringify(demands)}' where id = '${childId}'`,
        );
      await demand({ projectDir: "/srv/app" });
      await expect(relocate(childId)).rejects.toMatchObject({
        code: "workspace_not_movable",
        message: expect.stringContaining("the folder /srv/app"),
      });
      await demand({ hostname: "build-1" });
      await expect(relocate(childId)).rejects.toMatchObject(refused("workspace_not_movable"));
      await change(`update sessions set demands = null where id = '${childId}'`);
      await relocate(childId);
      await machineBack();
    });

    it("refuses while the machine is there, without files, and while something is asked", async () => {
      const { childId, turn } = await at.createParentAndChild();
      await expect(relocate(childId)).rejects.toMatchObject(refused("workspace_missing"));
      await bindFiles(turn);
      await expect(relocate(childId)).rejects.toMatchObject(refused("workspace_online"));
      // Only the connection may be lost: the machine holds the turn and a lease.
      await machineGone(1_000);
      await expect(relocate(childId)).rejects.toMatchObject(refused("workspace_online"));
      await machineBack();
      await at.ask(turn, "Which port?");
      await machineGone(1_000);
      await expect(relocate(childId)).rejects.toMatchObject(refused("session_busy"));
      await machineBack();
    });

    it("is nobody's but the owner's and the parent's", async () => {
      const { childId } = await stuck();
      for (const who of [member, stranger])
        await expect(relocate(childId, who)).rejects.toMatchObject(refused("not_found"));
      const narrow = { ...owner, scopes: ["sessions:read"] };
      await expect(relocate(childId, narrow)).rejects.toMatchObject(refused("not_found"));
      await machineBack();
    });

    it("is a tool of the parent for its own children only", async () => {
      const { parentId, childId } = await stuck();
      const other = await at.parent();
      await machineBack();
      const foreign = await at.prompt(other);
      const mine = await at.prompt(parentId);
      await machineGone(1_000);
      const refusedCall = await foreign.tool("relocate_session", { sessionId: childId });
      expect(refusedCall.error).toContain("no child session");
      const done = await mine.tool("relocate_session", { sessionId: childId });
      expect(done).toMatchObject({ error: null, output: { relocated: true } });
      await machineBack();
      await at.settle(foreign, { outcome: "completed" });
      await at.settle(mine, { outcome: "completed" });
    });
  });
}

suite("a machine that is gone, on SQLite", async () => undefined);
describe.skipIf(!postgresUrl)("on PostgreSQL", () => {
  suite("a machine that is gone, on PostgreSQL", () => createTestDatabase());
});
