import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createTestDatabase, postgresUrl } from "#test/services/postgres.ts";
import { systemClock } from "../clock.ts";
import { silentLog } from "../log.ts";
import { inserter, openStore, ReadTooSlow, type Store } from "./index.ts";
import { storeContract } from "./store.contract.ts";

const base = { clock: systemClock, log: silentLog, onSyncFailure: () => {} };
const folders: string[] = [];

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "muster-store-"));
  folders.push(made);
  return made;
}
afterEach(() => {
  for (const made of folders.splice(0)) rmSync(made, { recursive: true, force: true });
});

storeContract("sqlite in memory", async () => ({
  open: () => openStore({ ...base, url: "sqlite::memory:" }),
  discard: async () => {},
}));

storeContract("sqlite file", async () => {
  const path = join(folder(), "x.db");
  return { open: () => openStore({ ...base, url: `sqlite:${path}` }), discard: async () => {} };
});

/** Counts for about as many steps as it is told. */
const counting = (steps: number) => ({
  sql: `with recursive c(n) as (select 1 union all select n + 1 from c where n < ${steps}) select count(*) as n from c`,
  parameters: [],
});

/** Expects a query over its time limit to be abandoned, and a later query to succeed. */
async function givesUp(store: Store): Promise<void> {
  const tooLong = store.readAside(20, (reader) => reader.query(counting(5_000_000)));
  await expect(tooLong).rejects.toBeInstanceOf(ReadTooSlow);
  const [row] = await store.readAside(10_000, (reader) => reader.query(counting(10)));
  expect(row).toEqual({ n: 10 });
}

describe.skipIf(!postgresUrl)("with a server", () => {
  it("gives up what is read aside when its time is over", async () => {
    const database = await createTestDatabase();
    const store = await openStore({ ...base, url: database.url });
    await givesUp(store);
    await store.close();
    await database.drop();
  });
  it("leaves connections for everybody else, however many read aside", async () => {
    const database = await createTestDatabase();
    const store = await openStore({ ...base, url: database.url });
    const asleep = { sql: "select pg_sleep(0.3)", parameters: [] };
    const done: string[] = [];
    const asides = Array.from({ length: 20 }, () =>
      store.readAside(10_000, (reader) => reader.query(asleep)).then(() => done.push("aside")),
    );
    await store.read((reader) => reader.query({ sql: "select 1", parameters: [] }));
    expect(done).toEqual([]);
    await Promise.all(asides);
    expect(done).toHaveLength(20);
    // Whoever waits longer than they may read is told so, and nobody's turn is lost by it.
    const some = await Promise.allSettled(
      Array.from({ length: 9 }, (_, n) =>
        store.readAside(n < 4 ? 10_000 : 20, (reader) => reader.query(asleep)),
      ),
    );
    const late = some.filter(({ status }) => status === "rejected");
    expect(late).toHaveLength(5);
    for (const one of late)
      expect((one as PromiseRejectedResult).reason).toBeInstanceOf(ReadTooSlow);
    await givesUp(store);
    await store.close();
    await database.drop();
  });
  it("deletes marks of connections that are long gone, while it runs", async () => {
    const database = await createTestDatabase();
    let passed = 0;
    const clock = { ...systemClock, steady: () => systemClock.now() + passed };
    const store = await openStore({ ...base, clock, url: database.url });
    await store.migrate([]);
    const execute = (sql: string) => store.transaction((tx) => tx.execute({ sql, parameters: [] }));
    const readOld = () =>
      store.read((reader) =>
        reader.query<{ n: number }>({
          sql: "select count(*) as n from commit_marks where at < now() - interval '1 day'",
          parameters: [],
        }),
      );
    await execute("select 1");
    await execute(`insert into commit_marks select -n, 1, now() - interval '2 days'
      from generate_series(1, 1500) as n`);
    expect(await readOld()).toEqual([{ n: 1500 }]);
    for (let days = 0; days < 2; days++) {
      passed += 24 * 60 * 60_000;
      // Connections that are used at the same time, so that some of them are new.
      const busy = Array.from({ length: 2 + 3 * days }, () => execute("select pg_sleep(0.1)"));
      await Promise.all(busy);
      await expect.poll(readOld).toEqual([{ n: days === 0 ? 500 : 0 }]);
    }
    const kept = await store.read((reader) =>
      reader.query<{ n: number }>({
        sql: "select count(*) as n from commit_marks",
        parameters: [],
      }),
    );
    expect(kept[0]?.n).toBeGreaterThan(0);
    await store.close();
    await database.drop();
  });
  storeContract("postgres", async () => {
    const database = await createTestDatabase();
    return { open: () => openStore({ ...base, url: database.url }), discard: database.drop };
  });
});

