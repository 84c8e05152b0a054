/** Notices kept by a feature that the test plays, delivered by the real kernel on both databases. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createMemoryBus } from "#base/bus/memory/memory-bus.ts";
import { systemClock } from "#base/clock.ts";
import { createIds } from "#base/ids.ts";
import { silentLog as log } from "#base/log.ts";
import { openStore, type Store } from "#base/store/index.ts";
import type { NoticeOf } from "#protocol/notices/notices.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import { createKernel, type Kernel } from "../kernel.ts";
import type { Principal } from "../requests/principal.ts";
import { findPrompt } from "../sessions/prompts/prompt-queries.ts";
import { command, type Listener, type SessionWriter, type Work } from "../work.ts";
import { platformSender } from "./admit-notice.ts";
import { deliverAtEnd } from "./deliver-at-end.ts";
import { deliverNotice, findOpenPrompt, type NoticeSource, refreshNotice } from "./index.ts";

const owner: Principal = {
  kind: "user",
  orgId: "org_1",
  userId: "usr_1",
  name: "owner",
  role: "admin",
  scopes: ["*"],
  channel: "api",
};
const sender = platformSender("tests", "tests");

interface Row {
  title: string;
  prompt_id: string | null;
  isHeld: boolean;
}

/** A table of notices in memory, for one conversation. */
class FakeRows {
  rows: Row[] = [];
  isHeld = false;
  asked = 0;

  add(title: string): void {
    this.rows.push({ title, prompt_id: null, isHeld: false });
  }

  source(limit?: number): NoticeSource<Row> {
    return {
      thread: "main",
      sender,
      pending: this.rows,
      ...(limit === undefined ? {} : { limit }),
      compose: (rows): NoticeOf<"board"> => ({
        kind: "board",
        items: rows.map(({ title }) => ({ event: "note", text: title })),
        hasMore: false,
      }),
      assign: async (rows, promptId) => {
        for (const row of rows) row.prompt_id = promptId;
      },
      isHeld: async () => {
        this.asked += 1;
        return this.isHeld;
      },
      hold: async (rows) => {
        for (const row of rows) row.isHeld = true;
      },
    };
  }
}

const renderNotices = {
  board: ({ items }: NoticeOf<"board">) =>
    items.map((item) => (item.event === "note" ? item.text : "")).join(", "),
};

