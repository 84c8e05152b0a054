/** A message typed into a conversation whose question is open answers it. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createDelegation } from "#features/delegation/index.ts";
import { FakeSessionTree } from "#features/fake-session-tree/index.ts";
import { policy } from "#features/policy/index.ts";
import { asks, member, owner, startWorld, type Turn, type User } from "#features/testing/index.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import { approvals } from "./index.ts";

function suite(name: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(name, () => {
    let at: FakeSessionTree;
    let made: TestDatabase | undefined;
    beforeAll(async () => {
      made = await database();
      at = new FakeSessionTree(
        await startWorld([createDelegation(), policy, approvals], made?.url),
      );
    });
    afterEach(() => at.end());
    afterAll(async () => {
      await at.world.stop();
      await made?.drop();
    });

    const askAll = (turn: Turn, questions: object[]) =>
      turn.journal([asks("q1", "ask_user_question", { questions })], {
        park: { kind: "gate", callId: "q1" },
      });
    const say = (sessionId: string, content: string, more: object = {}, who: User = owner) =>
      at.world.kernel.prompts.admit(who, sessionId, {
        content,
        thread: "main",
        attachments: [],
        ...more,
      });
    const pending = async (session: string) =>
      (await at.world.as(owner).approvals.list({ query: { state: "pending", session } })).items;
    const asking = async (questions: object[]) => {
      const sessionId = await at.world.createSession();
      const turn = await at.prompt(sessionId);
      await askAll(turn, questions);
      return { sessionId, promptId: turn.assignment.promptId };
    };

    it("answers the question, and becomes part of the turn that asked", async () => {
      const { sessionId, promptId } = await asking([{ question: "Which port?" }]);
      const sent = await say(sessionId, " 8080, please ", { dispatchId: "d1" });
      expect(sent).toMatchObject({ state: "settled", outcome: "merged", mergedInto: promptId });
      const again = await say(sessionId, " 8080, please ", { dispatchId: "d1" });
      expect(again.id).toBe(sent.id);
      const log = await at.world.kernel.sessions.events(sessionId, 0, 100);
      const end = log.find(
        (event) => event.promptId === sent.id && event.type === "prompt_settled",
      );
      expect(end?.data).toMatchObject({ answeredGate: expect.stringMatching(/^apr_/) });
      const turn = await at.turnOf(sessionId);
      expect(turn.assignment.promptId).toBe(promptId);
      expect(turn.assignment.decisions).toMatchObject([
        { callId: "q1", allowed: true, answers: ["8080, please"] },
      ]);
      await at.settle(turn, { outcome: "completed" });
      // The queue is empty, and the next message is a turn of its own.
      expect((await at.session(sessionId)).counts.queued).toBe(0);
      expect(await say(sessionId, "next")).toMatchObject({ outcome: null });
    });

    it("takes an option by its name, and says which there are when words are not enough", async () => {
      const options = [{ label: "Red" }, { label: "Blue" }];
      const { sessionId } = await asking([{ question: "Colour?", options, freeText: false }]);
      await expect(say(sessionId, "green")).rejects.toMatchObject({
        code: "question_needs_choice",
        message: expect.stringContaining("“Red”, “Blue”"),
      });
      expect(await pending(sessionId)).toHaveLength(1);
      await say(sessionId, "blue");
      const turn = await at.turnOf(sessionId);
      expect(turn.assignment.decisions).toMatchObject([{ answers: ["Blue"] }]);
    });

    it("takes several options, where several may be chosen, and an answer for each of several questions", async () => {
      const options = [{ label: "S" }, { label: "M" }, { label: "L" }];
      const sizes = { question: "Sizes?", options, multiple: true, freeText: false };
      const { sessionId } = await asking([sizes]);
      await expect(say(sessionId, "s, XL")).rejects.toMatchObject({
        code: "question_needs_choice",
      });
      await say(sessionId, "s, L");
      expect((await at.turnOf(sessionId)).assignment.decisions).toMatchObject([
        { answers: ["S\nL"] },
      ]);
      const both = await asking([{ question: "Host?" }, { question: "Port?" }]);
      await expect(say(both.sessionId, "localhost and 8080")).rejects.toMatchObject({
        code: "question_needs_answers",
      });
      await say(both.sessionId, "1. localhost\n2. 8080");
      expect((await at.turnOf(both.sessionId)).assignment.decisions).toMatchObject([
        { answers: ["localhost", "8080"] },
      ]);
    });

    it("leaves the question open for what is no answer of its person", async () => {
      const { sessionId } = await asking([{ question: "Which port?" }]);
      await say(sessionId, "in another conversation", { thread: "other" });
      const file = { name: "a.txt", mediaType: "text/plain", data: Buffer.from("a") };
      await say(sessionId, "see this", { attachments: [file] });
      await say(sessionId, "/clear");
      const key = { ...owner, scopes: ["sessions:read", "sessions:write"] };
      const { id: byKey } = await say(sessionId, "by a key", {}, key);
      expect((await at.world.kernel.prompts.get(key, byKey)).waitingFor).toMatchObject({
        reason: "behind_other_prompts",
        message: expect.stringContaining("waiting for an answer to its question"),
      });
      await expect(say(sessionId, "mine", {}, member)).rejects.toMatchObject({ code: "not_found" });
      expect(await pending(sessionId)).toHaveLength(1);
      // Text never grants an approval.
      const other = await at.world.createSession();
      const turn = await at.prompt(other);
      await turn.journal([asks("b1", "bash", { command: "git push" })], {
        park: { kind: "gate", callId: "b1" },
      });
      expect(await say(other, "yes")).toMatchObject({ outcome: null });
      expect(await pending(other)).toHaveLength(1);
      for (const id of [sessionId, other]) await at.world.kernel.sessions.terminate(owner, id);
    });

    it("is nothing that was written before the question was asked", async () => {
      const sessionId = await at.world.createSession();
      const turn = await at.prompt(sessionId, "first");
      await at.settle(turn, { outcome: "failed", error: { code: "model_error", message: "no" } });
      await askAll(await at.prompt(sessionId), [{ question: "Which backup may I delete?" }]);
      const kept = await say(sessionId, "yes, do it", { writtenMsAgo: 60_000 });
      expect(kept).toMatchObject({ outcome: null });
      const { promptId } = turn.assignment;
      expect(await at.world.kernel.prompts.retry(owner, promptId)).toMatchObject({ outcome: null });
      expect(await pending(sessionId)).toHaveLength(1);
      expect(await say(sessionId, "none", { writtenMsAgo: 0 })).toMatchObject({
        outcome: "merged",
      });
      await at.world.kernel.sessions.terminate(owner, sessionId);
    });

    it("does not answer another person's turn, which would pass the words on to them", async () => {
      const sessionId = await at.world.createSession();
      const turn = await at.prompt(sessionId, "Ask what they do next.");
      await at.markGuest(turn);
      await askAll(turn, [{ question: "What do you do next?" }]);
      expect(await say(sessionId, "a private plan")).toMatchObject({ outcome: null });
      expect(await pending(sessionId)).toHaveLength(1);
      await at.world.kernel.sessions.terminate(owner, sessionId);
    });

    it("is for no agent but the parent, which answers by its own tool", async () => {
      const { childId, turn, parentId } = await at.createParentAndChild();
      await askAll(turn, [{ question: "Which port?" }]);
      const agent = {
        kind: "session",
        orgId: "org_1",
        sessionId: parentId,
        ownerId: "usr_1",
        name: "lead",
      } as const;
      await at.world.kernel.prompts.admit(agent, childId, {
        content: "8080",
        thread: "main",
        attachments: [],
      });
      expect(await pending(childId)).toHaveLength(1);
      await at.world.kernel.sessions.terminate(owner, childId);
    });

    it("refuses questions without a clear choice, and tells the model why", async () => {
      const turn = await at.prompt(await at.world.createSession());
      let calls = 0;
      const judged = async (labels: string[]) => {
        const id = `r${++calls}`;
        const options = labels.map((label) => ({ label }));
        const questions = [{ question: "Which?", options }];
        return (await turn.journal([asks(id, "ask_user_question", { questions })]))[id];
      };
      for (const [labels, words] of [
        [["Yes"], "one option is not a choice"],
        [["A", "Other"], "leave out “Other”"],
        [["A", "other…"], "leave out “Other”"],
        [["A", "Other (please say)"], "leave out “Other”"],
        [["A", "a "], "appears twice"],
      ] as const)
        expect(await judged([...labels])).toMatchObject({
          verdict: "invalid",
          reason: expect.stringContaining(words),
        });
      for (const labels of [[], ["A", "B"], ["main", "Other branch"]])
        expect(await judged(labels)).toMatchObject({ verdict: "ask" });
    });
  });
}

suite("on SQLite", async () => undefined);
describe.skipIf(!postgresUrl)("with a server", () => {
  suite("on PostgreSQL", createTestDatabase);
});
