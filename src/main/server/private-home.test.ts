import { chmodSync, chownSync, mkdtempSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { loadConfig } from "#base/config.ts";
import { silentLog } from "#base/log.ts";
import { writePrivateFile } from "#base/machine/private-files.ts";
import { startServer } from "./server.ts";

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
const newHome = () => mkdtempSync(join(tmpdir(), "muster-home-"));
const configOf = (home: string) =>
  loadConfig({ MUSTER_HOME: home, MUSTER_PORT: "0", MUSTER_RUNNER: "none" });
const isRoot = process.getuid?.() === 0;

async function startAndStop(home: string): Promise<void> {
  const server = await startServer(configOf(home), silentLog, "dist");
  await server.stop();
}

describe("the data folder at a start", () => {
  it("is tightened, with the database, keys and copies in it", async () => {
    const home = newHome();
    await startAndStop(home);
    const files = ["muster.db", "muster.db.lock", "owner.key", "secret.key", "muster.config.json"];
    writeFileSync(join(home, "muster.config.json"), "{}");
    writeFileSync(join(home, "muster.db.before-x.bak"), "an old copy");
    for (const name of [...files, "muster.db.before-x.bak"]) chmodSync(join(home, name), 0o644);
    chmodSync(home, 0o755);
    await startAndStop(home);
    expect(modeOf(home)).toBe("700");
    for (const name of [...files, "muster.db.before-x.bak"])
      expect([name, modeOf(join(home, name))]).toEqual([name, "600"]);
  });

  it("gets its copy before a migration as a new private file, whatever had that name", async () => {
    const home = newHome();
    await startAndStop(home);
    const victim = join(newHome(), "victim");
    writeFileSync(victim, "untouched");
    const db = new Database(join(home, "muster.db"));
    const id = db
      .prepare("select id from schema_migrations where id like '%-machines'")
      .pluck()
      .get();
    db.exec("drop index runners_machine; alter table runners drop column machine");
    db.exec("delete from schema_migrations where id like '%-machines'");
    db.close();
    const copy = join(home, `muster.db.before-${id}.bak`);
    writeFileSync(copy, "an old copy", { mode: 0o644 });
    symlinkSync(victim, `${copy}.part`);
    await startAndStop(home);
    expect(modeOf(copy)).toBe("600");
    const made = new Database(copy, { readonly: true });
    expect(
      made.prepare("select count(*) as n from schema_migrations").pluck().get(),
    ).toBeGreaterThan(5);
    made.close();
    expect(statSync(victim).size).toBe("untouched".length);
  });

  it.runIf(isRoot)("is refused when somebody else owns it or what is in it", async () => {
    const home = newHome();
    await startAndStop(home);
    chownSync(join(home, "secret.key"), 12_345, 12_345);
    await expect(startAndStop(home)).rejects.toThrow(/secret\.key belongs to another user.*chown/);
    chownSync(join(home, "secret.key"), 0, 0);
    chownSync(home, 12_345, 12_345);
    await expect(startAndStop(home)).rejects.toThrow(/belongs to another user/);
  });

  it("is refused when the database lies where others can replace it", async () => {
    const home = newHome();
    const shared = newHome();
    chmodSync(shared, 0o777);
    const config = loadConfig({
      MUSTER_HOME: home,
      MUSTER_PORT: "0",
      MUSTER_DATABASE_URL: `sqlite:${shared}/muster.db`,
    });
    await expect(startServer(config, silentLog, "dist")).rejects.toThrow(/chmod go-w/);
  });
});

describe("writing a private file", () => {
  it("does not follow a link and does not keep an old file's mode", () => {
    const home = newHome();
    const victim = join(home, "victim");
    writeFileSync(victim, "untouched", { mode: 0o644 });
    symlinkSync(victim, join(home, "owner.key"));
    writePrivateFile(join(home, "owner.key"), "secret");
    expect(statSync(victim).size).toBe("untouched".length);
    expect(modeOf(join(home, "owner.key"))).toBe("600");
    writeFileSync(join(home, "open.key"), "old", { mode: 0o644 });
    writePrivateFile(join(home, "open.key"), "new");
    expect(modeOf(join(home, "open.key"))).toBe("600");
  });
});
