/** Counting active sessions, whenever one is made, must not read every session there ever was. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "#base/clock.ts";
import { silentLog as log } from "#base/log.ts";
import { openStore, type Reader, type Store } from "#base/store/index.ts";
import { kernelMigrations } from "#engine/migrations.ts";
import { listHeldAsleep } from "../queries.ts";
import { listAwakeInOrg, listAwakeOf } from "./ceiling-queries.ts";

let store: Store;
beforeAll(async () => {
  const clock = systemClock;
  store = await openStore({ url: "sqlite::memory:", clock, log, onSyncFailure: () => {} });
  await store.migrate(kernelMigrations);
});
afterAll(() => store.close());

interface Bindable {
  bind(dialect: string, params: unknown): { sql: string; parameters: readonly unknown[] };
}

/** Query plan of SQLite for the one statement that `read` runs. */
async function planOf(read: (reader: Reader) => Promise<unknown>): Promise<string> {
  let asked = { sql: "", parameters: [] as readonly unknown[] };
  const note = async (statement: Bindable, params: unknown) => {
    asked = statement.bind("sqlite", params);
    return [];
  };
  await read({ dialect: "sqlite", first: note, all: note } as unknown as Reader);
  const { sql, parameters } = asked;
  const rows = await store.read((reader) =>
    reader.query<{ detail: string }>({ sql: `explain query plan ${sql}`, parameters } as never),
  );
  return rows.map(({ detail }) => detail).join("; ");
}

describe("sessions are counted and found by indexes of those alone that matter", () => {
  it.each<[string, (reader: Reader) => Promise<unknown>, string]>([
    [
      "of an org",
      (reader) => listAwakeInOrg(reader, { orgId: "org_1", limit: 200 }),
      "sessions_active_in_org",
    ],
    [
      "of a person",
      (reader) => listAwakeOf(reader, { orgId: "org_1", ownerId: "usr_1", limit: 10 }),
      "sessions_active",
    ],
    ["held asleep", (reader) => listHeldAsleep(reader, "", 10), "sessions_held_asleep"],
  ])("%s", async (_what, read, index) => {
    expect(await planOf(read)).toMatch(new RegExp(`USING (COVERING )?INDEX ${index}\\b`));
  });
});
