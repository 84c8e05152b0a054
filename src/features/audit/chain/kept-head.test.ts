/** An attacker who can write to the database alone cannot change the trail unnoticed. */
import { mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startWorld, type World } from "#features/testing/index.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import { type Audit, createAudit } from "../index.ts";
import type { AuditRow } from "../schema.ts";
import { CHAIN_START, sealRows } from "./chain.ts";
import { createHeadKeeper, type HeadKeeper } from "./kept-head.ts";
import { sealTrail } from "./seal.ts";
import { verifyTrail } from "./verify.ts";

const SECRET_KEY = "the key of these tests, which no database has";

function suite(name: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(name, () => {
    let world: World;
    let made: TestDatabase | undefined;
    let audit: Audit;
    let file: string;
    let keeper: HeadKeeper;
    beforeEach(async () => {
      made = await database();
      file = join(mkdtempSync(join(tmpdir(), "muster-audit-")), "audit.head");
      audit = createAudit({ secretKey: SECRET_KEY, headFile: file });
      keeper = createHeadKeeper(SECRET_KEY, file);
      world = await startWorld([audit.feature], made?.url);
    });
    afterEach(async () => {
      await world.stop();
      await made?.drop();
    });

    const verify = (by = keeper) => verifyTrail(world.kernel.engine, by);
    const seal = (by = keeper) => sealTrail(world.kernel.engine, by);
    const query = <R>(sql: string) =>
      world.kernel.engine.store.read((reader) => reader.query<R>({ sql, parameters: [] }));
    const execute = (sql: string) =>
      world.kernel.engine.store.transaction((tx) => tx.execute({ sql, parameters: [] }));
    async function happen(count: number): Promise<void> {
      for (let n = 0; n < count; n++) await world.createSession({});
      await seal();
    }
    const headRow = async () =>
      (await query<{ seq: number; hash: string; mac: string }>("select * from audit_head"))[0];
    /** Rolls the database back by hand, rows and head. */
    async function rollBackTo(head: Awaited<ReturnType<typeof headRow>>): Promise<void> {
      await execute(`delete from audit_events where seq > ${head?.seq}`);
      await execute(
        `update audit_head set seq = ${head?.seq}, hash = '${head?.hash}', mac = '${head?.mac}'`,
      );
    }
    /** Rewrites the trail as an attacker would who knows how the chain is made. */
    async function rewriteAll(): Promise<void> {
      await execute("update audit_events set user_id = null where seq = 1");
      const rows = await query<AuditRow>("select * from audit_events order by seq");
      const { seals, head } = sealRows({ seq: 0, hash: CHAIN_START }, rows);
      for (const { id, prev_hash, hash } of seals)
        await execute(
          `update audit_events set prev_hash = '${prev_hash}', hash = '${hash}' where id = '${id}'`,
        );
      await execute(`update audit_head set hash = '${head.hash}'`);
    }

    it("is signed and kept in a private file", async () => {
      await happen(3);
      const answer = await verify();
      expect(answer).toMatchObject({ ok: true, firstBroken: null, restores: [] });
      expect(answer.outside?.seq).toBe(answer.sealed);
      expect(statSync(file).mode & 0o777).toBe(0o600);
    });

    it("notices a trail that was written anew, also after it has gone on", async () => {
      await happen(3);
      await rewriteAll();
      expect((await verify()).firstBroken?.why).toMatch(/not written by this server's key/);
      await happen(2);
      expect(await verify()).toMatchObject({ ok: false });
      expect((await verify()).firstBroken?.why).toMatch(/not written by this server's key/);
    });

    it("notices rows that were cut off with an old head put back, also after it has gone on", async () => {
      await happen(2);
      const old = await headRow();
      await happen(2);
      await rollBackTo(old);
      expect((await verify()).firstBroken?.why).toMatch(/are gone/);
      await happen(5);
      expect((await verify()).firstBroken?.why).toMatch(/are gone/);
    });

    it("detects a head whose signature was removed to look like an older version", async () => {
      await happen(2);
      await rewriteAll();
      await execute("update audit_head set mac = ''");
      expect(await verify()).toMatchObject({ ok: false });
      await execute("delete from audit_head");
      expect(await verify()).toMatchObject({ ok: false });
    });

    it("takes on a trail of an earlier version, and copes with a crash before the file was written", async () => {
      await happen(2);
      await execute("update audit_head set mac = ''");
      const fresh = createHeadKeeper(SECRET_KEY, `${file}.fresh`);
      await seal(fresh);
      expect(await verify(fresh)).toMatchObject({ ok: true });
      const before = readFileSync(`${file}.fresh`, "utf8");
      await world.createSession({});
      await seal(fresh);
      writeFileSync(`${file}.fresh`, before);
      expect(await verify(fresh)).toMatchObject({ ok: true });
      await world.createSession({});
      await seal(fresh);
      expect(await verify(fresh)).toMatchObject({ ok: true, unsealed: 0 });
    });

    it("is kept by each of several servers, which seal in turn", async () => {
      const other = createHeadKeeper(SECRET_KEY, `${file}.other`);
      for (const by of [keeper, other, other, keeper]) {
        await world.createSession({});
        await seal(by);
      }
      expect(await verify()).toMatchObject({ ok: true });
      expect(await verify(other)).toMatchObject({ ok: true });
      const stranger = createHeadKeeper("another key altogether", `${file}.stranger`);
      expect(await verify(stranger)).toMatchObject({ ok: false });
    });

    it("notices a file that was changed", async () => {
      await happen(2);
      writeFileSync(file, readFileSync(file, "utf8").replace(/"seq": \d+/, '"seq": 1'));
      expect((await verify()).firstBroken?.why).toMatch(/data folder was changed/);
    });

    it("accepts a restore that was said to be one, on every server, once", async () => {
      const other = createHeadKeeper(SECRET_KEY, `${file}.other`);
      await happen(2);
      const old = await headRow();
      await happen(2);
      await seal(other);
      await rollBackTo(old);
      const { engine } = world.kernel;
      const restored = { id: "r1", at: 1_000, seq: old?.seq ?? 0, hash: old?.hash ?? "" };
      await audit.noteRestore(engine, restored);
      expect(await verify()).toMatchObject({ ok: true, restores: [{ seq: old?.seq }] });
      await happen(3);
      await seal(other);
      for (const by of [keeper, other])
        expect(await verify(by)).toMatchObject({ ok: true, restores: [{ seq: old?.seq }] });
      await rollBackTo(old);
      for (const by of [keeper, other]) expect(await verify(by)).toMatchObject({ ok: false });
    });

    it("accepts no restore that only the database records", async () => {
      await happen(2);
      const old = await headRow();
      await happen(2);
      await rollBackTo(old);
      await execute(
        `insert into audit_restores values ('r1', 1, ${old?.seq}, '${old?.hash}', '${old?.mac}')`,
      );
      expect(await verify()).toMatchObject({ ok: false, restores: [] });
      await audit.noteRestore(world.kernel.engine, { id: "r2", at: 1, seq: 1, hash: "other" });
      expect(await verify()).toMatchObject({ ok: false });
    });
  });
}

suite("the end of the trail on SQLite", async () => undefined);
if (postgresUrl) suite("the end of the trail on PostgreSQL", createTestDatabase);
