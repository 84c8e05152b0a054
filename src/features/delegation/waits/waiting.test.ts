/** Collection, delay and delivery of events: queued notices, threads, waits, the full inbox. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { FakeSessionTree } from "#features/fake-session-tree/index.ts";
import { owner, startWorld, type Turn } from "#features/testing/index.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import {
  beginWait,
  childEventOf,
  createDelegation,
  messageChild,
  requireChild,
  takePendingEvents,
  wakeText,
} from "../index.ts";
import { INBOX_KEPT } from "../notify/inbox.ts";

const done = (result: string) => ({ outcome: "completed", result }) as const;

function suite(title: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(title, () => {
    let at: FakeSessionTree;
    let made: TestDatabase | undefined;
    const isFake = () => made === undefined;
    beforeAll(async () => {
      made = await database();
      at = new FakeSessionTree(await startWorld([createDelegation()], made?.url));
    });
    afterEach(() => at.end());
    afterAll(async () => {
      await at.world.stop();
      await made?.drop();
    });

    const wait = (
      parentId: string,
      fields: { thread?: string; children?: string[]; timeoutMs?: number } = {},
    ) =>
      at.act(parentId, (work, session) =>
        beginWait(work, session, {
          thread: fields.thread ?? "main",
          promptId: "pmt_none",
          children: fields.children ?? null,
          timeoutMs: fields.timeoutMs ?? null,
        }),
      );
    const activity = async (id: string) => (await at.session(id)).activity;
    const pass = async (ms: number) => {
      if (isFake()) at.world.clock.advance(ms);
      else await new Promise((resolve) => setTimeout(resolve, ms));
      await at.world.kernel.sweeps.tick();
    };
    const heard = async (parentId: string): Promise<string> => {
      const turn = await at.turnOf(parentId);
      await at.settle(turn, done("ok"));
      return turn.assignment.content;
    };

    it("gathers what happens while the wake waits, in the order in which it happened", async () => {
      const parentId = await at.parent();
      const busy = await at.prompt(parentId);
      const names = ["one", "two", "three"];
      const turns: Turn[] = [];
      for (const title of names) turns.push(await at.turnOf(await at.spawn(parentId, { title })));
      for (const [index, turn] of turns.entries()) await at.settle(turn, done(`result ${index}`));
      expect(await at.wakes(parentId)).toHaveLength(1);
      await at.settle(busy, done("free"));
      const content = await heard(parentId);
      expect(content).toMatch(/^\[orchestration\] 3 events/);
      const places = names.map((name) => content.indexOf(`"${name}"`));
      expect(places).toEqual(places.toSorted((a, b) => a - b));
      expect((await at.inbox(parentId)).map(({ workerName }) => workerName)).toEqual(
        names.toReversed(),
      );
    });

    it("brings back with the next event what a person took out of the queue", async () => {
      const parentId = await at.parent();
      const busy = await at.prompt(parentId);
      const first = await at.turnOf(await at.spawn(parentId, { title: "first" }));
      const second = await at.turnOf(await at.spawn(parentId, { title: "second" }));
      await at.settle(first, done("1"));
      const [wake] = await at.wakes(parentId);
      await at.world.kernel.prompts.withdraw(owner, wake?.id ?? "");
      expect(await at.wakes(parentId)).toEqual([]);
      expect(await at.inbox(parentId)).toMatchObject([{ delivered: false }]);
      await at.settle(second, done("2"));
      await at.settle(busy, done("free"));
      expect(await heard(parentId)).toMatch(/2 events.*"first".*"second"/s);
      expect(await at.wakes(parentId)).toHaveLength(1);
    });

    it("keeps for its return what waited in the queue of a parent that is archived", async () => {
      const parentId = await at.parent();
      const busy = await at.prompt(parentId);
      const turn = await at.turnOf(await at.spawn(parentId));
      await at.settle(turn, done("kept"));
      await at.world.kernel.sessions.archive(owner, parentId, true);
      await at.settle(busy, { outcome: "aborted" });
      expect(await at.wakes(parentId)).toEqual([]);
      expect(await at.inbox(parentId)).toMatchObject([{ delivered: false }]);
      await at.world.kernel.sessions.wake(owner, parentId);
      expect(await heard(parentId)).toContain("> kept");
      expect(await at.wakes(parentId)).toHaveLength(1);
    });

    it("notifies the thread that spawned the child, and no other", async () => {
      const parentId = await at.parent();
      const ids = {
        one: await at.spawn(parentId, { thread: "one" }),
        two: await at.spawn(parentId, { thread: "two" }),
      };
      const turns = { one: await at.turnOf(ids.one), two: await at.turnOf(ids.two) };
      const other = await at.prompt(parentId, "busy", "two");
      await at.settle(turns.two, done("of two"));
      await at.settle(turns.one, done("of one"));
      const woken = await at.turnOf(parentId);
      expect(woken.assignment).toMatchObject({ thread: "one" });
      expect(woken.assignment.content).toContain("> of one");
      expect(woken.assignment.content).not.toContain("> of two");
      await at.settle(other, done("free"));
      const next = await at.turnOf(parentId);
      expect(next.assignment).toMatchObject({ thread: "two" });
      expect(next.assignment.content).toContain("> of two");
    });

    it("holds events that a thread does not wait for, and delivers them with the awaited one", async () => {
      const parentId = await at.parent();
      const [a, b] = [await at.spawn(parentId, { title: "a" }), await at.spawn(parentId)];
      const [turnA, turnB] = [await at.turnOf(a), await at.turnOf(b)];
      await wait(parentId, { children: [a], timeoutMs: 60_000 });
      expect(await activity(parentId)).toBe("waiting");
      await at.settle(turnB, done("of b"));
      expect(await at.wakes(parentId)).toEqual([]);
      await at.settle(turnA, done("of a"));
      expect(await heard(parentId)).toMatch(/2 events.*> of b.*> of a/s);
      // The wait is over: later events are delivered, and the timeout does not fire.
      const again = await at.prompt(b, "more");
      await at.settle(again, done("more of b"));
      expect(await heard(parentId)).toContain("> more of b");
      if (isFake()) await pass(60_000);
      expect(await at.wakes(parentId)).toHaveLength(2);
    });

    it("never holds back a question", async () => {
      const parentId = await at.parent();
      const [a, b] = [await at.spawn(parentId), await at.spawn(parentId)];
      await at.turnOf(a);
      await wait(parentId, { children: [a] });
      await at.ask(await at.turnOf(b), "Which port?");
      expect(await heard(parentId)).toContain("Question: Which port?");
    });

    it("ends a wait when a person writes, and delivers the pending events after that prompt", async () => {
      const parentId = await at.parent();
      const [a, b] = [await at.spawn(parentId), await at.spawn(parentId)];
      await at.turnOf(a);
      await wait(parentId, { children: [a] });
      await at.settle(await at.turnOf(b), done("of b"));
      const turn = await at.prompt(parentId, "hello");
      expect(turn.assignment.content).toBe("hello");
      await at.settle(turn, done("hi"));
      expect(await heard(parentId)).toContain("> of b");
    });

    it("wakes by the time that was set, with what was held back", async () => {
      const parentId = await at.parent();
      const [a, b] = [await at.spawn(parentId), await at.spawn(parentId)];
      await at.turnOf(a);
      await wait(parentId, { children: [a], timeoutMs: 100 });
      await at.settle(await at.turnOf(b), done("of b"));
      await pass(150);
      expect(await heard(parentId)).toMatch(/The time you set to wait is over\..*> of b/s);
      await wait(parentId, { thread: "main", timeoutMs: 100 });
      await pass(150);
      expect(await heard(parentId)).toMatch(/Nothing that you waited for has happened/);
      await pass(150);
      expect(await at.wakes(parentId)).toHaveLength(2);
    });

    it("shows a parent as waiting until every thread's wait is over", async () => {
      const parentId = await at.parent();
      await wait(parentId, { thread: "a/b" });
      await wait(parentId, { thread: "c", timeoutMs: 100 });
      await at.settle(await at.prompt(parentId, "hi", "main"), done("hi"));
      expect(await activity(parentId)).toBe("waiting");
      await pass(150);
      await heard(parentId);
      expect(await activity(parentId)).toBe("waiting");
      await at.settle(await at.prompt(parentId, "hi", "a/b"), done("hi"));
      expect(await activity(parentId)).toBe("idle");
    });

    it("hands over what is untold to a parent that reads, and takes the wake back", async () => {
      const parentId = await at.parent();
      const busy = await at.prompt(parentId);
      await at.settle(await at.turnOf(await at.spawn(parentId)), done("read me"));
      const rows = await at.act(parentId, (work, parent) =>
        takePendingEvents(work, parent, "main"),
      );
      expect(wakeText(rows.map(childEventOf), "read_messages")).toContain("> read me");
      expect(await at.wakes(parentId)).toEqual([]);
      expect(await at.inbox(parentId)).toMatchObject([{ delivered: true }]);
      expect(
        await at.act(parentId, (work, parent) => takePendingEvents(work, parent, "main")),
      ).toEqual([]);
      await at.settle(busy, done("ok"));
      expect(await at.wakes(parentId)).toEqual([]);
    });

    it("does not notify a parent of a question that it has answered itself", async () => {
      const { parentId, childId, turn } = await at.createParentAndChild();
      const busy = await at.prompt(parentId);
      await at.ask(turn, "Which port?");
      const sent = await at.act(parentId, async (work, parent) => {
        const { child } = await requireChild(work, parentId, childId);
        return messageChild(work, parent, child, "4747", "followup");
      });
      expect(sent).toMatchObject({ as: "answer" });
      const goesOn = await at.turnOf(childId);
      expect(goesOn.assignment.decisions).toMatchObject([{ callId: "q1", answers: ["4747"] }]);
      expect(await at.wakes(parentId)).toEqual([]);
      await at.settle(busy, done("ok"));
      await at.settle(goesOn, done("on 4747"));
      expect(await heard(parentId)).toMatch(/1 event .*> on 4747/s);
    });

    it("says of a question that somebody else answered that it waits no more", async () => {
      const { parentId, childId, turn } = await at.createParentAndChild();
      const busy = await at.prompt(parentId);
      await at.ask(turn, "Which port?");
      await at.world.kernel.sessions.stop(owner, childId);
      await at.settle(busy, done("ok"));
      const content = await heard(parentId);
      expect(content).toMatch(/^\[orchestration\] 2 events/);
      expect(content).toContain("It no longer waits");
      expect(content).not.toContain("Answer it with a message");
    });

    it("wakes a sleeping parent with one prompt, all threads at once", async () => {
      const parentId = await at.parent();
      const [a, b] = [await at.spawn(parentId, { thread: "a" }), await at.spawn(parentId)];
      const [turnA, turnB] = [await at.turnOf(a), await at.turnOf(b)];
      await wait(parentId, { thread: "a", children: [b] });
      await at.settle(turnA, done("held back"));
      await at.world.kernel.sessions.hibernate(owner, parentId);
      await at.settle(turnB, done("of b"));
      expect(await at.wakes(parentId)).toHaveLength(1);
      expect(await heard(parentId)).toContain("> of b");
      await at.world.kernel.sessions.hibernate(owner, parentId);
      await at.settle(await at.prompt(parentId, "hi", "a"), done("hi"));
      expect(await heard(parentId)).toContain("> held back");
    });

    it("keeps 200 events, drops delivered ones first, and folds the rest of the fullest thread", async () => {
      const parentId = await at.parent();
      const deliveredId = await at.spawn(parentId, { title: "told", thread: "other" });
      await at.settle(await at.turnOf(deliveredId), done("told"));
      await heard(parentId);
      const rare = await at.spawn(parentId, { title: "rare", thread: "other" });
      const rareTurn = await at.turnOf(rare);
      const busy = await at.prompt(parentId);
      const busyToo = await at.prompt(parentId, "busy", "other");
      await at.settle(rareTurn, done("rare"));
      const childId = await at.spawn(parentId, { title: "chatty" });
      for (let turn = await at.turnOf(childId), index = 0; index < 250; index += 1) {
        await at.settle(turn, done(`said ${index}`));
        turn = index < 249 ? await at.prompt(childId, "more") : turn;
      }
      const inbox = await at.inbox(parentId);
      expect(inbox).toHaveLength(INBOX_KEPT);
      expect(inbox.filter(({ delivered }) => delivered)).toEqual([]);
      expect(inbox.filter(({ workerId }) => workerId === rare)).toMatchObject([
        { payload: { text: "rare" } },
      ]);
      const folded = inbox.filter(({ payload }) => payload.count !== undefined);
      expect(folded).toMatchObject([
        { payload: { count: 52, workers: [{ workerId: childId, count: 52 }] } },
      ]);
      expect(await at.wakes(parentId)).toHaveLength(2 + 1);
      await at.settle(busy, done("ok"));
      const content = await heard(parentId);
      expect(content).toMatch(/52 earlier events.*worker\.ended × 52: "chatty".*> said 249/s);
      await at.settle(busyToo, done("ok"));
      expect(await heard(parentId)).toContain("> rare");
    }, 60_000);
  });
}

suite("waiting on sqlite", async () => undefined);
describe.skipIf(!postgresUrl)("with a server", () => {
  suite("waiting on postgres", () => createTestDatabase());
});
