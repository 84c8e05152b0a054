/** Ceilings count awake sessions; new ones count against them, and so do those that wake. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createMemoryBus } from "#base/bus/memory/memory-bus.ts";
import { systemClock } from "#base/clock.ts";
import { createIds } from "#base/ids.ts";
import { silentLog as log } from "#base/log.ts";
import { openStore, type Store } from "#base/store/index.ts";
import { createKernel, type Kernel } from "#engine/kernel.ts";
import type { Principal } from "#engine/requests/principal.ts";
import { command } from "#engine/work.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import { admitPrompt } from "../prompts/admit-prompt.ts";
import { SESSION_COLUMNS } from "../session-columns.ts";
import { wakeHeld } from "./fall-asleep.ts";

const PER_USER = 3;
const PER_ORG = 8;
let people = 0;

/** A new person, in an organisation of their own unless one is given. */
function somebody(orgId = `org_${++people}`): Extract<Principal, { kind: "user" }> {
  return {
    kind: "user",
    orgId,
    userId: `usr_${++people}`,
    name: "somebody",
    role: "admin",
    scopes: ["*"],
    channel: "api",
  };
}

const prompt = { content: "go", thread: "main", attachments: [] };

function suite(title: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(title, () => {
    let made: TestDatabase | undefined;
    let store: Store;
    let kernel: Kernel;
    beforeAll(async () => {
      made = await database();
      const url = made?.url ?? "sqlite::memory:";
      store = await openStore({ url, clock: systemClock, log, onSyncFailure: () => {} });
      kernel = await createKernel({
        store,
        bus: createMemoryBus(log),
        clock: systemClock,
        ids: createIds(),
        log,
        features: [],
        defaults: {
          runtime: "scripted",
          model: null,
          limits: { activePerUser: PER_USER, activePerOrg: PER_ORG },
        },
      });
    });
    afterAll(async () => {
      await store.close();
      await made?.drop();
    });

    const { parse } = Date;
    /** Creates idle sessions, in order. */
    async function idle(who: Principal, count: number): Promise<string[]> {
      const ids: string[] = [];
      for (let n = 0; n < count; n++) {
        ids.push((await kernel.sessions.create(who, {})).id);
        await store.transaction((tx) =>
          tx.execute({ sql: "update sessions set updated_at = updated_at - 1000", parameters: [] }),
        );
      }
      return ids;
    }
    /** Creates busy sessions: their turns wait for a runner. */
    async function busy(who: Principal, count: number): Promise<string[]> {
      const ids: string[] = [];
      for (let n = 0; n < count; n++)
        ids.push((await kernel.sessions.create(who, { prompt: "go" })).id);
      return ids;
    }
    async function awake(who: Principal): Promise<string[]> {
      const query = { lifecycle: ["active" as const], limit: 200 };
      const { items } = await kernel.sessions.list(who, query);
      return items.toSorted((a, b) => parse(a.createdAt) - parse(b.createdAt)).map(({ id }) => id);
    }
    const refused = { code: "session_limit_reached" };

    it("puts the session to sleep that was idle longest, which says so", async () => {
      const who = somebody();
      const [oldest, ...others] = await idle(who, PER_USER);
      const { id } = await kernel.sessions.create(who, {});
      expect(new Set(await awake(who))).toEqual(new Set([...others, id]));
      expect(await kernel.sessions.get(who, oldest ?? "")).toMatchObject({ activity: "asleep" });
      const { items } = await kernel.sessions.transcript(who, oldest ?? "", { limit: 10 });
      expect(items.at(-1)).toMatchObject({
        kind: "notice",
        text: expect.stringContaining("to make room for another session"),
      });
    });

    it("refuses only when all of them are at work, and leaves nothing behind", async () => {
      const who = somebody();
      const ids = await busy(who, PER_USER);
      await expect(kernel.sessions.create(who, {})).rejects.toMatchObject(refused);
      expect(new Set(await awake(who))).toEqual(new Set(ids));
      expect((await kernel.sessions.list(who, { limit: 50 })).items).toHaveLength(PER_USER);
    });

    it("makes those pay that wake, by a prompt or by hand", async () => {
      const who = somebody();
      const [first = "", second = ""] = await idle(who, 2);
      for (const id of [first, second]) await kernel.sessions.hibernate(who, id);
      const ids = await busy(who, PER_USER);
      await expect(kernel.prompts.admit(who, first, prompt)).rejects.toMatchObject(refused);
      await expect(kernel.sessions.wake(who, second)).rejects.toMatchObject(refused);
      expect(new Set(await awake(who))).toEqual(new Set(ids));
      const { items } = await kernel.prompts.list(who, first, { limit: 10 });
      expect(items).toEqual([]);
      await kernel.sessions.stop(who, ids[0] ?? "");
      await kernel.prompts.admit(who, first, prompt);
      expect(new Set(await awake(who))).toEqual(new Set([...ids.slice(1), first]));
    });

    it("counts a session restored from the archive, and refuses a prompt to it without a change", async () => {
      const who = somebody();
      const [put = ""] = await idle(who, 1);
      await kernel.sessions.archive(who, put, false);
      const ids = await idle(who, PER_USER);
      await expect(kernel.prompts.admit(who, put, prompt)).rejects.toMatchObject({
        code: "session_not_active",
      });
      expect(new Set(await awake(who))).toEqual(new Set(ids));
      await kernel.sessions.wake(who, put);
      expect(await awake(who)).toHaveLength(PER_USER);
    });

    it("counts no children against their person, and all against the organisation", async () => {
      const who = somebody();
      const [parent = ""] = await busy(who, 1);
      for (let n = 0; n < PER_USER + 1; n++)
        await kernel.sessions.create(who, { parentSessionId: parent, prompt: "go" });
      await busy(who, PER_USER - 1);
      await expect(busy(who, 1)).rejects.toMatchObject(refused);
      await kernel.sessions.create(who, { parentSessionId: parent, prompt: "go" });
      await expect(
        kernel.sessions.create(who, { parentSessionId: parent, prompt: "go" }),
      ).rejects.toMatchObject({
        ...refused,
        message: expect.stringContaining("The organisation has"),
      });
    });

    it("puts nobody else's session to sleep when the organisation is full", async () => {
      const victim = somebody();
      const theirs = await idle(victim, 2);
      const attacker = somebody(victim.orgId);
      const [parent = ""] = await busy(attacker, 1);
      for (let n = 0; n < PER_ORG - 3; n++)
        await kernel.sessions.create(attacker, { parentSessionId: parent, prompt: "go" });
      await expect(busy(attacker, 1)).rejects.toMatchObject(refused);
      expect(new Set(await awake(victim))).toEqual(new Set(theirs));
      // The victim works on in awake sessions, and makes room with their own.
      await kernel.prompts.admit(victim, theirs[1] ?? "", prompt);
      await kernel.sessions.create(victim, {});
      expect(await kernel.sessions.get(victim, theirs[0] ?? "")).toMatchObject({
        activity: "asleep",
      });
    });

    it("keeps to the ceiling when many wake at once", async () => {
      const who = somebody();
      const ids: string[] = [];
      for (let n = 0; n < 6; n++) {
        const [id = ""] = await idle(who, 1);
        await kernel.sessions.hibernate(who, id);
        ids.push(id);
      }
      const woken = await Promise.allSettled(
        ids.map((id) => kernel.prompts.admit(who, id, prompt)),
      );
      expect(woken.filter(({ status }) => status === "fulfilled")).toHaveLength(PER_USER);
      expect(await awake(who)).toHaveLength(PER_USER);
    });

    it("lets one that the platform wants to wake wait until there is room", async () => {
      const who = somebody();
      const [asleep = ""] = await idle(who, 1);
      await kernel.sessions.hibernate(who, asleep);
      const ids = await busy(who, PER_USER);
      await store.transaction((tx) =>
        tx.execute({
          sql: `update sessions set waiting = 1 where id = '${asleep}'`,
          parameters: [],
        }),
      );
      await wakeHeld(kernel.engine, "");
      expect(await kernel.sessions.get(who, asleep)).toMatchObject({ lifecycle: "hibernated" });
      // An idle session may have background processes, which no message of the platform ends.
      await kernel.sessions.stop(who, ids[0] ?? "");
      await wakeHeld(kernel.engine, "");
      expect(await kernel.sessions.get(who, asleep)).toMatchObject({ lifecycle: "hibernated" });
      expect(await kernel.sessions.get(who, ids[0] ?? "")).toMatchObject({ lifecycle: "active" });
      await kernel.sessions.hibernate(who, ids[0] ?? "");
      await wakeHeld(kernel.engine, "");
      expect(await kernel.sessions.get(who, asleep)).toMatchObject({ lifecycle: "active" });
      await store.transaction((tx) =>
        tx.execute({
          sql: `update sessions set waiting = 0 where id = '${asleep}'`,
          parameters: [],
        }),
      );
    });

    it("keeps what the platform sends while there is no room, and puts nobody to sleep for it", async () => {
      const who = somebody();
      const [asleep = ""] = await idle(who, 1);
      await kernel.sessions.hibernate(who, asleep);
      const ids = await idle(who, PER_USER);
      const sent = await command(kernel.engine, async (work) => {
        const session = await work.sessionWithParent(asleep);
        if (!session) throw new Error("it is gone");
        return admitPrompt(work, session, {
          id: work.ids.mint("pmt"),
          runId: work.ids.mint("run"),
          content: "a message",
          thread: "main",
          mode: "followup",
          author: { kind: "system", id: "mailbox", name: "Muster" },
          origin: { channelType: "system", channelId: null, scopeKey: null, replyRef: null },
          createdBy: "system",
          dispatchId: null,
          causeKey: `message:${asleep}`,
          attachments: [],
          runOptions: null,
        });
      });
      expect(new Set(await awake(who))).toEqual(new Set(ids));
      await kernel.sessions.hibernate(who, ids[1] ?? "");
      await wakeHeld(kernel.engine, "");
      expect(await kernel.sessions.get(who, asleep)).toMatchObject({ lifecycle: "active" });
      expect(await kernel.prompts.get(who, sent.prompt.id)).toMatchObject({ startedAt: null });
      // A person's own message still makes room: the session that was idle longest goes to sleep.
      await kernel.prompts.admit(who, ids[1] ?? "", prompt);
      expect(await kernel.sessions.get(who, ids[0] ?? "")).toMatchObject({ activity: "asleep" });
    });

    it("continues behind sessions that cannot wake, so that others are tried", async () => {
      const crowd = somebody();
      await busy(crowd, PER_USER);
      const other = somebody();
      const [last = ""] = await idle(other, 1);
      await kernel.sessions.hibernate(other, last);
      const held = Array.from({ length: 100 }, (_none, at) => `'a${String(at).padStart(3, "0")}'`);
      const columns = SESSION_COLUMNS.filter((name) => name !== "id").join(", ");
      const copy = (id: string) =>
        `insert into sessions (id, ${columns}) select ${id}, ${columns} from sessions where id = '${last}'`;
      await store.transaction(async (tx) => {
        for (const id of held) await tx.execute({ sql: copy(id), parameters: [] });
        const theirs = `update sessions set owner_id = '${crowd.userId}', org_id = '${crowd.orgId}' where id in (${held.join(", ")})`;
        await tx.execute({ sql: theirs, parameters: [] });
        const waits = `update sessions set waiting = 1 where id in (${[...held, `'${last}'`].join(", ")})`;
        await tx.execute({ sql: waits, parameters: [] });
      });
      const after = await wakeHeld(kernel.engine, "");
      expect(after).toBe("a099");
      expect(await wakeHeld(kernel.engine, after)).toBe("");
      expect(await kernel.sessions.get(other, last)).toMatchObject({ lifecycle: "active" });
      await store.transaction((tx) =>
        tx.execute({ sql: "update sessions set waiting = 0", parameters: [] }),
      );
    });
  });
}

suite("ceilings on SQLite", async () => undefined);
describe.skipIf(!postgresUrl)("on PostgreSQL", () => {
  suite("ceilings on PostgreSQL", () => createTestDatabase());
});
