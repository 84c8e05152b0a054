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
import { command, type SessionWriter, type Work } from "../work.ts";
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

function story(title: string, database: () => Promise<TestDatabase | undefined>): void {
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
        features: [{ name: "tests", renderNotices }],
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

    it("holds news while nobody attends, unless a prompt waits that they can join", async () => {
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

story("delivery of notices on SQLite", async () => undefined);
describe.skipIf(!postgresUrl)("with a server", () => {
  story("delivery of notices on PostgreSQL", createTestDatabase);
});