interface NoteRow {
  id: string;
}
const insertNotes = inserter<NoteRow>("notes", ["id"]);
const migrations = [{ id: "0001", statements: () => ["create table notes (id text primary key)"] }];

async function openNotes(path: string): Promise<Store> {
  const store = await openStore({ ...base, url: `sqlite:${path}` });
  await store.migrate(migrations);
  return store;
}

describe("sqlite file", () => {
  it("is for one server at a time, and free again when that one is gone", async () => {
    const path = join(folder(), "x.db");
    const first = await openNotes(path);
    await expect(openNotes(path)).rejects.toMatchObject({ code: "database_in_use" });
    await first.close();
    await (await openNotes(path)).close();
  });

  it("is free again when its process was killed", async () => {
    const path = join(folder(), "x.db");
    const script = `import { acquireFileLock } from "#base/machine/file-lock.ts"; await acquireFileLock(${JSON.stringify(`${path}.lock`)}); process.kill(process.pid, "SIGKILL");`;
    expect(() =>
      execFileSync(process.execPath, ["--input-type=module", "-e", script], { stdio: "ignore" }),
    ).toThrow();
    await (await openNotes(path)).close();
  });

  it("is copied before its schema changes", async () => {
    const place = folder();
    const store = await openNotes(join(place, "x.db"));
    await store.transaction((tx) => tx.execute(insertNotes(tx.dialect, [{ id: "kept" }])));
    await store.migrate([...migrations, { id: "0002", statements: () => ["drop table notes"] }]);
    await store.close();
    const copy = readdirSync(place).find((name) => name.includes("before-0002"));
    const rows = new Database(join(place, copy ?? "")).prepare("select id from notes").all();
    expect(rows).toEqual([{ id: "kept" }]);
  });

  it("waits for a foreign lock without stalling the loop, then goes on", async () => {
    const path = join(folder(), "x.db");
    const store = await openNotes(path);
    const foreign = new Database(path);
    foreign.exec("begin immediate");
    const write = store.transaction((tx) => tx.execute(insertNotes(tx.dialect, [{ id: "late" }])));
    let turns = 0;
    const counting = setInterval(() => turns++, 5);
    await new Promise((resolve) => setTimeout(resolve, 150));
    clearInterval(counting);
    foreign.exec("rollback");
    expect(await write).toBe(1);
    // Stalled, the loop would not have turned at all.
    expect(turns).toBeGreaterThan(3);
    foreign.close();
    await store.close();
  });
});

describe("reading a sqlite file aside", () => {
  it("never holds up the loop, and is given up when its time is over", async () => {
    const store = await openNotes(join(folder(), "x.db"));
    let turns = 0;
    const ticking = setInterval(() => turns++, 1);
    await store.readAside(60_000, (reader) => reader.query(counting(1_000_000)));
    clearInterval(ticking);
    // Stalled, the loop would not have turned at all.
    expect(turns).toBeGreaterThan(3);
    await givesUp(store);
    await store.close();
    await expect(store.readAside(100, (reader) => reader.query(counting(1)))).rejects.toMatchObject(
      { code: "store_unavailable" },
    );
  });

  it("gives up only what takes too long, not what waits behind it", async () => {
    const store = await openNotes(join(folder(), "x.db"));
    const read = (limitMs: number, steps: number) =>
      store.readAside(limitMs, (reader) => reader.query(counting(steps)));
    const slow = read(50, 5_000_000);
    const [impatient, patient, other] = [read(10, 1), read(60_000, 2), read(60_000, 3)];
    const late = [slow, impatient].map((one) => expect(one).rejects.toBeInstanceOf(ReadTooSlow));
    expect(await Promise.all([patient, other])).toEqual([[{ n: 2 }], [{ n: 3 }]]);
    await Promise.all(late);
    await store.close();
  });

  it("is refused as unavailable when the store is closed meanwhile", async () => {
    const store = await openNotes(join(folder(), "x.db"));
    const reads = [1_000_000, 1].map((steps) =>
      store.readAside(60_000, (reader) => reader.query(counting(steps))),
    );
    const refused = Promise.all(
      reads.map((read) => expect(read).rejects.toMatchObject({ code: "store_unavailable" })),
    );
    await store.close();
    await refused;
  });
});

