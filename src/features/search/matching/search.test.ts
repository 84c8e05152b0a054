/** Search for things of every kind, on the real kernel with the real features and both databases. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Principal } from "#engine/index.ts";
import { command } from "#engine/index.ts";
import { purgeEnded } from "#engine/sessions/index.ts";
import { owner, type User } from "#features/testing/index.ts";
import { NASTY_STRINGS, UNSTORABLE } from "#test/nasty-strings.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import { SEARCH_KINDS, type SearchItem } from "../contract.ts";
import { FakeLibrary } from "../fake-library.ts";

const agent: Principal = {
  kind: "session",
  orgId: owner.orgId,
  sessionId: "ses_1",
  ownerId: owner.userId,
  name: "agent",
};
const runner: Principal = {
  kind: "runner",
  orgId: owner.orgId,
  credentialId: "crd_1",
  scope: "org",
  tags: [],
  name: "r",
};

const marked = ({ snippet, matches }: SearchItem) =>
  matches.map(([from, upTo]) => snippet.slice(from, upTo));
const markedTitle = ({ title, titleMatches }: SearchItem) =>
  titleMatches.map(([from, upTo]) => title.slice(from, upTo));
/** Lists the distinct kinds: each session that ends adds a message. */
const kindsOf = (items: readonly SearchItem[]) =>
  [...new Set(items.map(({ kind }) => kind))].sort();

const isBlank = (text: string) => text.trim() === "";
/** Returns the text if it is a valid title. */
const fitting = (text: string) => (isBlank(text) || text.length > 300 ? undefined : text);
const isRange = ([from, upTo]: readonly number[]) => (from ?? 0) < (upTo ?? 0);

