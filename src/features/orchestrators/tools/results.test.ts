/** Results of children as an orchestrator and its owner see them: text, state, failure. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createAudit } from "#features/audit/index.ts";
import { briefing } from "#features/briefing/index.ts";
import { createDelegation } from "#features/delegation/index.ts";
import { FakeSessionTree } from "#features/fake-session-tree/index.ts";
import { createPersonas, findSharedPersona } from "#features/personas/index.ts";
import { policy } from "#features/policy/index.ts";
import { createRepos } from "#features/repos/index.ts";
import { createSecrets } from "#features/secrets/index.ts";
import { owner, startWorld, type Turn } from "#features/testing/index.ts";
import type { Entry } from "#protocol/sessions.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import { createOrchestratorTools } from "./index.ts";

const ORG = "/api/orgs/org_1";
const KEY = "a-secret-key-of-more-than-32-characters";
const done = (result: string) => ({ outcome: "completed", result }) as const;
const FAILED = {
  outcome: "failed",
  error: { code: "model_rate_limited", message: "The model is busy." },
} as const;

function suite(title: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(title, () => {
    let at: FakeSessionTree;
    let made: TestDatabase | undefined;
    beforeAll(async () => {
      made = await database();
      const secrets = createSecrets({ secretKey: KEY });
      const repos = createRepos({ secretKey: KEY, secrets, findPersona: findSharedPersona });
      const features = [
        createDelegation({ childrenPerOrchestrator: 4 }),
        { name: "orchestrators", tools: createOrchestratorTools({ publicUrl: "https://m.test/" }) },
        policy,
        createAudit().feature,
        secrets.feature,
        createPersonas({ searchPath: "" }),
        repos.feature,
        briefing,
      ];
      at = new FakeSessionTree(await startWorld(features, made?.url));
    });
    afterEach(() => at.end());
    afterAll(async () => {
      await at.world.stop();
      await made?.drop();
    });

    const team = async (request: object = {}) => {
      const parentId = await at.parent();
      const turn = await at.prompt(parentId, "go");
      const { output, error } = await turn.tool("spawn_session", {
        prompt: "Count the files.",
        title: "counter",
        ...request,
      });
      expect(error).toBeNull();
      const childId = (output as { sessionId: string }).sessionId;
      return { parentId, turn, childId, work: await at.turnOf(childId) };
    };
    const resultOf = async ({ assignment }: Turn) =>
      (await at.world.kernel.runs.result(owner, assignment.run)).result;
    const say = (turn: Turn, id: string, text: string) =>
      turn.journal([{ type: "message", entryId: `ent_${id}`, kind: "text", text }]);
    const complete = async (work: Turn, summary: string) => {
      await work.tool("complete_session", { summary });
      await at.settle(work, done("I am about to be done."));
    };

    it("take what a child says with complete_session for the result of its run", async () => {
      const { childId, work } = await team();
      await say(work, "a2", "I am about to be done.");
      await complete(work, "There are 7 files.");
      expect(await resultOf(work)).toBe("There are 7 files.");
      expect(await at.session(childId)).toMatchObject({
        lifecycle: "archived",
        status: "finished",
      });
    });

    it("read and forward that as a message of the child", async () => {
      const { parentId, turn, childId, work } = await team();
      await say(work, "a3", "I am about to be done.");
      await complete(work, "There are 7 files.");
      const read = (input: object) => turn.tool("read_messages", { sessionId: childId, ...input });
      expect((await read({ limit: 1 })).output).toMatchObject({
        messages: expect.stringContaining("> There are 7 files."),
      });
      expect((await read({ offset: 10 })).output).toMatchObject({ text: "> 7 files." });
      expect((await read({ promptId: work.assignment.promptId })).output).toMatchObject({
        text: "> There are 7 files.",
      });
      const status = await turn.tool("get_session_status", { sessionId: childId });
      expect(status.output).toMatchObject({
        status: "finished",
        recent: expect.stringContaining("> There are 7 files."),
      });
      await turn.tool("forward_messages", { sessionId: childId });
      const { items } = await at.world.kernel.sessions.transcript(owner, parentId, { limit: 50 });
      const shown = items.filter(({ author }) => author?.id === childId);
      expect(shown.map(({ text }) => text)).toEqual(["There are 7 files."]);
    });

    it("do not take a call for a message that was not performed", async () => {
      const { turn, childId, work } = await team();
      expect((await work.tool("complete_session", { summary: "" })).error).not.toBeNull();
      const read = await turn.tool("read_messages", { sessionId: childId });
      expect(JSON.stringify(read.output)).not.toContain("assistant:");
      const forwarded = await turn.tool("forward_messages", { sessionId: childId });
      expect(forwarded.error).toMatch(/said nothing yet/);
    });

    it("have what was forwarded in the answer of the turn, before its own words", async () => {
      const { turn, childId, work } = await team();
      await say(work, "a4", "A report\nof two lines");
      await at.settle(work, done("A report\nof two lines"));
      await turn.tool("forward_messages", { sessionId: childId });
      await at.settle(turn, done("That is all."));
      expect(await resultOf(turn)).toBe("counter:\n\nA report\nof two lines\n\nThat is all.");
    });

    it("keep the answer of a turn within a bound, however much was forwarded", async () => {
      const { parentId, turn, childId, work } = await team();
      for (let part = 0; part < 5; part++) await say(work, `b${part}`, "x".repeat(50_000));
      await at.settle(work, done("x"));
      await turn.tool("forward_messages", { sessionId: childId, limit: 5 });
      await at.settle(turn, done("That is all."));
      const result = (await resultOf(turn)) ?? "";
      expect(result.length).toBeLessThan(201_000);
      expect(result).toContain(`more characters were forwarded; read them in session ${parentId}]`);
      expect(result).toMatch(/That is all\.$/);
    });

    it("have it in the answer of that turn only, and leave a turn that failed without", async () => {
      const { parentId, turn, childId, work } = await team();
      await say(work, "a5", "A report");
      await at.settle(work, done("A report"));
      await at.settle(turn, done("ok"));
      const second = await at.turnOf(parentId);
      await second.tool("forward_messages", { sessionId: childId });
      await at.settle(second, FAILED);
      expect(await resultOf(second)).toBeNull();
      const third = await at.prompt(parentId, "again");
      await at.settle(third, done("Nothing else."));
      expect(await resultOf(third)).toBe("Nothing else.");
    });

    it("lose the result of a run with the entry that it came from", async () => {
      const { parentId, turn, childId, work } = await team();
      await complete(work, "There are 7 files.");
      await turn.tool("forward_messages", { sessionId: childId });
      await at.settle(turn, done("That is all."));
      const { sessions } = at.world.kernel;
      await at.settle(await at.turnOf(parentId), done("ok"));
      for (const [id, of, run] of [
        [parentId, (entry: Entry) => entry.author?.id === childId, turn],
        [childId, (entry: Entry) => entry.tool?.name === "complete_session", work],
      ] as const) {
        const { items } = await sessions.transcript(owner, id, { limit: 50 });
        expect(await resultOf(run)).toContain("7 files");
        await sessions.redact(owner, id, items.find(of)?.id ?? "");
        expect(await resultOf(run)).toBe("[removed]");
      }
    });

    it("find a message behind many entries that say nothing", async () => {
      const { turn, childId, work } = await team();
      await say(work, "a6", "The report");
      for (let page = 0; page < 6; page++)
        await work.journal(
          Array.from({ length: 100 }, (_, index) => ({
            type: "message" as const,
            entryId: `ent_a6_${page}_${index}`,
            kind: "text" as const,
            text: "",
          })),
        );
      const forwarded = await turn.tool("forward_messages", { sessionId: childId });
      expect(forwarded.output).toMatchObject({ forwarded: 1 });
      const status = await turn.tool("get_session_status", { sessionId: childId });
      expect(status.output).toMatchObject({ recent: expect.stringContaining("> The report") });
    });

    it("say in an inbox item where to read on when its text is cut", async () => {
      const { parentId, childId, work } = await team();
      await say(work, "a7", "x".repeat(5_000));
      await at.settle(work, done("x".repeat(5_000)));
      const short = await team();
      await at.settle(short.work, done("all of it"));
      expect((await at.inbox(parentId))[0]?.payload).toMatchObject({
        text: "x".repeat(2_000),
        isCut: true,
        length: 5_000,
        readOn: `/api/sessions/${childId}/transcript`,
      });
      expect((await at.inbox(short.parentId))[0]?.payload).not.toHaveProperty("readOn");
    });

    it("say why a child failed, until a turn of it does not", async () => {
      const { turn, childId, work } = await team();
      await at.settle(work, FAILED);
      const { error: lastError } = FAILED;
      const status = await turn.tool("get_session_status", { sessionId: childId });
      expect(status.output).toMatchObject({ status: "error", lastError });
      const list = await turn.tool("list_sessions", {});
      expect(list.output).toMatchObject({ sessions: [{ sessionId: childId, lastError }] });
      expect(await at.session(childId)).toMatchObject({ lastError });
      await turn.tool("send_message", { sessionId: childId, message: "again" });
      await at.settle(await at.turnOf(childId), done("ok"));
      expect(await at.session(childId)).toMatchObject({ lastError: null });
      await at.world.kernel.sessions.archive(owner, childId, true);
      expect(await at.session(childId)).toMatchObject({ status: "finished" });
    });

    it("name the persona, its version and the model of a child", async () => {
      const { persona } = await at.world.call<{ persona: { id: string } }>(
        owner,
        "POST",
        `${ORG}/personas`,
        { name: "Counter", slug: "counter", visibility: "shared" },
      );
      const path = `${ORG}/personas/${persona.id}`;
      await at.world.call(owner, "PUT", path, { files: [{ filename: "A.md", content: "Count." }] });
      const { turn, childId } = await team({ persona: "counter" });
      const known = { persona: "counter", personaVersion: 2 };
      const list = await turn.tool("list_sessions", {});
      const { model } = await at.session(childId);
      expect(list.output).toMatchObject({ sessions: [{ sessionId: childId, ...known, model }] });
      expect(await at.session(childId)).toMatchObject(known);
      await at.world.call(owner, "PUT", path, { files: [{ filename: "A.md", content: "More." }] });
      expect(await at.session(childId)).toMatchObject(known);
      await at.world.call(owner, "POST", `/api/sessions/${childId}/persona`, {});
      expect(await at.session(childId)).toMatchObject({ persona: "counter", personaVersion: 3 });
      const { items } = await at.world.call<{
        items: { action: string; metadata: Record<string, unknown> }[];
      }>(owner, "GET", `/api/audit?session=${childId}`);
      const rows = items.map(({ action, metadata }) => ({ action, ...metadata }));
      expect(rows).toContainEqual(expect.objectContaining({ action: "session_created", ...known }));
      expect(rows).toContainEqual(
        expect.objectContaining({ area: "session_persona", detail: "version_3" }),
      );
    });
  });
}

suite("what an orchestrator learns of results, on SQLite", async () => undefined);
describe.skipIf(postgresUrl === undefined)("with PostgreSQL", () => {
  suite("what an orchestrator learns of results, on PostgreSQL", createTestDatabase);
});