describe("what was deleted from a sqlite file", () => {
  it("is in none of its files once it was scrubbed", async () => {
    const path = join(folder(), "x.db");
    const store = await openNotes(path);
    const rows = (word: string) =>
      Array.from({ length: 300 }, (_, n) => ({ id: `${word}-${n}-${"x".repeat(n * 7)}` }));
    for (const word of ["canary", "kept"])
      await store.transaction((tx) => tx.execute(insertNotes(tx.dialect, rows(word))));
    const holding = (word: string) =>
      readdirSync(dirname(path)).filter((name) =>
        readFileSync(join(dirname(path), name)).includes(word),
      );
    expect(holding("canary")).not.toEqual([]);
    const remove = { sql: "delete from notes where id like 'canary%'", parameters: [] };
    await store.transaction((tx) => tx.execute(remove));
    await store.scrub?.();
    expect(holding("canary-")).toEqual([]);
    expect(holding("kept-")).toEqual(["x.db"]);
    const count = { sql: "select count(*) as n from notes", parameters: [] };
    expect(await store.read((reader) => reader.query(count))).toEqual([{ n: 300 }]);
    await store.close();
  });

  it("is not waited for without end while another program reads the file", async () => {
    const path = join(folder(), "x.db");
    const store = await openNotes(path);
    await store.transaction((tx) => tx.execute(insertNotes(tx.dialect, [{ id: "a" }])));
    const other = new Database(path, { readonly: true });
    const reading = other.prepare("select 1 from notes").iterate();
    reading.next();
    await store.transaction((tx) => tx.execute(insertNotes(tx.dialect, [{ id: "b" }])));
    await store.scrub?.();
    await store.transaction((tx) => tx.execute(insertNotes(tx.dialect, [{ id: "c" }])));
    reading.return?.();
    other.close();
    await store.close();
  });
});

describe("the output gate", () => {
  it("answers nothing when the sync fails", async () => {
    const { createOutputGate } = await import("./sqlite/output-gate.ts");
    const onFailure = vi.fn();
    const gate = createOutputGate(() => Promise.reject(new Error("EIO")), onFailure);
    gate.committed();
    let released = false;
    void gate.covered()?.then(() => {
      released = true;
    });
    await expect.poll(() => onFailure.mock.calls.length).toBe(1);
    expect(released).toBe(false);
  });

  it("covers only what was committed before its sync began, and shares one sync among many", async () => {
    const { createOutputGate } = await import("./sqlite/output-gate.ts");
    const syncs: (() => void)[] = [];
    const gate = createOutputGate(
      () => new Promise((resolve) => syncs.push(resolve)),
      () => {},
    );
    const released: string[] = [];
    const wait = (name: string) => void gate.covered()?.then(() => released.push(name));
    gate.committed();
    wait("first");
    gate.committed();
    wait("second");
    gate.committed();
    wait("third");
    expect(syncs).toHaveLength(1);
    syncs[0]?.();
    await expect.poll(() => released).toEqual(["first"]);
    expect(syncs).toHaveLength(2);
    syncs[1]?.();
    await expect.poll(() => released).toEqual(["first", "second", "third"]);
    expect(gate.covered()).toBeUndefined();
  });
});
