import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createLog } from "#base/log.ts";
import { keepSecret, withoutSecrets } from "#base/secrets/known-secrets.ts";
import { builder } from "#base/store/index.ts";
import type { Principal } from "#engine/index.ts";
import { member, owner, startWorld, stranger, type World } from "#features/testing/index.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import type { Secret } from "./contract.ts";
import { createSecrets } from "./index.ts";
import type { SecretRow, SecretTables } from "./schema.ts";

const SECRET_KEY = "a-secret-key-of-more-than-32-characters";
const VALUE = "canary-0123456789-otter";
const MINE = "/api/me/secrets";
const ORG = "/api/orgs/org_1/secrets";

interface Page {
  items: Secret[];
  next: string | null;
}

const session: Principal = {
  kind: "session",
  orgId: "org_1",
  sessionId: "ses_1",
  ownerId: owner.userId,
  name: "agent",
};
const runner: Principal = {
  kind: "runner",
  orgId: "org_1",
  credentialId: "crd_1",
  scope: "org",
  tags: [],
  name: "box",
};

function suite(title: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(title, () => {
    const secrets = createSecrets({ secretKey: SECRET_KEY });
    let world: World;
    let made: TestDatabase | undefined;
    beforeAll(async () => {
      made = await database();
      world = await startWorld([secrets.feature], made?.url);
    });
    afterAll(async () => {
      await world.stop();
      await made?.drop();
    });

    const set = (who: Principal, path: string, body: object = { value: VALUE }) =>
      world.call<{ secret: Secret }>(who, "PUT", path, body).then(({ secret }) => secret);
    const remove = (who: Principal, path: string) => world.call(who, "DELETE", path);
    const list = (who: Principal, path: string) => world.call<Page>(who, "GET", path);
    const read = (name: string, userId?: string, orgId = "org_1") =>
      secrets.read(world.kernel.engine, { orgId, userId }, name);
    const rows = () =>
      world.kernel.engine.store.read((reader) =>
        reader.query<SecretRow>(
          builder<SecretTables>(reader.dialect).selectFrom("secrets").selectAll().compile(),
        ),
      );

    it("takes a value, says what it has, and never shows it", async () => {
      const secret = await set(owner, `${MINE}/TOKEN`, { value: VALUE, description: " For git " });
      expect(secret).toEqual({
        name: "TOKEN",
        scope: "user",
        description: "For git",
        version: 1,
        createdAt: expect.any(String),
        updatedAt: secret.createdAt,
        lastUsedAt: null,
        problem: null,
      });
      const page = await list(owner, MINE);
      expect(page).toEqual({ items: [secret], next: null });
      const stored = JSON.stringify(await rows());
      for (const text of [JSON.stringify(page), stored]) {
        expect(text).not.toContain(VALUE);
        expect(text).not.toContain(Buffer.from(VALUE).toString("base64url"));
      }
      expect(await read("TOKEN", owner.userId)).toBe(VALUE);
    });

    it("counts versions as values are replaced, and keeps the description unless given another", async () => {
      const first = await set(owner, `${ORG}/rotated`, { value: "one", description: "d" });
      world.clock.advance(1_000);
      const second = await set(owner, `${ORG}/rotated`, { value: "two" });
      expect(second).toMatchObject({ version: 2, description: "d", createdAt: first.createdAt });
      expect(Date.parse(second.updatedAt)).toBeGreaterThanOrEqual(Date.parse(first.updatedAt));
      expect(await read("rotated")).toBe("two");
      const third = await set(owner, `${ORG}/rotated`, { value: "two", description: null });
      expect(third).toMatchObject({ version: 3, description: null });
    });

    it("gives no two values the same version when they come at once", async () => {
      const values = Array.from({ length: 8 }, (_, at) => `value ${at}`);
      const made = await Promise.all(values.map((value) => set(owner, `${ORG}/raced`, { value })));
      expect(made.map(({ version }) => version).sort()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
      expect(values).toContain(await read("raced"));
    });

    it("reads a person's own before the organisation's, and nobody else's", async () => {
      await set(owner, `${ORG}/both`, { value: "org's" });
      await set(member, `${MINE}/both`, { value: "member's" });
      expect(await read("both", member.userId)).toBe("member's");
      expect(await read("both", owner.userId)).toBe("org's");
      expect(await read("both")).toBe("org's");
      expect(await read("both", member.userId, "org_2")).toBeUndefined();
      expect(await read("none", member.userId)).toBeUndefined();
      await remove(member, `${MINE}/both`);
      expect(await read("both", member.userId)).toBe("org's");
    });

    it("keeps each person's names to that person", async () => {
      await set(member, `${MINE}/private`);
      const names = async (who: Principal) => (await list(who, MINE)).items.map(({ name }) => name);
      expect(await names(member)).toContain("private");
      expect(await names(owner)).not.toContain("private");
      await expect(remove(owner, `${MINE}/private`)).rejects.toMatchObject({ kind: "not_found" });
      expect(await read("private", member.userId)).toBe(VALUE);
    });

    it("lets members see the organisation's names, and only admins change them", async () => {
      await set(owner, `${ORG}/shared`);
      expect((await list(member, ORG)).items.map(({ name }) => name)).toContain("shared");
      const forbidden = { kind: "forbidden", code: "forbidden" };
      await expect(set(member, `${ORG}/shared`)).rejects.toMatchObject(forbidden);
      await expect(remove(member, `${ORG}/shared`)).rejects.toMatchObject(forbidden);
      expect(await read("shared")).toBe(VALUE);
    });

    it("opens nothing to show a list, so a list pushes no secret out of those in use", async () => {
      await set(owner, `${MINE}/listed`, { value: "listed-and-never-used" });
      for (let n = 0; n < 1_000; n++) keepSecret(`in-use-while-listed-${n}-`);
      expect((await list(owner, MINE)).items).toContainEqual(
        expect.objectContaining({ name: "listed", problem: null }),
      );
      expect(withoutSecrets("in-use-while-listed-0-")).toBe("[redacted]");
    });

    it("answers another organisation as if it were not there", async () => {
      const missing = { kind: "not_found", code: "not_found" };
      await expect(list(stranger, ORG)).rejects.toMatchObject(missing);
      await expect(set(stranger, `${ORG}/x`)).rejects.toMatchObject(missing);
      await expect(remove(stranger, `${ORG}/shared`)).rejects.toMatchObject(missing);
      await expect(list(owner, "/api/orgs/org_none/secrets")).rejects.toMatchObject(missing);
    });

    it("is nothing for agents and runners, nor for keys of other scopes", async () => {
      const narrow = { ...owner, scopes: ["sessions:read", "sessions:write"] };
      for (const who of [session, runner, narrow]) {
        for (const path of [MINE, ORG]) {
          await expect(list(who, path)).rejects.toMatchObject({ kind: "forbidden" });
          await expect(set(who, `${path}/x`)).rejects.toMatchObject({ kind: "forbidden" });
          await expect(remove(who, `${path}/x`)).rejects.toMatchObject({ kind: "forbidden" });
        }
      }
      const own = { ...owner, scopes: ["secrets"] };
      await set(own, `${MINE}/mine`);
      await expect(set(own, `${ORG}/mine`)).rejects.toMatchObject({ kind: "forbidden" });
    });

    it("removes a value for good", async () => {
      await set(owner, `${MINE}/gone`);
      await remove(owner, `${MINE}/gone`);
      expect(await read("gone", owner.userId)).toBeUndefined();
      await expect(remove(owner, `${MINE}/gone`)).rejects.toMatchObject({ kind: "not_found" });
      expect(await set(owner, `${MINE}/gone`)).toMatchObject({ version: 1 });
    });

    it.each(["1x", "_x", "-x", ".x", "a b", "a:b", "ä", "x".repeat(65), "constructor@"])(
      "refuses the name %s",
      async (name) => {
        const path = `${MINE}/${encodeURIComponent(name)}`;
        await expect(set(owner, path)).rejects.toMatchObject({
          kind: "invalid",
          code: "invalid_name",
        });
      },
    );

    it("refuses values that are empty, too large or broken, and fields it does not know", async () => {
      const path = `${MINE}/edge`;
      for (const body of [
        { value: "" },
        { value: "a\u0000b" },
        { value: "\ud800" },
        { value: 5 },
        {},
        { value: "x", description: "y".repeat(501) },
        { value: "x", description: "a\u0000b" },
        { value: "x", scope: "org" },
      ])
        await expect(set(owner, path, body)).rejects.toThrow();
      // The limit counts bytes, not characters.
      for (const value of ["x".repeat(64 * 1024 + 1), "ä".repeat(32 * 1024 + 1)])
        await expect(set(owner, path, { value })).rejects.toMatchObject({
          kind: "too_large",
          code: "secret_too_large",
        });
      expect(await read("edge", owner.userId)).toBeUndefined();
      const most = "ä".repeat(32 * 1024);
      await set(owner, path, { value: most });
      expect(await read("edge", owner.userId)).toBe(most);
      const lines = "-----BEGIN KEY-----\r\nä🦦\n-----END KEY-----\n";
      await set(owner, path, { value: lines });
      expect(await read("edge", owner.userId)).toBe(lines);
    });

    it("notes when a value was used, without a write for every use", async () => {
      await set(owner, `${ORG}/used`);
      const usedAt = async () =>
        (await list(owner, `${ORG}?limit=200`)).items.find(({ name }) => name === "used")
          ?.lastUsedAt;
      expect(await usedAt()).toBeNull();
      await read("used");
      const first = await usedAt();
      expect(first).toEqual(expect.any(String));
      await read("used");
      expect(await usedAt()).toBe(first);
      // A new value keeps the time of the last use.
      await set(owner, `${ORG}/used`, { value: "new" });
      expect(await usedAt()).toBe(first);
      if (made) return;
      world.clock.advance(60_000);
      await read("used");
      expect(await usedAt()).not.toBe(first);
    });

    it("lists by name, page by page", async () => {
      const person = { ...member, userId: "usr_pages" };
      for (const name of ["c", "B", "a", "e", "D"]) await set(person, `${MINE}/${name}`);
      const seen: string[] = [];
      let path = `${MINE}?limit=2`;
      for (;;) {
        const page = await list(person, path);
        seen.push(...page.items.map(({ name }) => name));
        if (page.next === null) break;
        path = `${MINE}?limit=2&cursor=${page.next}`;
      }
      expect(seen).toEqual(["B", "D", "a", "c", "e"]);
      const foreign = (await list(person, `${MINE}?limit=1`)).next;
      await expect(list(owner, `${ORG}?cursor=${foreign}`)).rejects.toMatchObject({
        code: "cursor_invalid",
      });
    });

    it("has an end", async () => {
      const person = { ...member, userId: "usr_many" };
      for (let at = 0; at < 200; at++) await set(person, `${MINE}/n${at}`);
      await expect(set(person, `${MINE}/more`)).rejects.toMatchObject({
        kind: "limit",
        code: "too_many_secrets",
      });
      await set(person, `${MINE}/n0`, { value: "may still be replaced" });
    });

    it("says so when the server's secret key is another one", async () => {
      await set(owner, `${ORG}/old`);
      const other = createSecrets({ secretKey: `${SECRET_KEY} but changed` });
      const attempt = other.read(world.kernel.engine, { orgId: "org_1" }, "old");
      await expect(attempt).rejects.toMatchObject({ code: "secret_key_changed" });
      const route = other.feature.routes?.find(
        ({ method, path }) => method === "get" && path.startsWith("/api/orgs"),
      );
      const page = (await route?.handle({
        engine: world.kernel.engine,
        principal: owner,
        params: { orgId: "org_1" },
        query: { limit: 200 } as never,
        body: {} as never,
        idempotency: undefined,
      })) as Page;
      expect(page.items.find(({ name }) => name === "old")?.problem).toContain("set the secret");
    });

    it("opens no value that was moved to another row", async () => {
      await set(owner, `${ORG}/from`);
      await set(owner, `${ORG}/to`, { value: "other" });
      const { store } = world.kernel.engine;
      const all = await rows();
      const sealed = all.find(({ name }) => name === "from")?.sealed;
      await store.transaction((tx) =>
        tx.execute(
          builder<SecretTables>(tx.dialect)
            .updateTable("secrets")
            .set({ sealed: sealed as string })
            .where("name", "=", "to")
            .compile(),
        ),
      );
      await expect(read("to")).rejects.toMatchObject({ code: "secret_key_changed" });
    });

    it("puts no value into what an error says or a log line", async () => {
      const lines: string[] = [];
      const log = createLog({ level: "debug", write: (line) => lines.push(line) });
      const value = `${VALUE}${"x".repeat(64 * 1024)}`;
      const error = await set(owner, `${MINE}/logged`, { value }).catch(
        (caught: unknown) => caught,
      );
      log.error({ err: error }, "refused");
      expect(lines.join("")).toContain("secret_too_large");
      expect(lines.join("")).not.toContain(VALUE);
    });
  });
}

suite("secrets on sqlite", async () => undefined);
describe.skipIf(!postgresUrl)("with a server", () => {
  suite("secrets on postgres", createTestDatabase);
});
