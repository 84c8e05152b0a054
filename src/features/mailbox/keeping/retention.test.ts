import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startWorld, type World } from "#features/testing/index.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import { createMailbox } from "../index.ts";

const DAY_MS = 24 * 60 * 60_000;

function suite(name: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(name, () => {
    let world: World;
    let made: TestDatabase | undefined;
    beforeAll(async () => {
      made = await database();
      world = await startWorld([createMailbox()], made?.url);
    });
    afterAll(async () => {
      await world.stop();
      await made?.drop();
    });

    it("removes what was read or archived a year ago, and nothing that waits for somebody", async () => {
      const { store, clock } = world.kernel.engine;
      const old = clock.now() - 400 * DAY_MS;
      const young = clock.now() - 300 * DAY_MS;
      const messages: Record<
        string,
        [read: number | null, archived: number | null, snoozed?: number]
      > = {
        read: [old, null],
        archived: [null, old],
        unread: [null, null],
        "read lately": [young, null],
        "read long ago, archived lately": [old, young],
        "snoozed again": [old, null, clock.now() + DAY_MS],
      };
      for (const [id, [read, archived, snoozed = null]] of Object.entries(messages))
        await store.transaction((tx) =>
          tx.execute({
            sql: `insert into messages (id, org_id, thread_id, from_user_id, from_name, to_user_id, to_name,
              message_type, content, hops, fate, surfaced_at, created_at, read_at, archived_at, snoozed_until)
              values ('${id}', 'org_1', 't', 'usr_1', 'n', 'usr_2', 'n', 'message', 'c', 0, 'delivered',
              1, 1, ${read}, ${archived}, ${snoozed})`,
            parameters: [],
          }),
        );
      await world.kernel.housekeeping.round();
      const left = await store.read((reader) =>
        reader.query<{ id: string }>({
          sql: "select id from messages order by id",
          parameters: [],
        }),
      );
      expect(left.map(({ id }) => id).toSorted()).toEqual(
        ["read lately", "read long ago, archived lately", "snoozed again", "unread"].toSorted(),
      );
    });
  });
}

suite("old messages on SQLite", async () => undefined);
if (postgresUrl) suite("old messages on PostgreSQL", createTestDatabase);
