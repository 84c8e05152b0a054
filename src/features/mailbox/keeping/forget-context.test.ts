/** Tasks and messages drop the ids of deleted sessions and tasks, and are otherwise unchanged. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { command } from "#engine/index.ts";
import { purgeEnded } from "#engine/sessions/index.ts";
import { createDelegation } from "#features/delegation/index.ts";
import { FakeSessionTree } from "#features/fake-session-tree/index.ts";
import { tasks } from "#features/tasks/index.ts";
import { owner, startWorld } from "#features/testing/index.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import { createMailbox } from "../index.ts";

interface Context {
  id: string;
  context_session_id: string | null;
  context_task_id: string | null;
}

function suite(name: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(name, () => {
    let at: FakeSessionTree;
    let made: TestDatabase | undefined;
    beforeAll(async () => {
      made = await database();
      at = new FakeSessionTree(
        await startWorld([createDelegation(), tasks, createMailbox()], made?.url),
      );
    });
    afterAll(async () => {
      await at.world.stop();
      await made?.drop();
    });
    const engine = () => at.world.kernel.engine;
    const writeMessage = (id: string, sessionId: string | null, taskId: string | null) =>
      engine().store.transaction((tx) =>
        tx.execute({
          sql: `insert into messages (id, org_id, thread_id, from_user_id, from_name, to_user_id, to_name,
            message_type, content, hops, fate, surfaced_at, created_at, context_session_id, context_task_id)
            values ('${id}', 'org_1', 't', 'usr_1', 'n', 'usr_2', 'n', 'message', 'c', 0, 'delivered', 1, 1,
            ${sessionId && `'${sessionId}'`}, ${taskId && `'${taskId}'`})`,
          parameters: [],
        }),
      );
    const messages = async () => {
      const sql =
        "select id, context_session_id, context_task_id from messages where content = 'c' order by id";
      const rows = await engine().store.read((reader) =>
        reader.query<Context>({ sql, parameters: [] }),
      );
      return Object.fromEntries(
        rows.map((row) => [row.id, [row.context_session_id, row.context_task_id]]),
      );
    };

    it("forgets a purged session and a deleted task, and nothing of others", async () => {
      const lead = await at.parent();
      const [child, other] = [await at.spawn(lead), await at.spawn(lead)];
      const call = <T>(method: string, path: string, body?: object) =>
        at.world.call<T>(owner, method, `/api/sessions/${lead}/tasks${path}`, body);
      const create = async () =>
        (await call<{ task: { id: string } }>("POST", "", { title: "t" })).task.id;
      const [done, kept, gone] = [await create(), await create(), await create()];
      await call("PUT", `/${done}`, { status: "completed", sessionId: child });
      await call("PUT", `/${kept}`, { status: "completed", sessionId: other });
      await writeMessage("a", child, done);
      await writeMessage("b", other, gone);
      await writeMessage("c", other, kept);

      await call("DELETE", `/${gone}`);
      await at.settle(await at.turnOf(child), { outcome: "completed", result: "ok" });
      await at.world.kernel.sessions.terminate(owner, child);
      expect(await command(engine(), (work) => purgeEnded(work, child))).toBe("gone");

      const assignee = async (id: string) =>
        (await call<{ task: { sessionId: string | null; status: string } }>("GET", `/${id}`)).task;
      expect(await assignee(done)).toMatchObject({ sessionId: null, status: "completed" });
      expect(await assignee(kept)).toMatchObject({ sessionId: other, status: "completed" });
      expect(await messages()).toEqual({
        a: [null, done],
        b: [other, null],
        c: [other, kept],
      });
    });
  });
}

suite("forgotten ids on SQLite", async () => undefined);
describe.skipIf(!postgresUrl)("with a server", () => {
  suite("forgotten ids on PostgreSQL", createTestDatabase);
});
