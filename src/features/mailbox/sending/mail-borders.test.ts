/**
 * Limits of messages: where they must stop, and whom they must not block; on the real kernel and
 * both databases.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Turn, User } from "#features/testing/index.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import { FakeOffice, idOf } from "./fake-office.ts";

const codeOf = (error: string | null) => error?.split(":")[0] ?? null;
const send = async (turn: Turn, input: object): Promise<string> => {
  const { output, error } = await turn.tool("mailbox_send", input);
  expect(error).toBeNull();
  return (output as { messageId: string }).messageId;
};
const tried = async (turn: Turn, input: object) =>
  codeOf((await turn.tool("mailbox_send", input)).error);
const FAILURE = { code: "model_unavailable", message: "The model did not answer." };

function suite(title: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(title, () => {
    let office: FakeOffice;
    let made: TestDatabase | undefined;
    beforeAll(async () => {
      made = await database();
      office = await FakeOffice.open({
        url: made?.url,
        limits: { unattendedTurns: 4, childrenPerOrchestrator: 2 },
      });
    });
    afterAll(async () => {
      await office.world.stop();
      await made?.drop();
    });

    /** Two people whose orchestrators accept everybody's mail. */
    async function two(): Promise<{ ann: User; bob: User; her: string; his: string; to: string }> {
      const [ann, bob] = [await office.person("Ann"), await office.person("Bob")];
      await office.accept(ann, "org");
      await office.accept(bob, "org");
      return { ann, bob, her: idOf(ann), his: idOf(bob), to: `@${await office.handle(ann)}` };
    }

    it("takes nothing from the agents of somebody who has left", async () => {
      const { ann, bob, her, his, to } = await two();
      const [hers, bobs] = [await office.turn(ann, her), await office.turn(bob, his)];
      const asked = await send(hers, { to: his, content: "When?", messageType: "question" });
      const child = await office.at.spawn(his);
      await office.at.turnOf(child);
      await office.execute(`update users set removed_at = 5 where id = '${bob.userId}'`);
      for (const input of [
        { to, content: "x" },
        { to: her, content: "x" },
        { to: ann.userId, content: "x" },
        { replyToId: asked, content: "x" },
      ])
        expect([input, await tried(bobs, input)]).toEqual([input, "recipient_not_found"]);
      expect(await office.inbox(ann)).toEqual([]);
      // Their agents can still write to each other.
      expect(await tried(bobs, { to: child, content: "x" })).toBeNull();
    });

    it("marks what its person says in a guest's conversation as said there", async () => {
      const { ann, bob, her, his, to } = await two();
      await send(await office.turn(bob, his), { to, content: "hello" });
      const guest = await office.at.turnOf(her);
      const noteId = await send(guest, { to: ann.userId, content: "Bob wants something." });
      await guest.end("");
      await office.reply(ann, noteId, "Tell him about the launch.");
      const { assignment } = await office.at.turnOf(her);
      expect(assignment).toMatchObject({
        thread: `mail:${bob.userId}`,
        author: { kind: "user", id: ann.userId },
      });
      // A turn that starts this way gets no memories, which a guest could have repeated to them.
      expect(assignment.content).toMatch(/^\[mailbox, guest\] 1 message for you/);
      expect(assignment.content).toContain("your person's own words");
      expect(assignment.content).toContain("nothing else");
    });

    it("has an answer to news read where the news came from", async () => {
      const { ann, bob, her, his, to } = await two();
      await send(await office.turn(bob, his), { to, content: "hello" });
      await office.at.settle(await office.at.turnOf(her), { outcome: "failed", error: FAILURE });
      const mine = await office.turn(ann, her, "go", "main");
      const [first] = await office.inbox(ann);
      await office.world.call(ann, "PATCH", `/api/me/inbox/${first?.id}`, { read: false });
      await office.at.settle(mine, { outcome: "failed", error: FAILURE });
      const [failure, ...more] = (await office.inbox(ann)).filter(({ read }) => !read);
      expect([failure?.eventType, more]).toEqual(["session.failed", []]);
      const answer = await office.reply(ann, failure?.id ?? "", "Not for Bob: try again.");
      expect((await office.message(answer.id)).to_thread).toBe("main");
    });

    it("does not bring a question back that was answered while it was put off", async () => {
      const ann = await office.person("Ann");
      const turn = await office.turn(ann, idOf(ann));
      await office.at.ask(turn, "Which?");
      const [asked] = await office.inbox(ann);
      const { clock } = office.world.kernel.engine;
      const snoozedUntil = new Date(clock.now() + 60_000).toISOString();
      await office.world.call(ann, "PATCH", `/api/me/inbox/${asked?.id}`, { snoozedUntil });
      await office.reply(ann, asked?.id ?? "", "this");
      expect(await office.inbox(ann)).toMatchObject([
        { id: asked?.id, read: true, snoozedUntil: null },
      ]);
    });

    it("lets agents go on that were cut off, when one of their people asks for it", async () => {
      const { ann, bob, her, his, to } = await two();
      const first = await send(await office.turn(bob, his), { to, content: "0" });
      const guest = await office.at.turnOf(her);
      await office.execute(`update messages set hops = 8 where id = '${first}'`);
      expect(await tried(guest, { replyToId: first, content: "9" })).toBe("hop_limit");
      await guest.end("");
      const asked = await office.turn(ann, her, "answer Bob");
      const answer = await send(asked, { replyToId: first, content: "as Ann says" });
      expect(await office.message(answer)).toMatchObject({ hops: 1, thread_id: first });
      // An unrequested answer keeps the hops of the thread.
      expect((await office.message(first)).hops).toBe(8);
    });

    it("hands an agent that looks no more than it can read, and the rest when it asks", async () => {
      const ann = await office.person("Ann");
      const lead = idOf(ann);
      const [a, b] = [await office.at.spawn(lead), await office.at.spawn(lead)];
      const [turnA, turnB] = [await office.at.turnOf(a), await office.at.turnOf(b)];
      const content = `${"\n".repeat(31_900)}the end`;
      const ids = [];
      for (let n = 0; n < 20; n++) ids.push(await send(turnA, { to: b, content }));
      const { output } = await turnB.tool("mailbox_check", {});
      const { messages } = output as { messages: string[] };
      expect(messages).toHaveLength(20);
      expect(messages.join("").length).toBeLessThan(60_000);
      expect(messages[0]).toContain(`mailbox_check with messageId ${ids[0]}`);
      const one = await turnB.tool("mailbox_check", { messageId: ids[0] });
      expect((one.output as { message: string }).message).toMatch(/> the end$/);
    });

    it("tells a child nothing of who else has its person's name", async () => {
      const name = `Kim ${title}`;
      const [kim, other] = [await office.person(name), await office.person(name)];
      const child = await office.at.spawn(idOf(kim));
      const turn = await office.at.turnOf(child);
      const messageId = await send(turn, { to: `@user:${name}`, content: "x" });
      expect(await office.message(messageId)).toMatchObject({ to_user_id: kim.userId });
      const { error } = await (await office.turn(kim, idOf(kim))).tool("mailbox_send", {
        to: `@user:${name}`,
        content: "x",
      });
      expect(error).toMatch(/^recipient_ambiguous/);
      expect(error).toContain(other.userId);
    });

    it("lets people speak though a message of theirs waits for a child that has no place", async () => {
      const ann = await office.person("Ann");
      const lead = idOf(ann);
      const [a, b] = [await office.at.spawn(lead), await office.at.spawn(lead)];
      const [turnA, turnB] = [await office.at.turnOf(a), await office.at.turnOf(b)];
      await turnB.end("");
      await office.sleep(ann, b);
      const c = await office.at.spawn(lead);
      await office.at.turnOf(c);
      const waits = await office.send(ann, { to: b, content: "when you are awake" });
      expect(await office.message(waits.id)).toMatchObject({ fate: "waiting", prompt_id: null });
      // The sibling's message is not refused because of another sender's message.
      const asked = await send(turnA, { to: b, content: "urgent", messageType: "question" });
      expect(await office.lifecycle(b)).toBe("hibernated");
      // The owner is not refused either when held messages are released.
      await office.execute(
        `update messages set prompt_id = null, fate_reason = 'unattended_limit_reached' where id = '${asked}'`,
      );
      await office.say(ann, lead, "go on");
      expect(await office.message(asked)).toMatchObject({ fate: "waiting", fate_reason: null });
      expect(await office.message(waits.id)).toMatchObject({ fate: "waiting", prompt_id: null });
    });
  });
}

suite("borders of messages, on SQLite", async () => undefined);
describe.skipIf(!postgresUrl)("with a server", () => {
  suite("borders of messages, on PostgreSQL", createTestDatabase);
});
