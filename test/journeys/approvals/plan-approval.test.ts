/**
 * Plan approval on the real runtime: an orchestrator requires a plan, and its child cannot work
 * without one.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ModelServer, startModelServer } from "#test/model-server/model-server.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import "#test/services/bubblewrap.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";

const PATIENT = { timeout: 15_000 };
const write = (name: string) => `CALL write ${JSON.stringify({ path: name, content: name })}`;
const present = (plan: string) => `CALL request_plan_approval ${JSON.stringify({ plan })}`;
const TASK = [
  write("early"),
  'CALL bash {"command": "touch early"}',
  present("Write it anywhere."),
  present("Write it in late."),
  write("late"),
  "SAY done",
].join("\n");

const spawn = { prompt: TASK, title: "planner", requirePlanApproval: true };

const PLAN_NOTICE = /sessionId (\S+), planId (\S+)\)/;

/** Starts a child, sends back its first plan and approves the next. */
function leadSays(userText: string): string {
  if (userText.startsWith("PLAY")) return `CALL spawn_session ${JSON.stringify(spawn)}`;
  const [, sessionId, planId] = PLAN_NOTICE.exec(userText) ?? [];
  if (sessionId === undefined) return "SAY Good.";
  const decision = userText.includes("> Write it anywhere.")
    ? { decision: "revise", message: "In late." }
    : { decision: "approve", message: "Go." };
  return `CALL decide_plan ${JSON.stringify({ sessionId, planId, ...decision })}`;
}

function story(name: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(name, () => {
    let platform: Platform;
    let model: ModelServer;

    beforeAll(async () => {
      model = await startModelServer();
      platform = await startPlatform({
        database,
        env: {
          MUSTER_MODEL: "anthropic/claude-test",
          ANTHROPIC_API_KEY: "test-key",
          ANTHROPIC_BASE_URL: model.url,
        },
      });
    });
    afterAll(async () => {
      await platform.stop();
      await model.close();
    });

    const begin = (words: string) => platform.api.routing.prompt({ body: { content: words } });
    const children = async () =>
      (await platform.api.delegation.children({ id: "orchestrator" })).items;
    const newest = async () => (await children()).find(({ lifecycle }) => lifecycle === "active");
    const results = async (sessionId: string) =>
      (await platform.events(sessionId)).filter(({ type }) => type === "post_tool");
    const pending = async (session: string) =>
      (await platform.api.approvals.list({ query: { state: "pending", session } })).items[0];
    const outcome = [
      { toolName: "write", error: expect.stringMatching(/^plan_not_approved: /) },
      { toolName: "bash", error: expect.stringMatching(/^plan_not_approved: /) },
      { toolName: "request_plan_approval", error: expect.stringMatching(/^revise: .*In late\./) },
      { toolName: "request_plan_approval", error: null },
      { toolName: "write", error: null },
    ];
    const end = (id: string) => platform.api.sessions.delete({ id, query: { force: "true" } });

    it("is sent back and approved by the orchestrator that asked for it", async () => {
      model.play("lead", ({ userText, round, toolResults }) => {
        // A plan that arrived before the orchestrator waited is delivered as the answer to its
        // wait.
        const news = toolResults.find((result) => PLAN_NOTICE.test(result));
        if (round > 0 && news === undefined) return "CALL wait_for_event {}";
        return leadSays(news ?? userText);
      });
      await begin("PLAY lead");
      await expect.poll(async () => (await newest())?.planState, PATIENT).toBe("approved");
      const { sessionId = "" } = (await newest()) ?? {};
      await expect.poll(async () => (await results(sessionId)).length, PATIENT).toBe(5);
      expect(await results(sessionId)).toMatchObject(outcome);
      expect((await results(sessionId))[3]?.toolOutput).toMatch(/^approved: Your parent .*“Go\.”/);
      const asked = model.requests.map((one) => JSON.stringify(one));
      expect(asked.some((one) => one.includes("# A plan first"))).toBe(true);
      await expect.poll(async () => (await newest())?.activity, PATIENT).toBe("done");
      await end(sessionId);
    });

    it("is decided by a person while the orchestrator thinks, and outlives the runner", async () => {
      model.play("idle", ({ userText, round }) =>
        round === 0 && userText.startsWith("PLAY")
          ? `CALL spawn_session ${JSON.stringify(spawn)}`
          : "SAY I leave it to you.",
      );
      await platform.api.sessions.clear({ id: "orchestrator" });
      await begin("PLAY idle");
      await expect.poll(async () => (await newest())?.planState, PATIENT).toBe("pending");
      const { sessionId = "" } = (await newest()) ?? {};
      const first = await pending(sessionId);
      expect(first?.kind).toBe("plan");
      await platform.restartRunner();
      const answer = (id: string | undefined, body: object) =>
        platform.request("POST", `/api/approvals/${id}`, body);
      const sent = { decision: "revise", reason: "In late." };
      expect(await answer(first?.id, sent)).toMatchObject({
        status: 200,
        body: { approval: { decision: "revise", reason: "In late." } },
      });
      await expect
        .poll(async () => (await pending(sessionId))?.id ?? first?.id, PATIENT)
        .not.toBe(first?.id);
      await platform.restartRunner();
      expect((await answer((await pending(sessionId))?.id, { decision: "allow" })).status).toBe(
        200,
      );
      await expect.poll(async () => (await results(sessionId)).length, PATIENT).toBe(5);
      expect(await results(sessionId)).toMatchObject(outcome);
      expect((await answer(first?.id, { decision: "allow" })).status).toBe(409);
    });
  });
}

story("plans on SQLite", async () => undefined);
describe.skipIf(!postgresUrl)("with a PostgreSQL server", () => {
  story("plans on PostgreSQL", () => createTestDatabase());
});
