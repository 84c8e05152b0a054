/** A parent gets the options of a question, and its answers must fit them. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createDelegation } from "#features/delegation/index.ts";
import { FakeSessionTree } from "#features/fake-session-tree/index.ts";
import { asks, startWorld, type Turn } from "#features/testing/index.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import { createOrchestratorTools } from "./index.ts";

const COLOUR = {
  question: "Which colour?",
  options: [{ label: "Red", description: "as before" }, { label: "Blue" }],
  freeText: false,
};
const PORT = { question: "Which port?" };

function suite(title: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(title, () => {
    let at: FakeSessionTree;
    let made: TestDatabase | undefined;
    beforeAll(async () => {
      made = await database();
      const tools = createOrchestratorTools({ publicUrl: "https://m.test/" });
      const features = [createDelegation(), { name: "orchestrators", tools }];
      at = new FakeSessionTree(await startWorld(features, made?.url));
    });
    afterEach(() => at.end());
    afterAll(async () => {
      await at.world.stop();
      await made?.drop();
    });

    /** A parent in a turn whose child asks. */
    const asked = async (...questions: object[]) => {
      const { parentId, childId, turn: work } = await at.createParentAndChild();
      const turn = await at.prompt(parentId);
      const call = asks("q1", "ask_user_question", { questions });
      await work.journal([call], { park: { kind: "gate", callId: "q1" } });
      const send = (message: string) => turn.tool("send_message", { sessionId: childId, message });
      return { parentId, childId, turn, send };
    };
    const answersOf = async (childId: string) => {
      const turn: Turn = await at.turnOf(childId);
      return turn.assignment.decisions.map(({ answers }) => answers);
    };

    it("shows them in the wake-up, the inbox, the status and the transcript", async () => {
      const { parentId, childId, turn } = await asked(COLOUR, PORT);
      const [item] = await at.inbox(parentId);
      expect(item?.payload).toMatchObject({
        questions: [COLOUR.question, PORT.question],
        choices: [COLOUR, PORT],
      });
      const status = await turn.tool("get_session_status", { sessionId: childId });
      expect(status.output).toMatchObject({
        waitsFor: { choices: [COLOUR, PORT], next: expect.stringContaining("1.") },
        recent: expect.stringContaining("“Red”: as before"),
      });
      await at.settle(turn, { outcome: "completed" });
      const { content } = (await at.turnOf(parentId)).assignment;
      expect(content).toContain("> 1. Which colour?\n> One of: “Red”: as before; “Blue”");
      expect(content).toContain("> 2. Which port?");
      expect(content).toContain("that answers each");
    });

    it("takes an answer that fits, and no other", async () => {
      const { childId, send } = await asked(COLOUR);
      const { error } = await send("Green would be nice.");
      expect(error).toMatch(/^question_needs_choice: .*“Red”, “Blue”.*interrupt/);
      expect((await send("blue")).output).toMatchObject({ answered: true });
      expect(await answersOf(childId)).toEqual([["Blue"]]);
    });

    it("takes an answer for each of several questions", async () => {
      const { childId, send } = await asked(COLOUR, PORT);
      expect((await send("Red")).error).toMatch(/^question_needs_answers: /);
      expect((await send("1. red\n2. 8080")).output).toMatchObject({ answered: true });
      expect(await answersOf(childId)).toEqual([["Red", "8080"]]);
    });
  });
}

suite("questions to a parent, on SQLite", async () => undefined);
describe.skipIf(postgresUrl === undefined)("with PostgreSQL", () => {
  suite("questions to a parent, on PostgreSQL", createTestDatabase);
});
