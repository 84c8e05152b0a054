/**
 * The contract of every store, whichever database is behind it. Each implementation runs this
 * suite.
 */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Dialect, Migration, Store } from "./index.ts";
import { builder, inserter, statements } from "./index.ts";

interface NoteRow {
  id: string;
  body: string;
  at: number;
}
interface CounterRow {
  id: string;
  n: number;
}
interface Tables {
  notes: NoteRow;
  counters: CounterRow;
}

const prepare = statements<Tables>();
const insertNotes = inserter<NoteRow>("notes", ["id", "body", "at"]);
const insertCounters = inserter<CounterRow>("counters", ["id", "n"]);
const findNote = prepare<{ id: string }, NoteRow>((db, p) =>
  db.selectFrom("notes").selectAll().where("id", "=", p("id")),
);
const countNotes = prepare<Record<never, never>, { n: number; total: number | null }>((db) =>
  db
    .selectFrom("notes")
    .select((eb) => [eb.fn.countAll<number>().as("n"), eb.fn.sum<number>("at").as("total")]),
);
const lockCounter = prepare<{ id: string }, CounterRow>((db, p, dialect) => {
  const query = db.selectFrom("counters").selectAll().where("id", "=", p("id"));
  return dialect === "postgres" ? query.forUpdate() : query;
});
const setCounter = prepare<CounterRow, unknown>((db, p) =>
  db
    .updateTable("counters")
    .set({ n: p("n") })
    .where("id", "=", p("id")),
);

const migrations: readonly Migration[] = [
  {
    id: "0001-notes",
    statements: (dialect) => [
      `create table notes (id text ${bytewise(dialect)} primary key, body text not null, at bigint not null)`,
      "create table counters (id text primary key, n integer not null)",
    ],
  },
];

function bytewise(dialect: Dialect): string {
  return dialect === "postgres" ? 'collate "C"' : "";
}

export interface StoreUnderTest {
  open(): Promise<Store>;
  /** Removes what `open` made. */
  discard(): Promise<void>;
}

const note = (id: string, body = "text", at = 1): NoteRow => ({ id, body, at });

