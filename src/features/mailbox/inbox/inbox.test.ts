/** Inboxes on the real kernel, by their routes, on both databases. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { command, type Feature } from "#engine/index.ts";
import { deliverDue } from "#engine/outbox/index.ts";
import { runDueTimers } from "#engine/timers/index.ts";
import { createDelegation } from "#features/delegation/index.ts";
import { createOrchestrators } from "#features/orchestrators/index.ts";
import {
  member,
  owner,
  startWorld,
  stranger,
  type User,
  type World,
} from "#features/testing/index.ts";
import { NASTY_STRINGS, UNSTORABLE } from "#test/nasty-strings.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import type { MailMessage, NotificationPreference } from "../contract.ts";
import { createMailbox } from "../index.ts";
import type { MessageRow } from "../schema.ts";
import type { MessageDraft } from "../sending/draft.ts";
import { writeMessage } from "../sending/write-message.ts";
import { SNOOZE_TIMER } from "./change-message.ts";
import { endSnooze } from "./snooze.ts";

interface Page {
  items: MailMessage[];
  next: string | null;
}

const HOUR_MS = 60 * 60_000;
const delivered: unknown[] = [];
/** Delivers the `slack` channel in this test. */
const courier: Feature = {
  name: "courier",
  deliverers: {
    async "message.slack"(payload) {
      delivered.push(payload);
    },
  },
};

let people = 0;
/** A new person with an empty inbox. */
function somebody(): User {
  people += 1;
  return { ...member, userId: `usr_inbox${people}`, name: `somebody ${people}` };
}

