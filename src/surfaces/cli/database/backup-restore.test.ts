import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { kernelMigrations } from "#engine/migrations.ts";
import { createFakeHost, type FakeHostOptions, runCommand } from "#test/cli/fake-host.ts";
import { createSampleFolder, type SampleFolder, sql } from "#test/cli/sample-database.ts";

let folder: SampleFolder;
let copy: string;
beforeEach(async () => {
  folder = await createSampleFolder();
  copy = join(folder.home, "copy.db");
});
afterEach(() => rmSync(folder.home, { recursive: true, force: true }));

async function run(words: string[], options: FakeHostOptions = {}) {
  const host = createFakeHost({ env: folder.env, ...options });
  const code = await runCommand(host, ...words);
  return { code, out: host.out, err: host.err };
}

describe("muster backup", () => {
  it("copies a database that a server is writing to", async () => {
    const store = await folder.open();
    const insert = {
      sql: "insert into orgs values (?, 'n', ?, 0)",
      parameters: ["org_live", "live"],
    };
    await store.transaction((tx) => tx.execute(insert));
    const { code, out } = await run(["backup", copy]);
    await store.transaction((tx) => tx.execute({ ...insert, parameters: ["org_later", "later"] }));
    await store.close();
    expect(code).toBe(0);
    expect(out).toMatch(/copy\.db \(.*KiB, checked\)\n$/);
    expect(statSync(copy).mode & 0o777).toBe(0o600);
    expect(sql(copy, "select id from orgs")).toEqual([{ id: "org_live" }]);
  });

  it("never overwrites, and leaves nothing behind when it fails", async () => {
    writeFileSync(copy, "precious");
    const refused = await run(["backup", copy]);
    expect(refused.code).toBe(7);
    expect(readFileSync(copy, "utf8")).toBe("precious");
    expect((await run(["backup", join(folder.home, "no", "folder.db")])).code).toBe(2);
    expect(
      (await run(["backup"], { env: { ...folder.env, MUSTER_HOME: join(folder.home, "none") } }))
        .code,
    ).toBe(6);
  });

  it("names the file after the moment in a folder", async () => {
    const target = join(folder.home, "backups");
    mkdirSync(target);
    const { out } = await run(["backup", target, "--json"]);
    const { file, bytes } = JSON.parse(out);
    expect(file).toMatch(/backups\/muster-backup-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.db$/);
    expect(statSync(file).size).toBe(bytes);
  });

  it("sends people with PostgreSQL to its own tool, without their password", async () => {
    const env = {
      ...folder.env,
      MUSTER_DATABASE_URL: "postgres://ada:s3cret@db:5432/muster?sslpassword=x",
    };
    const backup = await run(["backup", "it's.dump"], { env });
    expect(backup.code).toBe(4);
    expect(backup.err).toContain(
      `pg_dump --format=custom --file='it'\\''s.dump' 'postgres://ada@db:5432/muster'`,
    );
    const restore = await run(["restore", "x.dump", "--yes"], { env });
    expect(restore.err).toContain("pg_restore");
    expect(backup.err + restore.err).not.toContain("s3cret");
  });
});