export function storeContract(name: string, create: () => Promise<StoreUnderTest>): void {
  describe(`store contract: ${name}`, () => {
    let subject: StoreUnderTest;
    let store: Store;

    beforeEach(async () => {
      subject = await create();
      store = await subject.open();
      await store.migrate(migrations);
    });
    afterEach(async () => {
      await store.close();
      await subject.discard();
    });

    const add = (row: NoteRow) =>
      store.transaction((tx) => tx.execute(insertNotes(tx.dialect, [row])));
    const find = (id: string) => store.read((reader) => reader.first(findNote, { id }));

    it("keeps what a transaction wrote, and returns what it returned", async () => {
      const changed = await add(note("a", "hello", 1_793_000_000_123));
      expect(changed).toBe(1);
      expect(await find("a")).toEqual(note("a", "hello", 1_793_000_000_123));
    });

    it("takes text that no database stores, and keeps what can be kept of it", async () => {
      await add(note("nul\u0000", "a\u0000b\ud800c"));
      expect(await find("nul\u0000")).toEqual(note("nul\ufffd", "a\ufffdb\ufffdc"));
      const aside = (id: string) =>
        store.readAside(10_000, (reader) => reader.first(findNote, { id }));
      expect(await aside("nul\ud800")).toEqual(note("nul\ufffd", "a\ufffdb\ufffdc"));
      expect(await find("none\u0000")).toBeUndefined();
    });

    it("finds nothing in an empty list", async () => {
      await add(note("a"));
      const among = (dialect: Dialect, ids: string[]) =>
        builder<Tables>(dialect).selectFrom("notes").select("id").where("id", "in", ids).compile();
      const found = (ids: string[]) =>
        store.read((reader) => reader.query<{ id: string }>(among(reader.dialect, ids)));
      expect(await found([])).toEqual([]);
      expect(await found(["a"])).toEqual([{ id: "a" }]);
      const without = await store.read((reader) =>
        reader.query(
          builder<Tables>(reader.dialect)
            .selectFrom("notes")
            .select("id")
            .where("id", "not in", [] as string[])
            .compile(),
        ),
      );
      expect(without).toEqual([{ id: "a" }]);
    });

    it("reads aside what was committed, by any kind of statement", async () => {
      await add(note("a", "aside"));
      const all = prepare<Record<never, never>, NoteRow>((db) =>
        db.selectFrom("notes").selectAll(),
      );
      const seen = await store.readAside(10_000, async (reader) => [
        await reader.first(findNote, { id: "a" }),
        await reader.first(findNote, { id: "none" }),
        ...(await reader.all(all, {})),
        ...(await reader.query<{ n: number }>({ sql: "select 1 as n", parameters: [] })),
      ]);
      expect(seen).toEqual([note("a", "aside"), undefined, note("a", "aside"), { n: 1 }]);
      await add(note("b"));
      const later = await store.readAside(10_000, (reader) => reader.first(findNote, { id: "b" }));
      expect(later).toEqual(note("b"));
    });

    it("tells the error of a statement that it reads aside, and goes on", async () => {
      const wrong = { sql: "select id from nowhere", parameters: [] };
      await expect(store.readAside(10_000, (reader) => reader.query(wrong))).rejects.toThrow(
        /nowhere/,
      );
      await add(note("a"));
      const found = store.readAside(10_000, (reader) => reader.first(findNote, { id: "a" }));
      expect(await found).toEqual(note("a"));
    });

    it("undoes everything a failed transaction did, and says why", async () => {
      const failed = store.transaction(async (tx) => {
        await tx.execute(insertNotes(tx.dialect, [note("a"), note("b")]));
        throw new Error("no");
      });
      await expect(failed).rejects.toThrow("no");
      expect(await find("a")).toBeUndefined();
    });

    it("undoes only the one that failed among many at once", async () => {
      const results = await Promise.allSettled(
        Array.from({ length: 40 }, (_, i) =>
          store.transaction(async (tx) => {
            await tx.execute(insertNotes(tx.dialect, [note(`n${i}`)]));
            if (i % 4 === 0) throw new Error(`no ${i}`);
          }),
        ),
      );
      expect(results.filter((result) => result.status === "rejected")).toHaveLength(10);
      expect(await store.read((reader) => reader.first(countNotes, {}))).toMatchObject({ n: 30 });
    });

    it("leaves a constraint's error to the caller and goes on", async () => {
      await add(note("a"));
      await expect(add(note("a"))).rejects.toThrow();
      await add(note("b"));
      expect(await find("b")).toBeDefined();
    });

    it("announces after the commit, and never after a failure", async () => {
      const heard: string[] = [];
      await store.transaction(async (tx) => {
        tx.afterCommit(() => heard.push("kept"));
        await tx.execute(insertNotes(tx.dialect, [note("a")]));
        heard.push("working");
      });
      await store
        .transaction(async (tx) => {
          tx.afterCommit(() => heard.push("never"));
          throw new Error("no");
        })
        .catch(() => {});
      await find("a");
      expect(heard).toEqual(["working", "kept"]);
    });

    it("reads between the commit and the answer, and never after a failure", async () => {
      const heard: string[] = [];
      await store.transaction(async (tx) => {
        tx.whileSyncing(async (reader) => {
          heard.push((await reader.first(findNote, { id: "a" }))?.body ?? "nothing");
        });
        tx.whileSyncing(async () => {
          throw new Error("what is read late undoes nothing");
        });
        tx.whileSyncing(async () => void heard.push("next"));
        tx.afterCommit(() => heard.push("told"));
        await tx.execute(insertNotes(tx.dialect, [{ ...note("a"), body: "kept" }]));
        heard.push("working");
      });
      heard.push("answered");
      await store
        .transaction(async (tx) => {
          tx.whileSyncing(async () => void heard.push("never"));
          throw new Error("no");
        })
        .catch(() => {});
      expect((await find("a"))?.body).toBe("kept");
      expect(heard).toEqual(["working", "kept", "next", "told", "answered"]);
    });

    it("reads late what its own transaction wrote, though others follow at once", async () => {
      const seen: number[] = [];
      const addAndCount = (id: string) =>
        store.transaction(async (tx) => {
          await tx.execute(insertNotes(tx.dialect, [note(id)]));
          tx.whileSyncing(async (reader) => {
            if (await reader.first(findNote, { id })) seen.push(1);
          });
        });
      await Promise.all(["a", "b", "c", "d"].map(addAndCount));
      expect(seen).toHaveLength(4);
    });

    it("lets no update be lost when many change one row", async () => {
      await store.transaction((tx) => tx.execute(insertCounters(tx.dialect, [{ id: "c", n: 0 }])));
      await Promise.all(
        Array.from({ length: 50 }, () =>
          store.transaction(async (tx) => {
            const row = await tx.first(lockCounter, { id: "c" });
            await tx.run(setCounter, { id: "c", n: (row?.n ?? 0) + 1 });
          }),
        ),
      );
      expect(await store.read((reader) => reader.first(lockCounter, { id: "c" }))).toEqual({
        id: "c",
        n: 50,
      });
    });

    it("gives numbers for counts, sums and big integers", async () => {
      await store.transaction((tx) =>
        tx.execute(insertNotes(tx.dialect, [note("a", "", 2 ** 52), note("b", "", 1)])),
      );
      expect(await store.read((reader) => reader.first(countNotes, {}))).toEqual({
        n: 2,
        total: 2 ** 52 + 1,
      });
    });

    it("orders ids by their bytes", async () => {
      await store.transaction((tx) =>
        tx.execute(
          insertNotes(
            tx.dialect,
            ["b", "A", "a", "_", "B"].map((id) => note(id)),
          ),
        ),
      );
      const all = prepare<Record<never, never>, NoteRow>((db) =>
        db.selectFrom("notes").selectAll().orderBy("id"),
      );
      const rows = await store.read((reader) => reader.all(all, {}));
      expect(rows.map((row) => row.id)).toEqual(["A", "B", "_", "a", "b"]);
    });

    it("keeps any well-formed text", async () => {
      const body = "🙂 \u{1F9D1}\u200D\u{1F680} — \\u0000 ' \" ; -- \n\t";
      await add(note("a", body));
      expect((await find("a"))?.body).toBe(body);
    });

    it("gives each transaction an instant", async () => {
      const now = await store.transaction(async (tx) => tx.now);
      expect(Math.abs(now - Date.now())).toBeLessThan(60_000);
    });

    it("migrates once, and refuses a schema that is newer than the program", async () => {
      await store.migrate(migrations);
      const newer = [
        ...migrations,
        { id: "0002-more", statements: () => ["create table more (id text)"] },
      ];
      await store.migrate(newer);
      await expect(store.migrate(migrations)).rejects.toMatchObject({ code: "schema_newer" });
    });

    it("leaves nothing of a migration that fails half-way, and takes it up again", async () => {
      const broken = {
        id: "0002-x",
        statements: () => ["create table x (id text)", "create table x (id text)"],
      };
      await expect(store.migrate([...migrations, broken])).rejects.toThrow();
      const mended = { id: "0002-x", statements: () => ["create table x (id text)"] };
      await store.migrate([...migrations, mended]);
    });
  });
}
