/** Messages about sessions in the inbox of their owner; on the real kernel and both databases. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { command } from "#engine/index.ts";
import { purgeEnded } from "#engine/sessions/index.ts";
import { approvals } from "#features/approvals/index.ts";
import { createDelegation } from "#features/delegation/index.ts";
import { FakeSessionTree } from "#features/fake-session-tree/index.ts";
import { createOrchestrators } from "#features/orchestrators/index.ts";
import { owner, startWorld } from "#features/testing/index.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import type { MailMessage, NotificationPreference } from "../contract.ts";
import { createMailbox } from "../index.ts";
import { notifyCompleted } from "./session-messages.ts";

function suite(title: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(title, () => {
    let at: FakeSessionTree;
    let made: TestDatabase | undefined;
    beforeAll(async () => {
      made = await database();
      const features = [createDelegation(), createOrchestrators(), createMailbox(), approvals];
      at = new FakeSessionTree(await startWorld(features, made?.url));
    });
    afterEach(async () => {
      await at.end();
      await at.world.call(owner, "PUT", "/api/me/inbox/read-all");
    });
    afterAll(async () => {
      await at.world.stop();
      await made?.drop();
    });

    const about = async (sessionId: string, query = "unreadOnly=true") =>
      (
        await at.world.call<{ items: MailMessage[] }>(
          owner,
          "GET",
          `/api/me/inbox?contextSessionId=${sessionId}&${query}`,
        )
      ).items;
    const count = async () =>
      (await at.world.call<{ count: number }>(owner, "GET", "/api/me/inbox/count")).count;
    const alone = (title: string) => at.world.createSession({ title });
    const end = async (sessionId: string, content: string, result: string) => {
      const turn = await at.prompt(sessionId, content);
      await at.settle(turn, { outcome: "completed", result });
    };

    it("tells that a session by itself is done in one message, which asks for nothing", async () => {
      const id = await alone("Count files");
      const before = await count();
      await end(id, "count", "There are 7.");
      expect(await count()).toBe(before);
      expect(await about(id)).toEqual([]);
      const [first, ...none] = await about(id, "box=inbox");
      expect(none).toEqual([]);
      expect(first).toMatchObject({
        messageType: "notification",
        eventType: "session.completed",
        from: { kind: "session", id, name: "Count files" },
        to: { kind: "user", id: owner.userId },
        contextSessionId: id,
        content: "Count files is done.\n\nThere are 7.",
        read: true,
      });
      await end(id, "again", "x".repeat(5_000));
      const [second, ...more] = await about(id, "box=all");
      expect(more).toEqual([]);
      expect(second?.id).toBe(first?.id);
      expect(second?.content.length).toBeLessThan(700);
      // An archived message stays unchanged.
      await at.world.call(owner, "PATCH", `/api/me/inbox/${first?.id}`, { archived: true });
      await end(id, "once more", "There are 8.");
      expect(await about(id, "box=all")).toHaveLength(2);
      expect(await count()).toBe(before);
    });

    it("leaves nothing unread when an afternoon of sessions is done", async () => {
      const before = await count();
      for (let n = 0; n < 20; n++) await end(await alone(`Errand ${n}`), "go", "Done.");
      expect(await count()).toBe(before);
    });

    it("collects what is done in one unread digest for whoever switched it on", async () => {
      const settle = (digest: boolean) =>
        at.world.call<{ items: NotificationPreference[] }>(
          owner,
          "PUT",
          "/api/me/notification-preferences",
          { messageType: "notification", eventType: "session.completed", digest },
        );
      const digests = async (query = "unreadOnly=true") =>
        (
          await at.world.call<{ items: MailMessage[] }>(
            owner,
            "GET",
            `/api/me/inbox?messageType=notification&${query}`,
          )
        ).items.filter(({ eventType }) => eventType === "session.digest");
      const { items } = await settle(true);
      expect(items.find(({ eventType }) => eventType === "session.completed")?.digest).toBe(true);
      const before = await count();
      at.world.clock.advance(1_000);
      await end(await alone("Count files"), "go", "7");
      at.world.clock.advance(1_000);
      await end(await alone("Write\nthe report"), "go", "Here.");
      const [digest, ...none] = await digests();
      expect(none).toEqual([]);
      expect(digest?.content).toBe("2 sessions completed:\n\n- Write the report\n- Count files");
      expect(await count()).toBe(before + 1);
      await at.world.call(owner, "PUT", `/api/me/inbox/${digest?.id}/read`);
      at.world.clock.advance(1_000);
      await end(await alone("Tidy up"), "go", "Tidy.");
      const [next] = await digests();
      expect(next?.id).not.toBe(digest?.id);
      expect(next?.content).toBe("1 session completed:\n\n- Tidy up");
      await settle(false);
      await at.world.call(owner, "PUT", "/api/me/inbox/read-all");
      await end(await alone("Quiet again"), "go", "Yes.");
      expect(await digests()).toEqual([]);
      expect(await digests("box=all")).toHaveLength(2);
    });

    it("offers a digest of nothing else", async () => {
      const change = { messageType: "escalation", eventType: "session.failed", digest: true };
      await expect(
        at.world.call(owner, "PUT", "/api/me/notification-preferences", change),
      ).rejects.toMatchObject({ code: "digest_not_offered" });
    });

    it("tells of a failure until it is made good, with the prompt that can be sent again", async () => {
      const id = await alone("Build");
      const before = await count();
      const turn = await at.prompt(id, "one");
      await at.sendPrompt(id, "two");
      await at.settle(turn, { outcome: "completed", result: "first" });
      // The session still has work to do.
      expect(await about(id)).toEqual([]);
      const error = { code: "model_unavailable", message: "The model did not answer." };
      const second = await at.turnOf(id);
      await at.settle(second, { outcome: "failed", error });
      const [failed] = await about(id);
      expect(failed).toMatchObject({
        messageType: "escalation",
        eventType: "session.failed",
        contextRef: `prompt:${second.assignment.promptId}`,
      });
      expect(failed?.content).toContain("The model did not answer.");
      expect(await count()).toBe(before + 1);
      await at.act(id, async (work, session) => {
        notifyCompleted(work, { ...session.row, owner_id: owner.userId }, "it went well", "main");
      });
      expect(await about(id)).toEqual([]);
      const [last, ...none] = await about(id, "box=inbox");
      expect(none).toEqual([]);
      expect(last).toMatchObject({
        id: failed?.id,
        eventType: "session.completed",
        contextRef: null,
        read: true,
      });
      expect(await count()).toBe(before);
    });

    it("asks nothing more about a failure whose session went on or was put away", async () => {
      const error = { code: "model_unavailable", message: "The model did not answer." };
      const { childId, turn } = await at.createParentAndChild();
      await at.settle(turn, { outcome: "failed", error });
      expect(await about(childId)).toHaveLength(1);
      // The parent prompts the child, and the turn succeeds.
      const again = await at.prompt(childId, "again");
      await at.settle(again, { outcome: "completed", result: "fine" });
      expect(await about(childId)).toEqual([]);
      const id = await alone("Given up");
      await at.settle(await at.prompt(id, "go"), { outcome: "failed", error });
      expect(await about(id)).toHaveLength(1);
      await at.world.kernel.sessions.archive(owner, id, false);
      expect(await about(id)).toEqual([]);
    });

    it("tells of a question and of its end", async () => {
      const id = await alone("Deploy");
      const turn = await at.prompt(id, "deploy");
      await at.ask(turn, "To which server?");
      const [asked] = await about(id);
      expect(asked).toMatchObject({ messageType: "question", eventType: "session.question" });
      expect(asked?.content).toContain("To which server?");
      const gateId = asked?.contextRef?.replace("approval:", "") ?? "";
      await at.world.call(owner, "POST", `/api/approvals/${gateId}`, { answers: ["prod"] });
      expect(await about(id)).toEqual([]);
      const [read] = await about(id, "box=inbox");
      expect(asked?.decision).toBeNull();
      expect(read).toMatchObject({ id: asked?.id, read: true, decision: "answered" });
    });

    it("leaves a child's completion to its parent, and the digest too", async () => {
      const digest = { messageType: "notification", eventType: "session.completed" };
      const settle = (isOn: boolean) =>
        at.world.call(owner, "PUT", "/api/me/notification-preferences", {
          ...digest,
          digest: isOn,
        });
      await settle(true);
      const { parentId, childId, turn } = await at.createParentAndChild();
      const before = await count();
      await at.settle(turn, { outcome: "completed", result: "half of it" });
      const more = await at.prompt(childId, "the rest");
      await more.tool("complete_session", { summary: "All 7 files are counted." });
      await at.settle(more, { outcome: "completed", result: "" });
      await settle(false);
      expect(await about(childId, "box=all")).toEqual([]);
      expect(await count()).toBe(before);
      expect(JSON.stringify(await at.inbox(parentId))).toContain("All 7 files are counted.");
    });

    it("keeps what a child asks and why it failed unread, and reads it when the child is done", async () => {
      const { childId, turn } = await at.createParentAndChild();
      const error = { code: "model_unavailable", message: "The model did not answer." };
      await at.settle(turn, { outcome: "failed", error });
      expect((await about(childId)).map(({ eventType }) => eventType)).toEqual(["session.failed"]);
      const more = await at.prompt(childId, "again");
      await more.tool("complete_session", { summary: "Counted." });
      await at.settle(more, { outcome: "completed", result: "" });
      expect(await about(childId)).toEqual([]);
      const all = await about(childId, "box=all");
      expect(all.map(({ eventType }) => eventType)).toEqual(["session.failed"]);
    });

    it("tells the person, read, when the parent is put away and cannot hear", async () => {
      const { parentId, childId, turn } = await at.createParentAndChild();
      await turn.tool("complete_session", { summary: "Counted alone." });
      await at.act(parentId, async (_work, parent) => {
        Object.assign(parent.row, { lifecycle: "archived" });
      });
      await at.settle(turn, { outcome: "completed", result: "" });
      expect(await about(childId)).toEqual([]);
      const [done] = await about(childId, "box=inbox");
      expect(done?.content).toContain("Counted alone.");
    });

    it("tells nothing of the ends of an orchestrator, and of its failures", async () => {
      const id = await at.parent();
      await end(id, "hello", "hello");
      expect(await about(id, "box=all")).toEqual([]);
      const turn = await at.prompt(id, "go on");
      const error = { code: "model_unavailable", message: "The model did not answer." };
      await at.settle(turn, { outcome: "failed", error });
      expect((await about(id)).map(({ eventType }) => eventType)).toEqual(["session.failed"]);
    });

    it("counts right when several end and ask while their owner reads", async () => {
      const ids = await Promise.all(["a", "b", "c", "d", "e"].map(alone));
      const turns = [];
      for (const id of ids) turns.push(await at.prompt(id));
      const read = () => at.world.call(owner, "PUT", "/api/me/inbox/read-all");
      await Promise.all(
        turns.flatMap((turn, n) => [
          n === 0
            ? at.ask(turn, "Which?")
            : at.settle(turn, { outcome: "completed", result: `${n}` }),
          read(),
        ]),
      );
      const rows = await Promise.all(ids.map((id) => about(id)));
      expect(rows.every((messages) => messages.length <= 1)).toBe(true);
      const { items } = await at.world.call<{ items: MailMessage[] }>(
        owner,
        "GET",
        "/api/me/inbox?unreadOnly=true&limit=200",
      );
      expect(await count()).toBe(items.length);
      expect((await Promise.all(ids.map((id) => about(id, "box=all")))).flat()).toHaveLength(5);
    });

    it("keeps the messages of a session that is gone, without its id", async () => {
      const id = await alone("Short life");
      await end(id, "go", "gone soon");
      await at.world.kernel.sessions.terminate(owner, id);
      await command(at.world.kernel.engine, (work) => purgeEnded(work, id));
      expect(await about(id, "box=all")).toEqual([]);
      const inbox = await at.world.call<{ items: MailMessage[] }>(
        owner,
        "GET",
        "/api/me/inbox?box=all",
      );
      const [message, ...more] = inbox.items.filter(({ content }) => content.includes("gone soon"));
      expect(message).toMatchObject({ from: { name: "Short life" }, contextSessionId: null });
      expect(more).toEqual([]);
    });
  });
}

suite("messages of sessions on sqlite", async () => undefined);
describe.skipIf(!postgresUrl)("with a server", () => {
  suite("messages of sessions on postgres", () => createTestDatabase());
});
