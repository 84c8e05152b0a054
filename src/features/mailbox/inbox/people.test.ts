/** People who write to each other, their contacts, and the messages of a removed person. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { User } from "#features/testing/index.ts";
import { NASTY_STRINGS } from "#test/nasty-strings.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import type { MailMessage } from "../contract.ts";
import { REMOVED_CONTENT } from "../keeping/purge.ts";
import { FakeOffice, idOf } from "../sending/fake-office.ts";

/** Number of texts used where each one takes time. */
const SOME = 40;

function suite(title: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(title, () => {
    let office: FakeOffice;
    let made: TestDatabase | undefined;
    beforeAll(async () => {
      made = await database();
      office = await FakeOffice.open({ url: made?.url });
    });
    afterAll(async () => {
      await office.world.stop();
      await made?.drop();
    });

    const reply = (who: User, id: string, content: string) =>
      office.world.call<{ message: MailMessage }>(who, "POST", `/api/me/inbox/${id}/reply`, {
        content,
      });
    const thread = async (who: User, id: string, cursor = ""): Promise<MailMessage[]> => {
      const path = `/api/me/inbox/threads/${id}${cursor}`;
      const page = await office.world.call<{ items: MailMessage[]; next: string | null }>(
        who,
        "GET",
        path,
      );
      if (page.next === null) return page.items;
      return [...page.items, ...(await thread(who, id, `?cursor=${page.next}`))];
    };
    const count = async (who: User) =>
      (await office.world.call<{ count: number }>(who, "GET", "/api/me/inbox/count")).count;
    const contacts = (who: User, userIds: string[]) =>
      office.world.call(who, "PUT", "/api/me/mail-contacts", { userIds });

    it("lets two people write to and fro, every text as it was", async () => {
      const [ann, ben] = [await office.person("Ann"), await office.person("Ben")];
      // An empty message is refused.
      const all = NASTY_STRINGS.filter((text) => text.trim() !== "");
      const said = made ? all.slice(0, SOME) : all;
      let last = await office.send(ann, { to: ben.userId, content: said[0] });
      const first = last;
      for (const [at, content] of said.slice(1).entries())
        last = (await reply(at % 2 === 0 ? ben : ann, last.id, content)).message;
      const seen = await thread(ann, first.id);
      expect(seen.map(({ content }) => content)).toEqual(said);
      expect(new Set(seen.map(({ threadId }) => threadId))).toEqual(new Set([first.id]));
      // A reply marks the message as read, so at most the last one is unread.
      expect((await count(ann)) + (await count(ben))).toBeLessThanOrEqual(1);
    });

    it("sends an answer to the agent that wrote, and to nobody for who did not get it", async () => {
      const [ann, ben] = [await office.person("Ann A"), await office.person("Ben B")];
      const turn = await office.turn(ann, idOf(ann));
      await turn.tool("mailbox_send", { to: ann.userId, content: "Which server?" });
      const [asked] = await office.inbox(ann);
      await expect(reply(ben, asked?.id ?? "", "mine")).rejects.toMatchObject({
        kind: "not_found",
      });
      const { message } = await reply(ann, asked?.id ?? "", "staging");
      expect(message).toMatchObject({ to: { kind: "session", id: idOf(ann) } });
      expect(await count(ann)).toBe(0);
      await turn.end("I asked.");
      const next = await office.at.turnOf(idOf(ann));
      expect(next.assignment.content).toContain("staging");
      await next.end("done");
    });

    it("keeps a list of whose agents may write, of members alone", async () => {
      const [ann, ben] = [await office.person("Ann C"), await office.person("Ben C")];
      const other = await office.stranger("Zed", "org_2");
      expect(await contacts(ann, [ben.userId, ben.userId, ann.userId])).toEqual({
        items: [{ userId: ben.userId, name: "Ben C" }],
      });
      for (const id of [other.userId, "usr_nobody"])
        await expect(contacts(ann, [id])).rejects.toMatchObject({ code: "contact_unknown" });
      const mine = await office.world.call(ann, "GET", "/api/me/mail-contacts");
      expect(mine).toEqual({ items: [{ userId: ben.userId, name: "Ben C" }] });
      expect(await office.world.call(ben, "GET", "/api/me/mail-contacts")).toEqual({ items: [] });
      expect(await contacts(ann, [])).toEqual({ items: [] });
    });

    it("takes the words of one who was purged, and what was theirs", async () => {
      const [ann, ben] = [await office.person("Ann P"), await office.person("Ben P")];
      await contacts(ben, [ann.userId]);
      await contacts(ann, [ben.userId]);
      const toBen = await office.send(ann, {
        to: ben.userId,
        content: "secret of Ann",
        contextSessionId: "what Ann says it is about",
        contextTaskId: "what Ann says it is about",
        contextRef: "what Ann says it is about",
      });
      const toAnn = (await reply(ben, toBen.id, "to Ann")).message;
      const turn = await office.turn(ann, idOf(ann));
      await turn.tool("mailbox_send", { to: ben.userId, content: "secret of Ann's agent" });
      await turn.end("sent");
      await office.world.call(ann, "PUT", "/api/me/notification-preferences", {
        messageType: "message",
        deliverEmail: true,
      });
      await office.execute(`update users set removed_at = 1 where id = '${ann.userId}'`);
      const person = { orgId: ann.orgId, userId: ann.userId };
      await office.world.kernel.sessions.terminate(ann, idOf(ann)).catch(() => {});
      while (!(await office.world.kernel.purgePerson(person)));
      const kept = await office.inbox(ben);
      expect(kept.map(({ content }) => content)).toEqual([REMOVED_CONTENT, REMOVED_CONTENT]);
      expect(JSON.stringify(kept)).not.toContain("Ann");
      expect(await count(ben)).toBe(1);
      await expect(office.message(toAnn.id)).rejects.toThrow();
      const items = async (path: string) =>
        (await office.world.call<{ items: unknown[] }>(ben, "GET", path)).items;
      expect(await items("/api/me/mail-contacts")).toEqual([]);
      for (const table of ["inboxes", "notification_preferences", "mail_contacts"]) {
        const rows = await office.world.kernel.engine.store.read((reader) =>
          reader.query<{ n: number }>({
            sql: `select count(*) as n from ${table} where user_id = '${ann.userId}'`,
            parameters: [],
          }),
        );
        expect(Number(rows[0]?.n)).toBe(0);
      }
    });
  });
}

suite("people on sqlite", async () => undefined);
describe.skipIf(!postgresUrl)("with a server", () => {
  suite("people on postgres", () => createTestDatabase());
});
