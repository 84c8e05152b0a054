/** Personas of shown sessions cost one query for a page, and none when nobody has one. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { systemClock } from "#base/clock.ts";
import { silentLog as log } from "#base/log.ts";
import { openStore, type Reader, type Store } from "#base/store/index.ts";
import { kernelMigrations, type SessionRow } from "#engine/index.ts";
import { personaMigrations } from "../schema.ts";
import { describeSessions, findPinned } from "./pinned.ts";

let store: Store;
beforeAll(async () => {
  const clock = systemClock;
  store = await openStore({ url: "sqlite::memory:", clock, log, onSyncFailure: () => {} });
  await store.migrate([...kernelMigrations, ...personaMigrations]);
  await store.transaction((tx) =>
    tx.execute({
      sql: `insert into persona_pins
            (session_id, org_id, persona_id, version_id, slug, version, pinned_at)
            values ('a', 'org_1', 'per_1', 'psv_1', 'careful', 3, 1),
                   ('b', 'org_1', 'per_1', 'psv_2', 'careful', 4, 1)`,
      parameters: [],
    }),
  );
});
afterAll(() => store.close());

const row = (id: string, labels = "") => ({ id, labels }) as SessionRow;

/** Counts the statements of a read. */
async function counted<T>(read: (reader: Reader) => Promise<T>): Promise<[number, T]> {
  let count = 0;
  const result = await store.read((reader) => {
    const counting = new Proxy(reader, {
      get(target, name) {
        const member = Reflect.get(target, name) as unknown;
        if (typeof member !== "function") return member;
        count += 1;
        return member.bind(target);
      },
    });
    return read(counting);
  });
  return [count, result];
}

it("reads those of a page at once, and nothing for a page without any", async () => {
  const page = [row("a", "memory persona"), row("b", "persona"), row("c")];
  const [queries, views] = await counted((reader) => describeSessions(reader, page));
  expect(queries).toBe(1);
  expect([...views]).toEqual([
    ["a", { persona: "careful", personaVersion: 3 }],
    ["b", { persona: "careful", personaVersion: 4 }],
  ]);
  expect(await counted((reader) => describeSessions(reader, [row("c"), row("d")]))).toEqual([
    0,
    new Map(),
  ]);
});

it("asks for the persona of one session only when it has one", async () => {
  const [queries, pinned] = await counted((reader) => findPinned(reader, row("b", "persona")));
  expect([queries, pinned?.slug]).toEqual([1, "careful"]);
  expect(await counted((reader) => findPinned(reader, row("b")))).toEqual([0, undefined]);
});

it("finds sessions of a persona by an index", async () => {
  const plan = await store.read((reader) =>
    reader.query<{ detail: string }>({
      sql: `explain query plan select id from sessions where org_id = 'org_1'
            and id in (select session_id from persona_pins where slug = 'careful')`,
      parameters: [],
    }),
  );
  expect(plan.map(({ detail }) => detail).join("; ")).toContain("INDEX persona_pins_slug");
});
