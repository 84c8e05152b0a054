/** A guest's request that the owner lets through runs as an ordinary turn. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Principal } from "#engine/index.ts";
import type { Prompt } from "#protocol/sessions.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import type { MailMessage } from "../contract.ts";
import { FakeOffice, idOf } from "./fake-office.ts";

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
    const letThrough = async (who: Principal, id: string) =>
      (await office.world.call<{ prompt: Prompt }>(who, "POST", `/api/messages/${id}/let-through`))
        .prompt;

    it("is the owner's prompt, shows From and To, and may do what an ordinary turn may", async () => {
      const [ann, bob] = [await office.person("Ann"), await office.person("Bob")];
      await office.accept(ann, "org");
      const [hers, his] = [await office.handle(ann), await office.handle(bob)];
      const bobs = await office.turn(bob, idOf(bob));
      const sent = await bobs.tool("mailbox_send", { to: `@${hers}`, content: "Run the tests." });
      const { messageId } = sent.output as { messageId: string };
      const guest = await office.at.turnOf(idOf(ann));
      expect((await guest.tool("spawn_session", { prompt: "x" })).error).toContain("guest_turn");
      await guest.end("asked my person");

      for (const who of [
        bob,
        await office.person("Cyd"),
        { ...ann, scopes: ["mail"] },
        { ...ann, scopes: ["sessions:write"] },
      ])
        await expect(letThrough(who, messageId)).rejects.toMatchObject({
          code: expect.stringMatching(/^(?:not_found|forbidden)$/),
        });
      const agent = { kind: "session", sessionId: idOf(ann), orgId: ann.orgId } as const;
      await expect(
        letThrough({ ...agent, ownerId: ann.userId, name: "a" }, messageId),
      ).rejects.toMatchObject({ code: expect.stringMatching(/forbidden|people_only/) });

      const shown = async (who: Principal) =>
        (
          await office.world.call<{ items: MailMessage[] }>(
            who,
            "GET",
            `/api/me/inbox/threads/${messageId}`,
          )
        ).items.find(({ id }) => id === messageId);
      expect(await shown(ann)).toMatchObject({ mayLetThrough: true, letThroughAt: null });
      const prompt = await letThrough(ann, messageId);
      const first = await shown(ann);
      expect(first).toMatchObject({
        mayLetThrough: false,
        letThroughAt: expect.stringMatching(/Z$/),
      });
      office.world.clock.advance(60_000);
      // Bob does not see what his message led to.
      expect(await shown(bob)).toMatchObject({ mayLetThrough: false, letThroughAt: null });
      expect(await letThrough(ann, messageId)).toMatchObject({ id: prompt.id });
      expect(await shown(ann)).toMatchObject({ letThroughAt: first?.letThroughAt });
      const turn = await office.at.turnOf(idOf(ann));
      expect(turn.assignment).toMatchObject({
        thread: "main",
        author: { kind: "user", id: ann.userId },
      });
      expect(turn.assignment.content).toContain(`From: @${his} (`);
      expect(turn.assignment.content).toContain(`To: @${hers} (`);
      expect(turn.assignment.content).toContain("> Run the tests.");
      const tried = await turn.tool("list_sessions", {});
      expect(tried.error).toBeNull();
      expect((await turn.tool("memory_read", { query: "x" })).error ?? "").not.toContain(
        "guest_turn",
      );
      await turn.end("done");
    });

    it("is for requests from outside alone", async () => {
      const ann = await office.person("Ann");
      const own = await office.send(ann, { to: "orchestrator", content: "mine" });
      await expect(letThrough(ann, own.id)).rejects.toMatchObject({ code: "not_a_guest_request" });
      expect(own.mayLetThrough).toBe(false);
      const note = await office.send(ann, { to: ann.userId, content: "a note" });
      await expect(letThrough(ann, note.id)).rejects.toMatchObject({ code: "not_a_guest_request" });
      await expect(letThrough(ann, "msg_none")).rejects.toMatchObject({ code: "not_found" });
    });
  });
}

suite("on SQLite", async () => undefined);
describe.skipIf(!postgresUrl)("with a server", () => {
  suite("on PostgreSQL", createTestDatabase);
});