describe("muster restore", () => {
  const runs = () =>
    Object.fromEntries(
      (
        folder.sql("select id, state, fence, runner_id, lease_until from runs") as { id: string }[]
      ).map(({ id, ...rest }) => [id, rest]),
    );

  it("puts the copy in place, fenced off from everything that was alive before", async () => {
    await run(["backup", copy]);
    folder.sql("delete from runs");
    const { code, out } = await run(["restore", copy, "--yes"]);
    expect(code).toBe(0);
    expect(out).toContain("5 unfinished runs were fenced off");
    expect(out).toContain("3 of them are queued again");
    expect(out).toContain("1 pending deliveries");
    const free = { state: "pending", fence: 1_000_003, runner_id: null, lease_until: null };
    expect(runs()).toEqual({
      run_pending: free,
      run_claimed: free,
      run_running: free,
      run_gated: free,
      // A stop was requested: the run is not repeated, and the server ends it when the lease is over.
      run_stopping: { ...free, state: "stopping", lease_until: 0 },
      run_completed: { ...free, state: "completed", fence: 3 },
    });
    expect(folder.sql("select id, run_state from sessions order by id")).toEqual([
      { id: "ses_claimed", run_state: "pending" },
      { id: "ses_completed", run_state: null },
      { id: "ses_gated", run_state: "pending" },
      { id: "ses_pending", run_state: "pending" },
      { id: "ses_running", run_state: "pending" },
      { id: "ses_stopping", run_state: "stopping" },
    ]);
    expect(
      folder.sql("select kind from credentials where revoked_at is null order by kind"),
    ).toEqual([{ kind: "api_key" }, { kind: "owner_key" }]);
    expect(folder.sql("select id, state from outbox order by id")).toEqual([
      { id: "out_delivered", state: "delivered" },
      { id: "out_pending", state: "held" },
    ]);
    expect(folder.sql("select state from runners")).toEqual([{ state: "offline" }]);
  });

  it("keeps the present database, also what only its log holds, and a server starts from the restored one", async () => {
    await run(["backup", copy]);
    // Simulates a crash: the last commits are in the log alone.
    const writer = new Database(folder.path);
    writer.pragma("wal_autocheckpoint = 0");
    writer.exec("insert into orgs values ('org_new', 'n', 'new', 0)");
    const [db, log] = [readFileSync(folder.path), readFileSync(`${folder.path}-wal`)];
    writer.close();
    writeFileSync(folder.path, db);
    writeFileSync(`${folder.path}-wal`, log);
    expect(log.length).toBeGreaterThan(0);

    const { kept } = JSON.parse((await run(["restore", copy, "--yes", "--json"])).out);
    expect(kept).toMatch(/muster\.db\.replaced-/);
    expect(sql(kept, "select id from orgs")).toEqual([{ id: "org_new" }]);
    expect(readdirSync(folder.home).filter((name) => name.includes("restoring"))).toEqual([]);
    expect(existsSync(`${folder.path}-wal`)).toBe(false);
    const store = await folder.open();
    await store.migrate(kernelMigrations);
    expect(
      await store.read((reader) => reader.query({ sql: "select id from orgs", parameters: [] })),
    ).toEqual([]);
    await store.close();
  });

  it("replaces a database that is damaged, and keeps it with its log", async () => {
    await run(["backup", copy]);
    writeFileSync(folder.path, "rubbish");
    writeFileSync(`${folder.path}-wal`, "more rubbish");
    const { kept } = JSON.parse((await run(["restore", copy, "--yes", "--json"])).out);
    expect(readFileSync(kept, "utf8")).toBe("rubbish");
    expect(readFileSync(`${kept}-wal`, "utf8")).toBe("more rubbish");
    expect(Object.keys(runs())).toHaveLength(6);
  });

  it("refuses while a server runs", async () => {
    await run(["backup", copy]);
    const store = await folder.open();
    const { code, err } = await run(["restore", copy, "--yes"]);
    await store.close();
    expect(code).toBe(7);
    expect(err).toContain("Stop it, then restore.");
    expect(runs().run_running).toMatchObject({ state: "running", fence: 3 });
  });

  it("refuses what is no copy of ours, newer than us, or damaged", async () => {
    writeFileSync(
      copy,
      "not a database at all, but longer than a header would be, so that it is read as one. ".repeat(
        20,
      ),
    );
    expect((await run(["restore", copy, "--yes"])).err).toContain("file_damaged");
    const foreign = join(folder.home, "foreign.db");
    sql(foreign, "create table t (a)");
    expect((await run(["restore", foreign, "--yes"])).err).toContain("not_muster");
    const newer = join(folder.home, "newer.db");
    await run(["backup", newer]);
    sql(newer, "insert into schema_migrations values ('9999-future', 0)");
    const refused = await run(["restore", newer, "--yes"]);
    expect(refused.code).toBe(7);
    expect(refused.err).toContain("9999-future");
    expect((await run(["restore", folder.path, "--yes"])).err).toContain("same_file");
    expect((await run(["restore", join(folder.home, "gone.db"), "--yes"])).code).toBe(6);
    expect(runs().run_running).toMatchObject({ state: "running", fence: 3 });
  });

  it("asks a person first, and does nothing unasked", async () => {
    await run(["backup", copy]);
    expect((await run(["restore", copy], { input: "y\n" })).code).toBe(2);
    expect((await run(["restore", copy], { typed: "n\n" })).code).toBe(1);
    expect(runs().run_running).toMatchObject({ state: "running" });
    expect((await run(["restore", copy], { typed: "yes\n" })).code).toBe(0);
    expect(runs().run_running).toMatchObject({ state: "pending" });
  });

  it("keeps the database of before each time, also twice in a second", async () => {
    await run(["backup", copy]);
    const answers = [];
    for (let n = 0; n < 3; n++) answers.push(await run(["restore", copy, "--yes", "--json"]));
    expect(answers.map(({ code, err }) => [code, err])).toEqual(
      [0, 0, 0].map((code) => [code, ""]),
    );
    const kept = answers.map(({ out }) => (JSON.parse(out) as { kept: string }).kept);
    expect(new Set(kept).size).toBe(3);
    for (const file of kept) expect(existsSync(file)).toBe(true);
  });

  it.skipIf(process.getuid?.() !== 0)(
    "run by root for another user, leaves that user all files of the folder",
    async () => {
      // Its runner registered before machines had keys, so this machine makes one.
      folder.sql(
        "insert into workspaces (id, org_id, session_id, runner_id, bytes, created_at) select 'wsp_1', org_id, 'ses_running', id, 0, 0 from runners limit 1",
      );
      mkdirSync(join(folder.home, "runner", "workspaces", "wsp_1"), { recursive: true });
      await run(["backup", copy]);
      const names = () => readdirSync(folder.home, { recursive: true }).map(String);
      for (const name of ["", ...names()]) chownSync(join(folder.home, name), 1234, 1234);
      const { code, err } = await run(["restore", copy, "--yes"]);
      expect([code, err]).toEqual([0, ""]);
      expect(names()).toContain("runner/identity.key");
      const owners = names().map((name) => [name, statSync(join(folder.home, name)).uid]);
      expect(owners.filter(([, uid]) => uid !== 1234)).toEqual([]);
    },
  );

  it("clears away what a restore that was killed has left", async () => {
    await run(["backup", copy]);
    writeFileSync(`${folder.path}.restoring-2026-01-01T00-00-00Z`, "half a copy");
    expect((await run(["restore", copy, "--yes"])).code).toBe(0);
    expect(readdirSync(folder.home).filter((name) => name.includes("restoring"))).toEqual([]);
  });

  it("starts a folder that has no database yet", async () => {
    await run(["backup", copy]);
    const home = join(folder.home, "fresh");
    const { code, out } = await run(["restore", copy, "--yes", "--json"], {
      env: { ...folder.env, MUSTER_HOME: home },
    });
    expect(code).toBe(0);
    expect(JSON.parse(out).kept).toBeNull();
    expect(sql(join(home, "muster.db"), "select count(*) as n from runs")).toEqual([{ n: 6 }]);
  });
});
