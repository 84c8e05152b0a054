/** A database opens only with the key it was written with. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadConfig } from "#base/config.ts";
import { silentLog } from "#base/log.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import { readSecret } from "./owner.ts";
import { type RunningServer, startServer } from "./server.ts";

const OTHER_KEY = "another secret key, of more than 32 characters";

function suite(name: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(name, () => {
    let home: string;
    let made: TestDatabase | undefined;
    let keyFile: string;
    beforeEach(async () => {
      made = await database();
      home = mkdtempSync(join(tmpdir(), "muster-key-"));
      keyFile = join(home, "secret.key");
    });
    afterEach(async () => {
      await made?.drop();
      rmSync(home, { recursive: true });
    });

    const start = (env: Record<string, string> = {}): Promise<RunningServer> => {
      const where = made ? { MUSTER_DATABASE_URL: made.url } : {};
      const config = loadConfig({ MUSTER_HOME: home, MUSTER_PORT: "0", ...where, ...env });
      return startServer(config, silentLog, "dist");
    };
    async function call<T>(server: RunningServer, method: string, path: string, body?: unknown) {
      const key = readSecret(server.owner.keyFile);
      const response = await fetch(server.http.url + path, {
        method,
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return (await response.json()) as T;
    }
    async function startWithSecret(): Promise<string> {
      const server = await start();
      const { org } = await call<{ org: { id: string } }>(server, "GET", "/api/me");
      await call(server, "PUT", `/api/orgs/${org.id}/secrets/DEPLOY`, { value: "s3cret" });
      await server.stop();
      return org.id;
    }

    it("starts again with its key", async () => {
      await startWithSecret();
      await (await start()).stop();
      expect(existsSync(keyFile)).toBe(true);
    });

    it("is refused without a key, and no new one is made", async () => {
      await startWithSecret();
      rmSync(keyFile);
      await expect(start()).rejects.toMatchObject({ code: "secret_key_missing" });
      expect(existsSync(keyFile)).toBe(false);
    });

    it("is refused with another key, and with an empty file", async () => {
      await startWithSecret();
      await expect(start({ MUSTER_SECRET_KEY: OTHER_KEY })).rejects.toMatchObject({
        code: "secret_key_wrong",
      });
      writeFileSync(keyFile, "");
      await expect(start()).rejects.toMatchObject({ code: "secret_key_missing" });
    });

    it("starts without the encrypted values when the setting allows it, and records that", async () => {
      const orgId = await startWithSecret();
      rmSync(keyFile);
      const server = await start({ MUSTER_FORGET_ENCRYPTED: "1" });
      const secrets = await call<{ items: unknown[] }>(server, "GET", `/api/orgs/${orgId}/secrets`);
      expect(secrets.items).toEqual([]);
      const trail = await call<{ items: { metadata: unknown }[] }>(server, "GET", "/api/audit");
      expect(trail.items[0]?.metadata).toMatchObject({ area: "secret_key", change: "replaced" });
      await expect
        .poll(() => call(server, "GET", "/api/audit/verify"))
        .toMatchObject({ ok: true, unsealed: 0 });
      await server.stop();
      await (await start()).stop();
    });

    it("recognises a wrong key in a database that has no check value yet", async () => {
      await startWithSecret();
      const server = await start();
      const execute = (sql: string) =>
        server.kernel.engine.store.transaction((tx) => tx.execute({ sql, parameters: [] }));
      await execute("delete from secret_key");
      await server.stop();
      await expect(start({ MUSTER_SECRET_KEY: OTHER_KEY })).rejects.toMatchObject({
        code: "secret_key_wrong",
      });
      const key = readFileSync(keyFile, "utf8");
      rmSync(keyFile);
      await expect(start()).rejects.toMatchObject({ code: "secret_key_missing" });
      writeFileSync(keyFile, key, { mode: 0o600 });
      await (await start()).stop();
    });
  });
}

suite("the secret key on SQLite", async () => undefined);
if (postgresUrl) suite("the secret key on PostgreSQL", createTestDatabase);