function suite(name: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(name, () => {
    let at: FakeLibrary;
    let made: TestDatabase | undefined;
    let ann: User;
    let bob: User;
    beforeAll(async () => {
      made = await database();
      at = await FakeLibrary.open(made?.url);
      ann = await at.person("Ann");
      bob = await at.person("Bob");
    });
    afterAll(async () => {
      await at.world.stop();
      await made?.drop();
    });

    it("finds one thing of every kind by its word, and each is opened where it is", async () => {
      const { session } = await at.oneOfEach(ann, "axolotl", bob);
      const { items, next } = await at.find(ann, "axolotl");
      expect(next).toBeNull();
      expect(kindsOf(items)).toEqual([...SEARCH_KINDS].sort());
      const urls = Object.fromEntries(items.map(({ kind, url }) => [kind, url]));
      expect(urls).toEqual({
        session: `/sessions/${session}`,
        transcript: expect.stringMatching(new RegExp(`^/sessions/${session}#entry-\\d+$`)),
        task: expect.stringMatching(new RegExp(`^/board/${session}/tsk_`)),
        message: expect.stringMatching(/^\/inbox\/msg_/),
        memory: "/memory",
        persona: expect.stringMatching(/^\/settings\/personas\/psn_/),
        repo: "/settings/repositories",
      });
      for (const item of items) {
        expect([...marked(item), ...markedTitle(item)].map((word) => word.toLowerCase())).toContain(
          "axolotl",
        );
        expect(Date.parse(item.at)).toBeGreaterThan(0);
        expect(item.score).toBeGreaterThan(0);
      }
    });

    it("shows each person exactly what is theirs to see", async () => {
      await at.oneOfEach(ann, "numbat", bob);
      const all = await at.find(ann, "numbat");
      expect(kindsOf(all.items)).toEqual([...SEARCH_KINDS].sort());
      // The message was to Bob; repositories are visible to everybody; Ann's persona is private.
      expect(kindsOf((await at.find(bob, "numbat")).items)).toEqual(["message", "repo"]);
      const admin: User = { ...bob, userId: "usr_admin", role: "admin" };
      expect(kindsOf((await at.find(admin, "numbat")).items)).toEqual(["repo"]);
      const elsewhere: User = { ...ann, orgId: "org_2" };
      expect((await at.find(elsewhere, "numbat")).items).toEqual([]);
      await at.sharePersona(ann, "numbat");
      expect(kindsOf((await at.find(bob, "numbat")).items)).toEqual(["message", "persona", "repo"]);
    });

    it("leaves out what a key has no scope for, and refuses one that has none at all", async () => {
      await at.oneOfEach(ann, "quokka", bob);
      const withScopes = (...scopes: string[]): User => ({ ...ann, scopes });
      expect(kindsOf((await at.find(withScopes("tasks"), "quokka")).items)).toEqual(["task"]);
      expect(kindsOf((await at.find(withScopes("memory", "mail"), "quokka")).items)).toEqual([
        "memory",
        "message",
      ]);
      expect(kindsOf((await at.find(withScopes("sessions:read"), "quokka")).items)).toEqual([
        "persona",
        "repo",
        "session",
        "transcript",
      ]);
      const refused = { code: "forbidden" };
      await expect(at.find(withScopes("account"), "quokka")).rejects.toMatchObject(refused);
      await expect(
        at.find(withScopes("tasks"), "quokka", { kinds: "memory" }),
      ).rejects.toMatchObject(refused);
      for (const who of [agent, runner])
        await expect(at.ask(who, "quokka")).rejects.toMatchObject({ code: "people_only" });
    });

    it("filters by kind, and continues where a page ended", async () => {
      await at.oneOfEach(ann, "dugong", bob);
      const some = await at.find(ann, "dugong", { kinds: "task,memory" });
      expect(kindsOf(some.items)).toEqual(["memory", "task"]);
      expect((await at.find(ann, "dugong", { kinds: "" })).items).toHaveLength(8);
      const seen: string[] = [];
      let cursor: string | null = "";
      for (let pages = 0; cursor !== null && pages < 9; pages++) {
        const page: { items: SearchItem[]; next: string | null } = await at.find(ann, "dugong", {
          limit: "2",
          ...(cursor === "" ? {} : { cursor }),
        });
        // A memory written meanwhile does not move the following pages.
        if (pages === 0) await at.memory(ann, `dugong ${"dugong ".repeat(20)}`);
        seen.push(...page.items.map(({ kind, id }) => `${kind} ${id}`));
        cursor = page.next;
      }
      expect(seen).toHaveLength(8);
      expect(new Set(seen).size).toBe(8);
      await expect(at.find(ann, "dugong", { cursor: "abc" })).rejects.toMatchObject({
        code: "cursor_invalid",
      });
    });

    it("continues behind deleted items, however many there are", async () => {
      const session = await at.world.createSession({ title: "Holes" }, ann);
      const ids: string[] = [];
      for (let n = 0; n < 60; n++) ids.push(await at.task(ann, session, "A serval"));
      await at.index();
      // First as many as the extra hits of a page, then more.
      for (const gone of [10, 30]) {
        for (const id of ids.splice(-gone))
          await at.world.call(ann, "DELETE", `/api/sessions/${session}/tasks/${id}`);
        const seen = await at.allPages(ann, "serval", { kinds: "task" });
        expect(seen.map(({ id }) => id).sort()).toEqual([...ids].sort());
      }
    });

    it("puts a title before a text, and more before less", async () => {
      const much = await at.memory(ann, "The wombat digs. A wombat sleeps. This wombat eats.");
      const little = await at.memory(
        ann,
        `A wombat, once. ${"Something else entirely. ".repeat(30)}`,
      );
      const titled = await at.world.createSession({ title: "Wombat" }, ann);
      const { items } = await at.find(ann, "wombat");
      expect(items.map(({ id }) => id)).toEqual([titled, much, little]);
      const scores = items.map(({ score }) => score);
      expect(scores).toEqual([...scores].sort((a, b) => b - a));
    });

    it("takes plain words: all of them, else any that say something; the last may go on", async () => {
      const one = await at.memory(ann, "Deploys of the gazelle run at noon");
      const two = await at.memory(ann, "Nothing is deployed on the ibex");
      const ids = async (q: string) => (await at.find(ann, q)).items.map(({ id }) => id);
      expect(await ids("gazelle noon")).toEqual([one]);
      expect(await ids("GAZELLE,noon!")).toEqual([one]);
      expect(await ids("gazelle ibex")).toEqual(expect.arrayContaining([one, two]));
      expect(await ids("gazelles")).toEqual([one]);
      expect(await ids("gaz")).toEqual([one]);
      expect(await ids("ga")).toEqual([]);
      // Only the last word of a query is a prefix.
      expect(await ids('gaz "noon"')).toEqual([]);
      expect(await ids('"run at noon"')).toEqual([one]);
      expect(await ids('"noon at run"')).toEqual([]);
      expect(await ids("“the ibex”")).toEqual([two]);
      expect(await ids("unknownword")).toEqual([]);
      for (const nothing of ["", " ", '""', '"', "“”", "\u200b \u00a0"])
        expect(await at.find(ann, nothing)).toEqual({ items: [], next: null });
    });

    it("finds text of scripts without spaces, and words without their accents", async () => {
      const japanese = await at.memory(ann, "明日の会議は東京都庁で行います");
      const korean = await at.memory(ann, "한국어로 쓴 기억");
      const thai = await at.memory(ann, "ภาษาไทยไม่เว้นวรรค");
      const accents = await at.memory(ann, "Le café à Liège, Straße und Ёлка");
      const ids = async (q: string) => (await at.find(ann, q)).items.map(({ id }) => id);
      for (const q of ["東京都", "会議", "都庁で", "議"]) expect(await ids(q)).toEqual([japanese]);
      expect(await ids("京東")).toEqual([]);
      const loan = await at.memory(ann, "サーバーのデータ");
      await at.memory(ann, "バスのサイズとデモとター");
      for (const q of ["サーバー", "データ", "バーの"]) expect(await ids(q)).toEqual([loan]);
      expect(await ids("한국어")).toEqual([korean]);
      expect(await ids("ไทย")).toEqual([thai]);
      for (const q of ["cafe", "CAFÉ", "liege", "straße", "елка"])
        expect(await ids(q)).toEqual([accents]);
      const [item] = (await at.find(ann, "東京都")).items;
      expect(item && marked(item)).toEqual(["東京都"]);
    });

    it("shows the part where the words stand", async () => {
      const filler = "Nothing of interest stands in this long sentence at all. ".repeat(20);
      await at.memory(ann, `${filler}\nHere a Pangolin rolls\tup tight. ${filler}`);
      const [item] = (await at.find(ann, "pangolin tight")).items;
      expect(item && marked(item)).toEqual(["Pangolin", "tight"]);
      expect(item?.snippet).toContain("Here a Pangolin rolls up tight.");
      expect(item?.snippet.length).toBeLessThan(300);
      expect(item?.snippet).toMatch(/^….*…$/);
    });

    it("finds what was said and done in a session, and not what was thought", async () => {
      const id = await at.world.createSession({ title: "Zoo" }, ann);
      const turn = await at.world.startTurn(id, "Where does the okapi live?", ann);
      await turn.journal([
        { type: "message", entryId: "e1", kind: "reasoning", text: "okapi secretthought" },
        { type: "message", entryId: "e2", kind: "text", text: "The okapi lives in the Congo." },
        {
          type: "post_tool",
          entryId: "e3",
          callId: "c1",
          tool: "bash",
          input: { command: "grep -r okapi_config ." },
          output: 'src/zoo.ts:\tconst okapi = "giraffid"\n',
          error: null,
        },
      ]);
      await turn.end("done");
      const snippets = async (q: string) =>
        (await at.find(ann, q, { kinds: "transcript" })).items.map(({ snippet }) => snippet);
      expect(await snippets("okapi")).toHaveLength(3);
      expect(await snippets("congo")).toEqual(["The okapi lives in the Congo."]);
      expect(await snippets("where live")).toEqual(["Where does the okapi live?"]);
      expect((await snippets("giraffid"))[0]).toContain('const okapi = "giraffid"');
      expect(await snippets("grep config")).toHaveLength(1);
      expect(await snippets("secretthought")).toEqual([]);
      expect(await snippets("command")).toEqual([]);
      const [hit] = (await at.find(ann, "congo")).items;
      expect(hit).toMatchObject({ kind: "transcript", title: "Zoo", titleMatches: [] });
      // The new title is found, the old one is not.
      await at.world.kernel.sessions.update(ann, id, { title: "Aquarium" });
      const sessions = async (q: string) =>
        (await at.find(ann, q, { kinds: "session" })).items.map((item) => item.id);
      expect(await sessions("aquarium")).toContain(id);
      expect(await sessions("zoo")).not.toContain(id);
    });

    it("forgets what was changed or removed, and shows nothing of it before it has", async () => {
      const id = await at.memory(ann, "The tapir is shy");
      const found = async (q: string) => (await at.find(ann, q)).items.length;
      const ask = async (q: string) => (await at.ask(ann, q)).items.length;
      expect(await found("tapir")).toBe(1);
      await at.world.call(ann, "PATCH", `/api/me/memories/${id}`, { content: "It is a peccary" });
      expect(await found("peccary")).toBe(1);
      expect(await found("tapir")).toBe(0);
      await at.world.call(ann, "DELETE", `/api/me/memories/${id}`);
      expect(await ask("peccary")).toBe(0);
      await at.index();
      expect(await at.documents("memory", id)).toBe(0);
      const { session } = await at.oneOfEach(ann, "saiga", bob);
      expect(await found("saiga")).toBe(8);
      await at.execute(`update events set redacted_at = 1 where session_id = '${session}'`);
      expect(kindsOf((await at.ask(ann, "saiga")).items)).not.toContain("transcript");
      await at.index();
      expect(await at.documents("transcript", session)).toBe(0);
    });

    it("forgets a session that is gone, with its board and all that was said", async () => {
      const { session } = await at.oneOfEach(ann, "markhor", bob);
      await at.chatter(session, ann, "markhor", 9);
      expect(await at.documents("transcript", session)).toBe(11);
      await at.world.kernel.sessions.archive(ann, session, true);
      await command(at.world.kernel.engine, (work) => purgeEnded(work, session));
      const gone = ["session", "transcript", "task"];
      const kinds = kindsOf((await at.ask(ann, "markhor")).items);
      expect(kinds.filter((kind) => gone.includes(kind))).toEqual([]);
      await at.index();
      expect(await at.documents("transcript", session)).toBe(0);
      expect(await at.rows(`select 1 from search_cursors where session_id = '${session}'`)).toEqual(
        [],
      );
    });

    it("forgets a person who was removed, but not what they wrote to others", async () => {
      const cid = await at.person("Cid");
      await at.oneOfEach(cid, "vicuna", bob);
      expect((await at.find(cid, "vicuna")).items).toHaveLength(8);
      const person = { orgId: cid.orgId, userId: cid.userId };
      for (let rounds = 0; rounds < 20; rounds++)
        if (await at.world.kernel.purgePerson(person)) break;
      expect(kindsOf((await at.find(cid, "vicuna")).items)).toEqual(["repo"]);
      const left = await at.rows(
        `select kind from search_documents where body like '% vicuna %' or title like '% vicuna %'`,
      );
      expect(left.map(({ kind }) => kind).sort()).not.toContain("memory");
      expect(left.map(({ kind }) => kind).sort()).not.toContain("transcript");
      expect(kindsOf((await at.find(bob, "vicuna")).items)).toContain("repo");
    });

    it("keeps every nasty string as it is, and finds it by itself", {
      timeout: 120_000,
    }, async () => {
      const dan = await at.person("Dan");
      const session = await at.world.createSession({ title: "Nasty" }, dan);
      const texts = [...NASTY_STRINGS, ...UNSTORABLE];
      const ids = new Map<string, string>();
      for (const text of texts)
        ids.set(text, await at.task(dan, session, fitting(text) ?? "Nasty", text));
      await at.index();
      for (const text of texts) {
        const { items } = await at.ask(dan, text, { kinds: "task", limit: "200" });
        const own = items.find(({ id }) => id === ids.get(text));
        const title = isBlank(text) ? undefined : await at.titleOf(ids.get(text) ?? "");
        expect.soft(own?.title, JSON.stringify(text)).toBe(title);
        expect(items.flatMap(({ titleMatches }) => titleMatches).every(isRange)).toBe(true);
      }
      const long = "word ".repeat(2_000);
      expect((await at.ask(dan, long)).items).toEqual(expect.any(Array));
      expect((await at.ask(dan, "\u0000 \ud800 NEAR(a b, 2) title: -x ^y *")).items).toEqual(
        expect.any(Array),
      );
    });
  });
}

suite("search on SQLite", async () => undefined);
describe.skipIf(!postgresUrl)("with a server", () => {
  suite("search on PostgreSQL", createTestDatabase);
});
