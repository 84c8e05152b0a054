/** A person's orchestrator is created with its first task. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { authMigrations, insertUser } from "#features/auth/index.ts";
import { createDelegation } from "#features/delegation/index.ts";
import { tasks } from "#features/tasks/index.ts";
import { member, owner, startWorld, type User, type World } from "#features/testing/index.ts";
import { createOrchestrators } from "../index.ts";

let world: World;
beforeAll(async () => {
  const auth = { name: "auth", migrations: authMigrations };
  world = await startWorld([auth, createDelegation(), createOrchestrators(), tasks]);
  await world.kernel.engine.store.transaction(async (tx) => {
    const sql = "insert into orgs (id, name, slug, created_at) values ('org_1', 'Crew', 'crew', 1)";
    await tx.execute({ sql, parameters: [] });
    for (const { userId: id, orgId: org_id, name, role } of [owner, member])
      await insertUser(tx, {
        ...{ id, org_id, name, role, email: null },
        ...{ timezone: "UTC", locale: "en", created_at: 1 },
      });
  });
});
afterAll(() => world.stop());

const board = ({ userId }: User) => `orchestrator:${userId}`;
const add = (who: User, id: string) =>
  world.call<{ task: { boardId: string } }>(who, "POST", `/api/sessions/${id}/tasks`, {
    title: "First",
  });

it("is made for its person, and by nobody else", async () => {
  await expect(add(owner, board(member))).rejects.toMatchObject({ code: "not_found" });
  await expect(add({ ...member, scopes: ["tasks"] }, board(member))).rejects.toMatchObject({
    code: "not_found",
  });
  await expect(world.kernel.sessions.get(member, board(member))).rejects.toMatchObject({
    code: "not_found",
  });
  expect((await add(member, board(member))).task.boardId).toBe(board(member));
  expect(await world.kernel.sessions.get(member, board(member))).toMatchObject({
    kind: "orchestrator",
    lifecycle: "active",
  });
});
