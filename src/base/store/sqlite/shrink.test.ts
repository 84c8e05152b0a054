import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "../../clock.ts";
import { silentLog } from "../../log.ts";
import { openStore, type Store } from "../index.ts";

const folders: string[] = [];
afterEach(() => {
  for (const made of folders.splice(0)) rmSync(made, { recursive: true, force: true });
});
function databasePath(): string {
  const made = mkdtempSync(join(tmpdir(), "muster-shrink-"));
  folders.push(made);
  return join(made, "x.db");
}

const migrations = [{ id: "0001", statements: () => ["create table notes (body text not null)"] }];

async function open(path: string): Promise<Store> {
  const store = await openStore({
    url: `sqlite:${path}`,
    clock: systemClock,
    log: silentLog,
    onSyncFailure: () => {},
  });
  await store.migrate(migrations);
  return store;
}

const execute = (store: Store, sql: string) =>
  store.transaction((tx) => tx.execute({ sql, parameters: [] }));
/** About 20 MB of rows. */
const fill = (store: Store) =>
  execute(
    store,
    `insert into notes with recursive c(n) as (select 1 union all select n + 1 from c where n < 5000)
      select hex(randomblob(2000)) from c`,
  );

async function shrinkAll(store: Store, pages: number): Promise<number[]> {
  const steps: number[] = [];
  for (;;) {
    const freed = await store.transaction(async (tx) => (await tx.shrink?.(pages)) ?? 0);
    if (freed === 0) return steps;
    steps.push(freed);
  }
}

describe("a file of SQLite", () => {
  it("shrinks in small steps, keeps some free pages for what comes, and loses nothing", async () => {
    const path = databasePath();
    const store = await open(path);
    await fill(store);
    await execute(store, "delete from notes where rowid > 500");
    await store.scrub?.();
    const full = statSync(path).size;
    const steps = await shrinkAll(store, 100);
    expect(steps.length).toBeGreaterThan(10);
    expect(Math.max(...steps)).toBeLessThanOrEqual(100);
    await store.scrub?.();
    const left = statSync(path).size;
    expect(left).toBeLessThan(full / 2);
    expect(left).toBeGreaterThan(4_000_000);
    const [row] = await store.read((reader) =>
      reader.query({ sql: "select count(*) as n from notes", parameters: [] }),
    );
    expect(row).toEqual({ n: 500 });
    await store.close();
  });

  it("of an earlier version is written anew once, with all that is in it, and shrinks from then on", async () => {
    const path = databasePath();
    const old = new Database(path);
    old.pragma("journal_mode = WAL");
    old.exec("create table schema_migrations (id text primary key, applied_at integer not null)");
    old.exec("create table notes (body text not null)");
    old.exec("insert into schema_migrations values ('0001', 1)");
    old.exec("insert into notes values ('kept')");
    old.close();
    const store = await open(path);
    expect(await execute(store, "update notes set body = 'kept!' where body = 'kept'")).toBe(1);
    await fill(store);
    await execute(store, "delete from notes where rowid > 1");
    expect((await shrinkAll(store, 500)).length).toBeGreaterThan(0);
    await store.close();
    const again = new Database(path, { readonly: true });
    expect(again.pragma("auto_vacuum", { simple: true })).toBe(2);
    expect(again.pragma("integrity_check", { simple: true })).toBe("ok");
    expect(again.prepare("select body from notes").pluck().all()).toEqual(["kept!"]);
    again.close();
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it("is left as it is while another program reads it, and used all the same", async () => {
    const path = databasePath();
    const old = new Database(path);
    old.pragma("journal_mode = WAL");
    old.exec("create table notes (body text not null)");
    old.exec("create table schema_migrations (id text primary key, applied_at integer not null)");
    old.exec("insert into schema_migrations values ('0001', 1)");
    old.exec("insert into notes values ('seen')");
    const store = await open(path);
    expect(await execute(store, "insert into notes values ('new')")).toBe(1);
    expect(old.prepare("select count(*) from notes").pluck().get()).toBe(2);
    old.close();
    await store.close();
  });

  it("is used as it is by the start after one that was killed while it wrote the file anew", async () => {
    const path = databasePath();
    const old = new Database(path);
    old.exec("create table notes (body text not null)");
    old.exec("create table schema_migrations (id text primary key, applied_at integer not null)");
    old.exec("insert into schema_migrations values ('0001', 1)");
    old.close();
    const form = () => {
      const db = new Database(path, { readonly: true });
      const mode = db.pragma("auto_vacuum", { simple: true });
      db.close();
      return mode;
    };
    writeFileSync(`${path}.shrinkable.part`, "half of it");
    await (await open(path)).close();
    expect(form()).toBe(0);
    expect(existsSync(`${path}.shrinkable.part`)).toBe(false);
    await (await open(path)).close();
    expect(form()).toBe(2);
  });

  it("gives the room of its log back after a large change", async () => {
    const path = databasePath();
    const store = await open(path);
    await fill(store);
    await store.transaction(async (tx) => {
      for (let n = 0; n < 5; n++)
        await tx.execute({ sql: "update notes set body = body || 'x'", parameters: [] });
    });
    for (let n = 0; n < 3; n++) await execute(store, "insert into notes values ('small')");
    expect(statSync(`${path}-wal`).size).toBeLessThanOrEqual(33 * 1024 * 1024);
    await store.close();
  });
});