function suite(title: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(title, () => {
    let world: World;
    let made: TestDatabase | undefined;
    beforeAll(async () => {
      made = await database();
      const features = [createDelegation(), createOrchestrators(), createMailbox(), courier];
      world = await startWorld(features, made?.url);
    });
    afterAll(async () => {
      await world.stop();
      await made?.drop();
    });

    const write = (to: User, more: Partial<MessageDraft> = {}): Promise<MessageRow> =>
      command(world.kernel.engine, (work) =>
        writeMessage(work, {
          orgId: to.orgId,
          from: { kind: "user", id: owner.userId, ownerId: owner.userId, name: "owner" },
          to: { kind: "user", id: to.userId, ownerId: to.userId, name: to.name },
          type: "message",
          content: "hello",
          ...more,
        }),
      );
    const list = (who: User, query = "") =>
      world.call<Page>(who, "GET", `/api/me/inbox${query === "" ? "" : `?${query}`}`);
    const ids = async (who: User, query = "") => (await list(who, query)).items.map(({ id }) => id);
    /** All pages of a folder. */
    const walk = async (who: User, query: string): Promise<MailMessage[]> => {
      const page = await list(who, query);
      if (page.next === null) return page.items;
      const [start] = query.split("&cursor=");
      return [...page.items, ...(await walk(who, `${start}&cursor=${page.next}`))];
    };
    const deliver = () => deliverDue(world.kernel.engine, courier.deliverers ?? {}, now() + 1_000);
    const count = async (who: User) =>
      (await world.call<{ count: number }>(who, "GET", "/api/me/inbox/count")).count;
    const change = async (who: User, id: string, body: object) =>
      (await world.call<{ message: MailMessage }>(who, "PATCH", `/api/me/inbox/${id}`, body))
        .message;
    const thread = (who: User, id: string, query = "") =>
      world.call<Page>(who, "GET", `/api/me/inbox/threads/${id}${query}`);
    const now = () => world.kernel.engine.clock.now();
    const in1h = () => new Date(now() + HOUR_MS).toISOString();

    it("counts what comes, and what is read, put away or put off no longer", async () => {
      const who = somebody();
      expect(await count(who)).toBe(0);
      const messages = [await write(who), await write(who), await write(who), await write(who)];
      const [a, b, c, d] = messages.map(({ id }) => id) as [string, string, string, string];
      expect(await count(who)).toBe(4);
      expect(await change(who, a, { read: true })).toMatchObject({ read: true });
      expect(await change(who, a, { read: true })).toMatchObject({ read: true });
      expect(await count(who)).toBe(3);
      expect(await change(who, b, { archived: true })).toMatchObject({ read: true });
      await change(who, c, { snoozedUntil: in1h() });
      expect(await count(who)).toBe(1);
      expect((await ids(who)).sort()).toEqual([a, d].sort());
      expect(await ids(who, "unreadOnly=true")).toEqual([d]);
      expect(await ids(who, "box=archived")).toEqual([b]);
      expect(await ids(who, "box=snoozed")).toEqual([c]);
      expect((await ids(who, "box=all")).sort()).toEqual([a, b, c, d].sort());
      await change(who, a, { read: false });
      await change(who, b, { archived: false });
      await change(who, b, { read: false });
      expect(await change(who, c, { snoozedUntil: null })).toMatchObject({
        read: false,
        snoozedUntil: null,
      });
      expect(await count(who)).toBe(4);
    });

    it("reads in one go what asks for nothing, and all, by both names", async () => {
      const who = somebody();
      for (const type of ["message", "notification", "question", "escalation"] as const)
        await write(who, { type });
      const put = (path: string) => world.call(who, "PUT", `/api/me/${path}`);
      expect(await put("notifications/read-non-actionable")).toEqual({ changed: 2 });
      expect(await count(who)).toBe(2);
      const left = (await list(who, "unreadOnly=true")).items.map((item) => item.messageType);
      expect(left.sort()).toEqual(["escalation", "question"]);
      expect(await put("inbox/read-all")).toEqual({ changed: 2 });
      expect(await put("inbox/read-all")).toEqual({ changed: 0 });
      expect(await count(who)).toBe(0);
      const { id } = await write(who);
      await put(`notifications/${id}/read`);
      expect(await world.call(who, "GET", "/api/me/notifications/count")).toEqual({ count: 0 });
    });

    it("brings back what was put off: unread, on top, and told again", async () => {
      const who = somebody();
      const early = await write(who, { type: "question" });
      await write(who);
      await change(who, early.id, { read: true, snoozedUntil: in1h() });
      expect(await count(who)).toBe(1);
      const before = delivered.length;
      if (!made) world.clock.advance(2 * HOUR_MS);
      const due = () =>
        runDueTimers(world.kernel.engine, { [SNOOZE_TIMER]: endSnooze }, now() + 2 * HOUR_MS);
      expect(await due()).toBe(1);
      expect(await due()).toBe(0);
      expect(await count(who)).toBe(2);
      expect((await list(who)).items[0]).toMatchObject({ id: early.id, read: false });
      await deliver();
      expect(delivered.slice(before)).toContainEqual({ messageId: early.id, userId: who.userId });
    });

    it("refuses to put off into the past, and to put off and away at once", async () => {
      const who = somebody();
      const { id } = await write(who);
      const past = new Date(now() - HOUR_MS).toISOString();
      await expect(change(who, id, { snoozedUntil: past })).rejects.toMatchObject({
        code: "snooze_out_of_range",
      });
      await expect(change(who, id, { snoozedUntil: in1h(), archived: true })).rejects.toMatchObject(
        { code: "archived_or_snoozed" },
      );
      expect(await count(who)).toBe(1);
    });

    it("filters by type, sender and context, and pages without a gap", async () => {
      const who = somebody();
      const from = (id: string) => ({ kind: "session" as const, id, ownerId: "usr_1", name: id });
      const wanted: string[] = [];
      for (let at = 0; at < 5; at++) {
        const about = { contextSessionId: "ses_about", contextTaskId: "tsk_about" };
        const row = await write(who, { from: from("ses_a"), type: "question", ...about });
        wanted.unshift(row.id);
        await write(who, { from: from("ses_b") });
        if (!made) world.clock.advance(1);
      }
      for (const query of [
        "fromSessionId=ses_a",
        "messageType=question",
        "contextSessionId=ses_about",
        "contextTaskId=tsk_about",
      ])
        for (const box of ["inbox", "all"])
          expect((await ids(who, `${query}&box=${box}`)).sort()).toEqual([...wanted].sort());
      expect(await ids(who, `fromUserId=${owner.userId}`)).toEqual([]);
      const walked = (await walk(who, "limit=3")).map(({ id }) => id);
      expect(walked).toEqual(await ids(who));
      expect(new Set(walked).size).toBe(10);
      const { next } = await list(who, "limit=3");
      await expect(list(who, `box=all&cursor=${next}`)).rejects.toMatchObject({
        code: "cursor_invalid",
      });
    });

    it("shows an exchange to who is part of it, and reads what in it is to them", async () => {
      const [who, other, third] = [somebody(), somebody(), somebody()];
      const side = (user: User) => ({
        kind: "user" as const,
        id: user.userId,
        ownerId: user.userId,
        name: user.name,
      });
      const first = await write(other, { from: side(who), content: "shall we?" });
      const second = await write(who, { from: side(other), replyTo: first, content: "yes" });
      await write(third, { from: side(other), replyTo: first, content: "he said yes" });
      expect(second.thread_id).toBe(first.id);
      const seen = await thread(who, first.id);
      expect(seen.items.map(({ content }) => content)).toEqual(["shall we?", "yes"]);
      expect(seen.items.map(({ read }) => read)).toEqual([false, true]);
      expect([await count(who), await count(other), await count(third)]).toEqual([0, 1, 1]);
      const paged = await thread(other, first.id, "?limit=2");
      expect(paged.items).toHaveLength(2);
      const rest = await thread(other, first.id, `?limit=2&cursor=${paged.next}`);
      expect(rest.items.map(({ content }) => content)).toEqual(["he said yes"]);
      expect(await count(other)).toBe(0);
      await expect(thread(somebody(), first.id)).rejects.toMatchObject({ code: "not_found" });
      await expect(thread(stranger, first.id)).rejects.toMatchObject({ code: "not_found" });
    });

    it("keeps from the sender what became of a message in another's inbox", async () => {
      const [who, other] = [somebody(), somebody()];
      const from = { kind: "user" as const, id: who.userId, ownerId: who.userId, name: "w" };
      const { id } = await write(other, { from });
      await change(other, id, { archived: true });
      const [sent] = (await list(who, "box=sent")).items;
      expect(sent).toMatchObject({ id, read: false, readAt: null, archivedAt: null });
      expect(await ids(who, "box=sent&unreadOnly=true")).toEqual([]);
      await expect(change(who, id, { read: true })).rejects.toMatchObject({ code: "not_found" });
      const { message } = await world.call<{ message: MailMessage }>(
        who,
        "GET",
        `/api/me/inbox/${id}`,
      );
      expect(message.readAt).toBeNull();
    });

    it("is nobody else's: as if it were not there", async () => {
      const who = somebody();
      const { id, thread_id } = await write(who);
      for (const other of [somebody(), stranger, { ...who, orgId: "org_2" }]) {
        expect(await ids(other)).toEqual([]);
        expect(await ids(other, "box=all")).toEqual([]);
        for (const act of [
          () => world.call(other, "GET", `/api/me/inbox/${id}`),
          () => world.call(other, "PUT", `/api/me/inbox/${id}/read`),
          () => change(other, id, { archived: true }),
          () => thread(other, thread_id),
        ])
          await expect(act()).rejects.toMatchObject({ code: "not_found" });
      }
      const narrow = { ...who, scopes: ["tasks", "memory", "sessions:read"] };
      await expect(list(narrow)).rejects.toMatchObject({ code: "forbidden" });
      expect(await ids({ ...who, scopes: ["mail"] })).toEqual([id]);
      expect(await count(who)).toBe(1);
    });

    it("writes one message for one cause", async () => {
      const who = somebody();
      const causeKey = `test:${who.userId}`;
      const both = await Promise.all([write(who, { causeKey }), write(who, { causeKey })]);
      const again = await write(who, { causeKey });
      expect(await ids(who)).toEqual([again.id]);
      for (const { id } of both) expect(id).toBe(again.id);
      expect(await count(who)).toBe(1);
    });

    it("leaves every text as it was", async () => {
      const who = somebody();
      const rows = [];
      for (const content of NASTY_STRINGS) rows.push(await write(who, { content }));
      const pages = await walk(who, "limit=200&box=all");
      const found = new Map(pages.map(({ id, content }) => [id, content]));
      expect(rows.map(({ id }) => found.get(id))).toEqual([...NASTY_STRINGS]);
      const one = rows[7] as MessageRow;
      const exchange = await thread(who, one.thread_id);
      expect(exchange.items[0]?.content).toBe(NASTY_STRINGS[7]);
      for (const content of UNSTORABLE) {
        const { id } = await write(who, { content });
        const { message } = await world.call<{ message: MailMessage }>(
          who,
          "GET",
          `/api/me/inbox/${id}`,
        );
        expect(message.content.isWellFormed()).toBe(true);
        expect(message.content).not.toContain("\u0000");
      }
    });

    it("delivers elsewhere what a person wants there and what can be brought there", async () => {
      const who = somebody();
      const tick = async () => {
        await deliver();
        return delivered.splice(0).map((payload) => (payload as { messageId: string }).messageId);
      };
      await tick();
      const path = "/api/me/notification-preferences";
      type Shown = { items: NotificationPreference[]; channels: string[] };
      const defaults = await world.call<Shown>(who, "GET", path);
      expect(defaults.channels).toEqual(["slack"]);
      expect(defaults.items.map((item) => [item.messageType, item.deliverSlack])).toEqual([
        ["message", false],
        ["notification", true],
        ["question", true],
        ["escalation", true],
        ["approval", true],
      ]);
      expect(defaults.items.every(({ isDefault, deliverWeb }) => isDefault && deliverWeb)).toBe(
        true,
      );
      await write(who, { type: "message" });
      const posted = await write(who, { type: "notification" });
      expect(await tick()).toEqual([posted.id]);

      await world.call(who, "PUT", path, { messageType: "message", deliverSlack: true });
      const off = { messageType: "notification", deliverSlack: false };
      await world.call(who, "PUT", path, { ...off, eventType: "session.completed" });
      const plain = await write(who, { type: "message" });
      await write(who, { type: "notification", event: "session.completed" });
      const other = await write(who, { type: "notification", event: "mail.loop_cut" });
      expect((await tick()).sort()).toEqual([plain.id, other.id].sort());
      const { items } = await world.call<Shown>(who, "GET", path);
      expect(items).toHaveLength(6);
      expect(items.find(({ eventType }) => eventType !== null)).toMatchObject({
        messageType: "notification",
        deliverSlack: false,
        deliverEmail: false,
        isDefault: false,
      });
      await expect(
        world.call(who, "PUT", path, { messageType: "message", deliverWeb: false }),
      ).rejects.toMatchObject({ code: "web_always" });
    });

    it("hints to whom it is for, and to nobody else", async () => {
      const [who, other] = [somebody(), somebody()];
      const heard: string[] = [];
      const { announcer } = world.kernel.engine;
      const leave = [who, other].map(({ userId }) =>
        announcer.onHint(`user:${userId}`, ({ type, id }) => heard.push(`${userId}:${type}:${id}`)),
      );
      const { id } = await write(who);
      await expect.poll(() => heard).toEqual([`${who.userId}:message:${id}`]);
      for (const stop of leave) stop();
    });
  });
}

suite("an inbox on sqlite", async () => undefined);
describe.skipIf(!postgresUrl)("with a server", () => {
  suite("an inbox on postgres", () => createTestDatabase());
});