function suite(title: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(title, () => {
    let made: TestDatabase | undefined;
    let store: Store;
    let kernel: Kernel;
    /** Reacts to a session that becomes active, as a feature with pending notices does. */
    let wakes: (work: Work, session: SessionWriter) => void = () => {};
    /** Admissions in the order of their ends; one inside another would end before it. */
    const admitted: string[] = [];
    const hear: Listener = async (work, event) => {
      if (event.type === "prompt_admitted") admitted.push(event.prompt.content);
      if (event.type !== "session_lifecycle" || event.session.row.lifecycle !== "active") return;
      admitted.push("woken");
      wakes(work, event.session);
    };
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
        features: [{ name: "tests", renderNotices, listeners: [hear] }],
        defaults: {
          runtime: "scripted",
          model: null,
          limits: { activePerUser: 1_000, activePerOrg: 1_000 },
        },
      });
    });
    afterAll(async () => {
      await kernel.stop();
      await store.close();
      await made?.drop();
    });

    const create = async () => (await kernel.sessions.create(owner, {})).id;
    const act = <T>(id: string, run: (work: Work, session: SessionWriter) => Promise<T>) =>
      command(kernel.engine, async (work) => run(work, (await work.session(id)) as SessionWriter));
    const deliver = (id: string, source: NoticeSource<Row>) =>
      act(id, (work, session) => deliverNotice(work, session, source));
    const queue = async (id: string) => {
      const page = await kernel.prompts.list(owner, id, { states: ["queued"], limit: 10 });
      return page.items;
    };

    it("admits one prompt with the notice beside its words, and lets more join it", async () => {
      const [id, fake] = [await create(), new FakeRows()];
      expect(await deliver(id, fake.source())).toBe("nothing");
      fake.add("one");
      expect(await deliver(id, fake.source())).toBe("queued");
      fake.add("two");
      expect(await deliver(id, fake.source())).toBe("queued");
      const prompts = await queue(id);
      expect(prompts).toMatchObject([
        {
          content: "one, two",
          author: { kind: "system", id: "tests" },
          notice: { kind: "board", items: [{ text: "one" }, { text: "two" }] },
        },
      ]);
      expect(fake.rows.map(({ prompt_id }) => prompt_id)).toEqual([prompts[0]?.id, prompts[0]?.id]);
      const { lastSeq } = await kernel.sessions.get(owner, id);
      await deliver(id, fake.source());
      // The text has not changed, so nothing is written.
      expect((await kernel.sessions.get(owner, id)).lastSeq).toBe(lastSeq);
    });

    it("keeps to its limit, and leaves the rest for the next prompt", async () => {
      const [id, fake] = [await create(), new FakeRows()];
      for (const title of ["one", "two", "three"]) fake.add(title);
      await deliver(id, fake.source(2));
      await deliver(id, fake.source(2));
      expect(await queue(id)).toMatchObject([{ content: "one, two" }]);
      expect(fake.rows[2]).toMatchObject({ prompt_id: null });
    });

    it("holds notices while the tree is unattended, unless they can join a queued prompt", async () => {
      const [id, fake] = [await create(), new FakeRows()];
      fake.isHeld = true;
      fake.add("one");
      expect(await deliver(id, fake.source())).toBe("held");
      expect(fake.rows).toMatchObject([{ isHeld: true, prompt_id: null }]);
      expect(await queue(id)).toEqual([]);
      fake.isHeld = false;
      await deliver(id, fake.source());
      fake.isHeld = true;
      fake.add("two");
      expect(await deliver(id, fake.source())).toBe("queued");
      expect(await queue(id)).toMatchObject([{ content: "one, two" }]);
      expect(fake.asked).toBe(2);
    });

    it("says what is left when rows are gone, and withdraws a prompt with nothing to say", async () => {
      const [id, fake] = [await create(), new FakeRows()];
      fake.add("one");
      fake.add("two");
      await deliver(id, fake.source());
      const [waiting] = await queue(id);
      const refresh = () =>
        act(id, async (work, session) => {
          const prompt = await findPrompt(work.tx, waiting?.id ?? "");
          if (prompt) await refreshNotice(work, session, prompt, fake.source());
        });
      fake.rows = fake.rows.slice(1);
      await refresh();
      expect(await queue(id)).toMatchObject([{ content: "two" }]);
      fake.rows = [];
      await refresh();
      expect(await queue(id)).toEqual([]);
    });

    it("joins no prompt that has ended", async () => {
      const [id, fake] = [await create(), new FakeRows()];
      fake.add("one");
      await deliver(id, fake.source());
      const [first] = await queue(id);
      await kernel.prompts.withdraw(owner, first?.id ?? "");
      const open = await act(id, (work) => findOpenPrompt(work, sender, fake.rows));
      expect(open).toBeUndefined();
      fake.add("two");
      await deliver(id, fake.source());
      expect(await queue(id)).toMatchObject([{ content: "two" }]);
    });

    it("delivers at the end what a listener asks for", async () => {
      const [id, fake] = [await create(), new FakeRows()];
      const order: string[] = [];
      await act(id, async (work, session) => {
        deliverAtEnd(work, { sessionId: id, source: "tests" }, async () => {
          order.push("delivered");
          await deliverNotice(work, session, fake.source());
        });
        fake.add("late");
        order.push("done");
      });
      expect(order).toEqual(["done", "delivered"]);
      expect(await queue(id)).toMatchObject([{ content: "late" }]);
    });

    const asleep = async (sources: readonly FakeRows[]) => {
      const id = await create();
      await kernel.sessions.hibernate(owner, id);
      admitted.length = 0;
      wakes = (work, session) => {
        for (const [at, fake] of sources.entries())
          deliverAtEnd(work, { sessionId: id, source: `tests ${at}` }, async () => {
            await deliverNotice(work, session, fake.source());
          });
      };
      return id;
    };

    it("delivers what a session missed before the prompt that woke it, all of it, once", async () => {
      const [one, two] = [new FakeRows(), new FakeRows()];
      const id = await asleep([one, two]);
      one.add("missed");
      two.add("missed too");
      await kernel.prompts.admit(owner, id, {
        content: "wake up",
        thread: "main",
        attachments: [],
      });
      expect(admitted).toEqual(["woken", "missed", "missed too", "wake up"]);
      expect((await queue(id)).map(({ content }) => content)).toEqual(admitted.slice(1));
      expect([...one.rows, ...two.rows].every(({ prompt_id }) => prompt_id !== null)).toBe(true);
    });

    it("wakes a session with one notice, and delivers the others after it, once", async () => {
      const [one, two] = [new FakeRows(), new FakeRows()];
      const id = await asleep([one, two]);
      one.add("waking");
      two.add("missed");
      await deliver(id, one.source());
      expect(admitted).toEqual(["woken", "waking", "missed"]);
      expect((await queue(id)).map(({ content }) => content)).toEqual(["waking", "missed"]);
    });

    it("loses nothing when the session may not wake for the prompt", async () => {
      const fake = new FakeRows();
      const id = await asleep([fake]);
      fake.add("missed");
      await kernel.sessions.archive(owner, id, false);
      const send = () =>
        kernel.prompts.admit(owner, id, { content: "go", thread: "main", attachments: [] });
      await expect(send()).rejects.toMatchObject({ code: "session_not_active" });
      expect(fake.rows).toMatchObject([{ prompt_id: null }]);
      await kernel.sessions.wake(owner, id);
      expect((await queue(id)).map(({ content }) => content)).toEqual(["missed"]);
      await send();
      expect((await queue(id)).map(({ content }) => content)).toEqual(["missed", "go"]);
    });

    it("has no notice any more when a person has rewritten the prompt", async () => {
      const [id, fake] = [await create(), new FakeRows()];
      fake.add("one");
      await deliver(id, fake.source());
      const [waiting] = await queue(id);
      await kernel.prompts.edit(owner, waiting?.id ?? "", "mine");
      expect(await queue(id)).toMatchObject([{ content: "mine", notice: null }]);
    });
  });
}

suite("delivery of notices on SQLite", async () => undefined);
describe.skipIf(!postgresUrl)("with a server", () => {
  suite("delivery of notices on PostgreSQL", createTestDatabase);
});
