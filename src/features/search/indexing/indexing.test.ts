/** The index across restarts, servers and databases, and the traces of deleted things in a file. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ReadTooSlow, type Store } from "#base/store/index.ts";
import { tasks } from "#features/tasks/index.ts";
import { member, type User } from "#features/testing/index.ts";
import { createTestDatabase, postgresUrl } from "#test/services/postgres.ts";
import { SEARCH_KINDS } from "../contract.ts";
import { FakeLibrary } from "../fake-library.ts";
import { listProgress } from "../queries.ts";
import { indexChanges } from "./index-changes.ts";
import { indexLog } from "./index-log.ts";
import { sourcesOf } from "./sources.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "muster-search-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const ann: User = { ...member, userId: "usr_ann", name: "Ann" };
const fileUrl = () => `sqlite:${join(folder, "muster.db")}`;

describe("the index of a file", () => {
  it("is caught up after a restart, whatever was not heard of", async () => {
    const before = await FakeLibrary.open(fileUrl());
    const session = await before.world.createSession({ title: "Old" }, ann);
    await before.chatter(session, ann, "early", 3);
    const turn = await before.world.startTurn(session, "late", ann);
    await turn.end("done");
    await before.task(ann, session, "late too");
    await before.world.stop();
    const after = await FakeLibrary.open(fileUrl());
    expect((await after.ask(ann, "early")).items).toHaveLength(4);
    expect((await after.ask(ann, "late")).items).toEqual([]);
    const { items } = await after.find(ann, "late");
    expect(items.map(({ kind }) => kind).sort()).toEqual(["task", "transcript"]);
    await after.world.stop();
  });

  it("has what was said in a turn in the next round", async () => {
    const at = await FakeLibrary.open(fileUrl());
    const session = await at.world.createSession({ title: "Talk" }, ann);
    await at.index();
    const turn = await at.world.startTurn(session, "heard at once", ann);
    await at.round();
    expect((await at.ask(ann, "heard")).items).toHaveLength(1);
    await turn.end("done");
    await at.world.stop();
  });

  it("is written whatever else the clock had to do before", async () => {
    const at = await FakeLibrary.open(fileUrl());
    await at.memory(ann, "patience");
    await at.round(-10_000);
    expect((await at.ask(ann, "patience")).items).toHaveLength(1);
    await at.world.stop();
  });

  it("is written in small pieces, however little is left of a text", async () => {
    const at = await FakeLibrary.open(fileUrl());
    const { engine } = at.world.kernel;
    const session = await at.world.createSession({ title: "Heaps" }, ann);
    await at.index();
    const heap = `heap ${"\u0301\u0316 ".repeat(10_000)}`;
    const turn = await at.world.startTurn(session, "Go", ann);
    await turn.journal(
      Array.from({ length: 9 }, (_, n) => ({
        type: "message" as const,
        entryId: `e${n}`,
        kind: "text" as const,
        text: heap,
      })),
    );
    for (let n = 0; n < 9; n++) await at.task(ann, session, `Heap ${n}`, heap);
    await indexLog(engine, session);
    expect(await at.documents("transcript", session)).toBe(2);
    await indexChanges(engine, sourcesOf(tasks.searchable ?? []));
    expect(await at.rows("select 1 from search_documents where kind = 'task'")).toHaveLength(1);
    await turn.end("done");
    await at.index();
    expect(await at.documents("transcript", session)).toBe(10);
    expect(await at.rows("select 1 from search_documents where kind = 'task'")).toHaveLength(9);
    await at.world.stop();
  });

  it("lets go of long texts one at a time, because each takes long", async () => {
    const at = await FakeLibrary.open(fileUrl());
    const { engine } = at.world.kernel;
    const sources = sourcesOf(tasks.searchable ?? []);
    const session = await at.world.createSession({ title: "Long" }, ann);
    const long = Array.from({ length: 900 }, (_, n) => `word${n}`).join(" ");
    const ids: string[] = [];
    for (let n = 0; n < 4; n++) ids.push(await at.task(ann, session, `Long ${n}`, long));
    for (let n = 0; n < 9; n++) ids.push(await at.task(ann, session, `Short ${n}`, "word"));
    await at.index();
    const left = async () =>
      (await at.rows("select 1 from search_documents where kind = 'task'")).length;
    for (const id of ids)
      await at.world.call(ann, "DELETE", `/api/sessions/${session}/tasks/${id}`);
    const counts: number[] = [];
    while (await indexChanges(engine, sources)) counts.push(await left());
    expect(counts).toEqual([12, 11, 10, 9, 5, 1, 0]);
    await at.world.stop();
  });

  it("does not look into sessions that nobody could find, over and over", async () => {
    const at = await FakeLibrary.open(fileUrl());
    const session = await at.world.createSession({ title: "Somebody's" }, ann);
    const other = await at.world.createSession({ title: "The org's" }, ann);
    await at.execute(`update sessions set owner_id = null where id = '${other}'`);
    const { store } = at.world.kernel.engine;
    const some = await store.read((reader) => listProgress(reader, "", 10));
    expect(some.map(({ id }) => id)).toEqual([session]);
    await at.world.stop();
  });

  it("lets others have their turn while long texts are shown", async () => {
    const at = await FakeLibrary.open(undefined);
    const session = await at.world.createSession({ title: "Long" }, ann);
    for (let n = 0; n < 20; n++)
      await at.task(ann, session, `Long ${n}`, `lengthy ${"and so on ".repeat(3_000)}`);
    await at.index();
    let turns = 0;
    const turning = () => {
      turns += 1;
      next = setImmediate(turning);
    };
    let next = setImmediate(turning);
    expect((await at.ask(ann, "lengthy")).items).toHaveLength(20);
    clearImmediate(next);
    expect(turns).toBeGreaterThan(4);
    await at.world.stop();
  });

  it("keeps no word of what is gone, once the file was scrubbed", async () => {
    const at = await FakeLibrary.open(fileUrl());
    const ids: string[] = [];
    for (let n = 0; n < 30; n++)
      ids.push(await at.memory(ann, `canaryword${n} is number ${n} of some`));
    await at.memory(ann, "keptword stays");
    expect((await at.find(ann, "canaryword7")).items).toHaveLength(1);
    for (const id of ids) await at.world.call(ann, "DELETE", `/api/me/memories/${id}`);
    await at.index();
    await at.world.kernel.engine.store.scrub?.();
    const holding = (word: string) =>
      readdirSync(folder).filter((name) => readFileSync(join(folder, name)).includes(word));
    expect(holding("canaryword")).toEqual([]);
    expect(holding("keptword")).toEqual(["muster.db"]);
    await at.world.stop();
  });

  it("says so when a search takes too long", async () => {
    const at = await FakeLibrary.open(fileUrl());
    const { store } = at.world.kernel.engine;
    const slow: Store["readAside"] = () => Promise.reject(new ReadTooSlow());
    Object.assign(store, { readAside: slow });
    await expect(at.ask(ann, "anything")).rejects.toMatchObject({
      kind: "unavailable",
      code: "search_too_slow",
    });
    await at.world.stop();
  });

  it("begins anew with a log that begins anew", async () => {
    const at = await FakeLibrary.open(fileUrl());
    const session = await at.world.createSession({ title: "Twice" }, ann);
    await at.chatter(session, ann, "first", 12);
    await at.execute(`delete from events where session_id = '${session}' and seq > 5`);
    await at.execute(`update sessions set last_seq = 5 where id = '${session}'`);
    await at.index();
    const kept = await at.documents("transcript", session);
    expect(kept).toBeGreaterThan(0);
    expect(kept).toBeLessThan(6);
    expect(await at.rows("select session_id, seq from search_cursors")).toEqual([
      { session_id: session, seq: 5 },
    ]);
    await at.world.stop();
  });
});

async function findsWhatWasThere(url: string): Promise<void> {
  const before = await FakeLibrary.open(url, true);
  const cid = await before.person("Cid");
  await before.oneOfEach(cid, "mammoth", await before.person("Bob"));
  await before.world.stop();
  const after = await FakeLibrary.open(url);
  const { items } = await after.find(cid, "mammoth");
  expect([...new Set(items.map(({ kind }) => kind))].sort()).toEqual([...SEARCH_KINDS].sort());
  await after.world.stop();
}

describe("a database from before there was a search", () => {
  it("is indexed when it is opened", () => findsWhatWasThere(fileUrl()));
});

describe.skipIf(!postgresUrl)("with a server", () => {
  it("indexes a database from before there was a search", async () => {
    const database = await createTestDatabase();
    await findsWhatWasThere(database.url);
    await database.drop();
  });

  it("is written once when several servers index at the same time", async () => {
    const database = await createTestDatabase();
    const one = await FakeLibrary.open(database.url);
    const sessions: string[] = [];
    for (let n = 0; n < 6; n++) {
      const session = await one.world.createSession({ title: `Session ${n}` }, ann);
      const turn = await one.world.startTurn(session, "shared words", ann);
      await turn.journal(
        Array.from({ length: 60 }, (_, at) => ({
          type: "message" as const,
          entryId: `e${at}`,
          kind: "text" as const,
          text: `shared ${n} ${at}`,
        })),
      );
      await turn.end("done");
      await one.task(ann, session, "shared task");
      sessions.push(session);
    }
    // Opened only now: its runner would take the turns that this test works itself.
    const other = await FakeLibrary.open(database.url);
    await Promise.all([one.index(), other.index()]);
    for (const session of sessions) expect(await one.documents("transcript", session)).toBe(61);
    const { items } = await other.ask(ann, "shared", { limit: "200", kinds: "task" });
    expect(items).toHaveLength(6);
    await one.world.stop();
    await other.world.stop();
    await database.drop();
  });

  it("ranks the same things alike on both databases", async () => {
    const database = await createTestDatabase();
    const libraries = [await FakeLibrary.open(undefined), await FakeLibrary.open(database.url)];
    const words = "alpha beta gamma delta épsilon zeta 日本語 eta theta".split(" ");
    const texts = Array.from({ length: 80 }, (_, n) =>
      Array.from({ length: 3 + (n % 17) }, (_, at) => words[(n * 7 + at * at * 3) % 9]).join(" "),
    );
    for (const at of libraries) {
      const session = await at.world.createSession({ title: "Ranked" }, ann);
      for (const [n, text] of texts.entries())
        await at.task(ann, session, n % 5 === 0 ? text : `Task ${n}`, `${text} (${n})`);
      await at.execute("update tasks set updated_at = 1767225600000");
      await at.index();
      await at.execute("update search_documents set at = 1767225600000");
    }
    const questions = ["alpha", "beta gamma", '"alpha delta"', "日本", "eps", "the alpha nothing"];
    for (const q of questions) {
      const [first, second] = await Promise.all(
        libraries.map(async (at) => {
          const { items } = await at.ask(ann, q, { limit: "200", kinds: "task" });
          return items.map(({ title, snippet, matches }) => ({ title, snippet, matches }));
        }),
      );
      expect(first?.length, q).toBeGreaterThan(0);
      expect(second, q).toEqual(first);
    }
    for (const at of libraries) await at.world.stop();
    await database.drop();
  });
});
