import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createMemoryBus } from "#base/bus/memory/memory-bus.ts";
import { silentLog as log } from "#base/log.ts";
import { createKernel, type Kernel, type Person, type Work } from "#engine/index.ts";
import { member, startWorld, type World } from "#features/testing/index.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";

const SESSIONS = 45;
const person: Person = { orgId: member.orgId, userId: member.userId };

function suite(name: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(name, () => {
    let world: World;
    let made: TestDatabase | undefined;
    const asked: string[] = [];
    let left = 2;
    const feature = {
      name: "keeper",
      async purgePerson(_work: Work, { userId }: Person) {
        asked.push(userId);
        left -= 1;
        return left <= 0;
      },
    };
    beforeAll(async () => {
      made = await database();
      world = await startWorld([feature], made?.url);
    });
    afterAll(async () => {
      await world.stop();
      await made?.drop();
    });

    const count = async (table: string) => {
      const sql = `select count(*) as n from ${table}`;
      const [row] = await world.kernel.engine.store.read((reader) =>
        reader.query<{ n: number | string }>({ sql, parameters: [] } as never),
      );
      return Number(row?.n);
    };
    /** Creates a kernel as a restarted server would: it knows nothing but the database. */
    const another = (): Promise<Kernel> =>
      createKernel({
        store: world.kernel.engine.store,
        bus: createMemoryBus(log),
        clock: world.kernel.engine.clock,
        ids: world.kernel.engine.ids,
        log,
        features: [feature],
        defaults: {
          runtime: "native",
          model: null,
          limits: { activePerUser: 100, activePerOrg: 100 },
        },
      });

    it("goes batch by batch, on whichever server, and asks features when sessions are gone", async () => {
      const kept = await world.createSession({ title: "mine" });
      for (let n = 0; n < SESSIONS; n++) await world.createSession({}, member);
      const tidied: string[] = [];
      world.kernel.engine.announcer.onTidy((runnerId) => tidied.push(runnerId));
      const [{ id: first } = { id: "" }] = (await world.kernel.sessions.list(member, { limit: 1 }))
        .items;
      await world.kernel.engine.store.transaction((tx) =>
        tx.execute({
          sql: `insert into workspaces (id, org_id, session_id, runner_id, bytes, updated_at, created_at)
                values ('wsp_1', 'org_1', '${first}', 'rnr_held', 1, 1, 1)`,
          parameters: [],
        }),
      );

      expect(await world.kernel.purgePerson(person)).toBe(false);
      expect(await count("sessions")).toBe(SESSIONS + 1 - 20);
      const later = await another();
      expect(await later.purgePerson(person)).toBe(false);
      expect(await world.kernel.purgePerson(person)).toBe(false);
      expect(await count("sessions")).toBe(1);
      expect(asked).toEqual([]);
      expect(await later.purgePerson(person)).toBe(false);
      expect(await later.purgePerson(person)).toBe(true);
      expect(asked).toEqual([member.userId, member.userId]);
      // Once when the session ended and once when it was removed: only then may the machine remove its files.
      expect(tidied).toEqual(["rnr_held", "rnr_held"]);
      await later.stop();
      expect(
        (await world.kernel.sessions.list({ ...member, userId: "usr_1" }, { limit: 10 })).items,
      ).toMatchObject([{ id: kept }]);
    });

    it("stops a running turn and waits for its end", async () => {
      left = 1;
      const id = await world.createSession({}, member);
      const turn = await world.startTurn(id, "go", member);
      expect(await world.kernel.purgePerson(person)).toBe(false);
      expect(await world.kernel.sessions.get(member, id)).toMatchObject({
        lifecycle: "terminated",
      });
      await turn.journal([], { settle: { outcome: "aborted", usage: null } as never });
      expect(await world.kernel.purgePerson(person)).toBe(false);
      await expect(world.kernel.sessions.get(member, id)).rejects.toMatchObject({
        code: "not_found",
      });
      expect(await world.kernel.purgePerson(person)).toBe(true);
    });
  });
}

suite("purging on sqlite", async () => undefined);
describe.skipIf(!postgresUrl)("with a server", () => {
  suite("purging on postgres", createTestDatabase);
});
