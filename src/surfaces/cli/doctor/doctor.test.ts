import { chmodSync, mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "#base/clock.ts";
import { silentLog } from "#base/log.ts";
import { openStore } from "#base/store/index.ts";
import { kernelMigrations } from "#engine/migrations.ts";
import { createFakeHost, runCommand } from "#test/cli/fake-host.ts";
import { FakeServer, KEY } from "#test/cli/fake-server.ts";
import { createSampleFolder, type SampleFolder } from "#test/cli/sample-database.ts";
import { createTestDatabase, postgresUrl } from "#test/services/postgres.ts";
import { compareSchema } from "../database/sqlite-file.ts";
import { checkSchema } from "./check-schema.ts";
import type { Finding } from "./finding.ts";

const FIRST = kernelMigrations[0]?.id ?? "";

let folder: SampleFolder;
beforeEach(async () => {
  folder = await createSampleFolder();
});
afterEach(() => rmSync(folder.home, { recursive: true, force: true }));

/** A machine with this script as bubblewrap, whatever the real one has. */
function machine(script: string): Record<string, string> {
  const bin = join(folder.home, "bin");
  rmSync(bin, { recursive: true, force: true });
  mkdirSync(bin);
  for (const [name, text] of [
    ["bwrap", script],
    ["apt-get", "exit 1"],
  ] as const) {
    if (name === "bwrap" && script === "") continue;
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  symlinkSync("/usr/bin/git", join(bin, "git"));
  return { PATH: bin };
}

async function examine(env: Record<string, string> = {}) {
  const sandbox = "PATH" in env ? {} : machine("exit 0");
  const host = createFakeHost({ env: { ...folder.env, ...sandbox, ...env } });
  const code = await runCommand(host, "doctor", "--json");
  const { ok, findings } = JSON.parse(host.out) as { ok: boolean; findings: Finding[] };
  return {
    code,
    ok,
    text: host.out,
    of: (name: string) => findings.find((finding) => finding.name === name),
  };
}

describe("muster doctor", () => {
  it("finds nothing wrong with a good folder, and names no secret", async () => {
    const { code, ok, of, text } = await examine({ ANTHROPIC_API_KEY: "sk-ant-very-secret" });
    expect({ code, ok }).toEqual({ code: 0, ok: true });
    for (const name of [
      "node",
      "settings",
      "data folder",
      "disk",
      "database",
      "integrity",
      "schema",
      "port",
      "owner key",
      "models",
    ]) {
      expect([name, of(name)?.level]).toEqual([name, "ok"]);
    }
    expect(of("database")?.text).toContain("not in use");
    expect(of("models")?.text).toContain("ANTHROPIC_API_KEY");
    expect(text).not.toContain("very-secret");
    expect(text).not.toContain("mst_owner");
  });

  it("writes a line for each thing, and how to fix it", async () => {
    chmodSync(join(folder.home, "owner.key"), 0o644);
    const host = createFakeHost({ env: { ...folder.env, ...machine("exit 0") } });
    expect(await runCommand(host, "doctor")).toBe(1);
    expect(host.out).toMatch(/^ok {4}node +Node 2\d/m);
    expect(host.out).toMatch(/^fail {2}owner key +.*mode 0644/m);
    expect(host.out).toMatch(/→ chmod 600 .*owner\.key/);
    expect(host.out).toMatch(/1 to fix, \d to look at\.\n$/);
  });

  it.skipIf(process.platform !== "linux")("takes a missing sandbox for a problem", async () => {
    const { code, ok, of } = await examine(machine(""));
    expect({ code, ok }).toEqual({ code: 1, ok: false });
    expect(of("sandbox")).toMatchObject({
      level: "fail",
      text: "Bubblewrap is not installed. Agents cannot run commands on this machine.",
      mend: expect.stringContaining("sudo apt-get install -y bubblewrap"),
    });
  });

  it.skipIf(process.platform !== "linux")("says that a sandbox cannot be made", async () => {
    const said = "bwrap: Creating new namespace failed: Operation not permitted";
    const { code, of } = await examine(machine(`echo "${said}" >&2; exit 1`));
    expect(code).toBe(1);
    expect(of("sandbox")?.text).toContain(said);
  });

  it("says in its last line that agents work without a sandbox", async () => {
    const host = createFakeHost({ env: { ...folder.env, MUSTER_SANDBOX: "local" } });
    await runCommand(host, "doctor");
    expect(host.out).toMatch(/\nAgents run commands without a sandbox\. .*to look at\.\n$/);
    expect(host.out).not.toContain("No problems");
  });

  it("names machines of a server that works without a sandbox, or has none", async () => {
    const server = await new FakeServer().start();
    const runner = { id: "rnr_1", name: "bench", state: "online", unsandboxed: null };
    const consented = { by: "user:usr_1", at: "2026-01-01T00:00:00.000Z" };
    const sandbox = { kind: "local", why: null, fix: null, enforced: {}, at: null };
    const items = [
      { ...runner, unsandboxed: consented, sandbox },
      { ...runner, id: "rnr_2", name: "attic", sandbox: { ...sandbox, why: "It has none." } },
    ];
    server.answer("GET", "/api/runners", (_seen, response) => {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ items, next: null }));
    });
    const { code, text } = await examine({
      MUSTER_SERVER: `http://127.0.0.1:${server.port}`,
      MUSTER_API_KEY: KEY,
    });
    await server.stop();
    expect(code).toBe(1);
    expect(text).toContain("agents work without a sandbox on bench (rnr_1)");
    expect(text).toContain("muster runners require-sandbox rnr_1");
    expect(text).toContain("no sandbox on attic (rnr_2)");
  });

  it("says who uses the database, without getting in the way", async () => {
    const store = await folder.open();
    const { code, of } = await examine();
    await store.close();
    expect(code).toBe(0);
    expect(of("database")?.text).toMatch(/in use by a server/);
    if (process.platform === "linux")
      expect(of("database")?.text).toContain(`process ${process.pid}`);
  });

  it("notices a damaged database", async () => {
    truncateSync(folder.path, 20_000);
    const { code, of } = await examine();
    expect(code).toBe(1);
    expect([of("integrity"), of("database")].some((finding) => finding?.level === "fail")).toBe(
      true,
    );
  });

  it("distinguishes older, newer and foreign schemas", async () => {
    const next = { id: "0002-next", statements: () => [] };
    expect(checkSchema(compareSchema([FIRST], [...kernelMigrations, next]))).toMatchObject({
      level: "warn",
      text: expect.stringContaining("0002-next"),
    });
    folder.sql("insert into schema_migrations values ('9999-future', 0)");
    expect((await examine()).of("schema")).toMatchObject({
      level: "fail",
      text: expect.stringContaining("9999-future"),
    });
    folder.sql("delete from schema_migrations");
    expect((await examine()).of("schema")?.level).toBe("fail");
  });

  it("takes a folder before its first start for what it is", async () => {
    const { code, of } = await examine({ MUSTER_HOME: join(folder.home, "none") });
    expect(code).toBe(0);
    expect(of("data folder")?.level).toBe("warn");
    expect(of("database")?.level).toBe("warn");
    expect(of("owner key")?.level).toBe("warn");
  });

  it("reports wrong settings and still looks at the rest", async () => {
    const { code, of } = await examine({ MUSTER_PORT: "many" });
    expect(code).toBe(1);
    expect(of("settings")?.text).toContain("MUSTER_PORT");
    expect(of("node")?.level).toBe("ok");
  });

  it("knows a Muster on its port from any other program, and tries the key", async () => {
    const server = await new FakeServer().start();
    server.answer("GET", "/health", (_seen, response) => response.end('{"status":"ok"}'));
    const env = { MUSTER_PORT: String(server.port) };
    const wrongKey = await examine(env);
    expect(wrongKey.of("port")?.text).toContain("a Muster server answers");
    expect(wrongKey.of("sign-in")?.level).toBe("fail");
    writeFileSync(join(folder.home, "owner.key"), KEY);
    server.answer("GET", "/api/me", (seen, response) => {
      response.statusCode = seen.headers.authorization ? 200 : 401;
      response.end('{"error":{"code":"unauthenticated","message":"Sign in."}}');
    });
    expect((await examine(env)).of("sign-in")?.level).toBe("ok");
    await server.stop();

    const other = createServer((_request, response) => response.end("hello"));
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as AddressInfo;
    expect((await examine({ MUSTER_PORT: String(port) })).of("port")).toMatchObject({
      level: "fail",
    });
    await new Promise((resolve) => other.close(resolve));
    expect((await examine({ MUSTER_PORT: String(port) })).of("port")?.text).toContain("is free");
  });

  it("misses programs that are not installed", async () => {
    const { of } = await examine({ PATH: "/nonexistent" });
    expect(of("git")?.text).toContain("not installed");
  });

  it("says when PostgreSQL does not answer, without its password", async () => {
    const { code, of, text } = await examine({
      MUSTER_DATABASE_URL: "postgres://ada:s3cret@127.0.0.1:9/x",
    });
    expect(code).toBe(1);
    expect(of("database")?.text).toContain("postgres://ada@127.0.0.1:9/x");
    expect(text).not.toContain("s3cret");
  });
});

describe.skipIf(!postgresUrl)("muster doctor on PostgreSQL", () => {
  it("finds version and schema", async () => {
    const database = await createTestDatabase();
    try {
      const env = { MUSTER_DATABASE_URL: database.url };
      const empty = await examine(env);
      expect(empty.of("database")?.text).toMatch(/^PostgreSQL \d+/);
      expect(empty.of("schema")?.level).toBe("warn");
      const store = await openStore({
        url: database.url,
        clock: systemClock,
        log: silentLog,
        onSyncFailure: () => {},
      });
      await store.migrate(kernelMigrations);
      await store.close();
      expect((await examine(env)).of("schema")?.level).toBe("ok");
    } finally {
      await database.drop();
    }
  });
});
