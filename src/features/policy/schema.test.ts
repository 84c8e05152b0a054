import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "#base/clock.ts";
import { silentLog as log } from "#base/log.ts";
import { openStore, type Store } from "#base/store/index.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import { policyMigrations } from "./schema.ts";

function suite(title: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(title, () => {
    let made: TestDatabase | undefined;
    let store: Store;
    beforeAll(async () => {
      made = await database();
      const url = made?.url ?? "sqlite::memory:";
      store = await openStore({ url, clock: systemClock, log, onSyncFailure: () => {} });
    });
    afterAll(async () => {
      await store.close();
      await made?.drop();
    });

    it("binds earlier decisions about commands to a sandbox, and no other rules", async () => {
      await store.migrate(policyMigrations.slice(0, 2));
      const decided = "Decided when an agent asked.";
      const rules = [
        ["decided", "bash", "exact", "allow", decided],
        ["denied", "bash", "exact", "deny", decided],
        ["file", "write", "exact", "allow", decided],
        ["by_hand", "bash", "glob", "allow", ""],
      ];
      for (const [id, tool, match, effect, note] of rules)
        await store.transaction((tx) =>
          tx.execute({
            sql: `insert into policy_rules (id, org_id, level, tool, pattern, match, effect, note, created_by, created_at)
              values ('${id}', 'org_1', 'user', '${tool}', 'x', '${match}', '${effect}', '${note}', 'usr_1', 1)`,
            parameters: [],
          }),
        );
      await store.migrate(policyMigrations);
      const bound = await store.read((reader) =>
        reader.query<{ id: string }>({
          sql: "select id from policy_rules where sandboxed_only = 1",
          parameters: [],
        }),
      );
      expect(bound.map(({ id }) => id)).toEqual(["decided"]);
    });
  });
}

suite("rules on SQLite", async () => undefined);
describe.skipIf(!postgresUrl)("with a server", () => {
  suite("rules on PostgreSQL", createTestDatabase);
});
