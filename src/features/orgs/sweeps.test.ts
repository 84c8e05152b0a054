/** Sweeps over the work and data of former members. */
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { createChangeReporter, type Kernel, type Person } from "#engine/index.ts";
import { authMigrations } from "#features/auth/index.ts";
import { member, startWorld, type World } from "#features/testing/index.ts";
import { createOrgs, orgMigrations } from "./index.ts";
import { continuePurges } from "./purge-member.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld([
    { name: "auth", migrations: authMigrations },
    { name: "orgs", migrations: orgMigrations },
  ]);
});
afterAll(() => world.stop());

const execute = (sql: string) =>
  world.kernel.engine.store.transaction((tx) => tx.execute({ sql, parameters: [] }));
const query = <T>(sql: string) =>
  world.kernel.engine.store.read((reader) => reader.query<T>({ sql, parameters: [] } as never));

beforeEach(() => execute("delete from member_purges"));

it("one purge that fails does not stop those after it, however many fail", async () => {
  for (let n = 1; n <= 8; n++)
    await execute(
      `insert into member_purges (user_id, org_id, asked_by, asked_at) values ('usr_${n}', 'org_1', 'usr_0', ${n})`,
    );
  const purgePerson = async ({ userId }: Person) => {
    if (Number(userId.slice(4)) <= 6) throw new Error(`${userId} cannot be purged`);
    return true;
  };
  await expect(continuePurges(world.kernel.engine, { purgePerson })).rejects.toThrow("usr_1");
  const done = await query<{ user_id: string }>(
    "select user_id from member_purges where done_at is not null order by user_id",
  );
  expect(done.map(({ user_id }) => user_id)).toEqual(["usr_7", "usr_8"]);
});

it("only those who have left and have sessions that are awake are looked at again", async () => {
  const id = await world.createSession({}, member);
  for (const [userId, removedAt] of [
    [member.userId, "1"],
    ["usr_gone", "1"],
    ["usr_here", "null"],
  ])
    await execute(
      `insert into users (id, org_id, name, email, role, timezone, locale, created_at, removed_at)
       values ('${userId}', 'org_1', 'x', null, 'member', 'UTC', 'en', 1, ${removedAt})`,
    );
  await world.createSession({}, { ...member, userId: "usr_here" });
  const asked: string[] = [];
  const { engine, sessions, prompts, dispatcher } = world.kernel;
  const list: Kernel["sessions"]["list"] = (who, wanted) => {
    if (who.kind === "user") asked.push(who.userId);
    return sessions.list(who, wanted);
  };
  const work = { ...world.kernel, sessions: { ...sessions, list }, prompts, dispatcher };
  const { store, ids, clock } = engine;
  const { feature } = createOrgs({
    store,
    ids,
    clock,
    tell: createChangeReporter(() => engine),
    auth: { forget() {} },
    work: () => work,
    baseUrl: () => "",
  });
  const sweep = feature.sweeps?.find(({ name }) => name === "work of those who left");
  await sweep?.run(engine, clock.now());
  expect(asked).toEqual([member.userId]);
  expect(await sessions.get(member, id)).toMatchObject({ lifecycle: "hibernated" });
  asked.length = 0;
  await sweep?.run(engine, clock.now());
  expect(asked).toEqual([]);
});
