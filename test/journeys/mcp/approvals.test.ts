/**
 * A tool that a rule asks about, called over MCP: the turn ends, and the decision wakes the
 * session.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Prompt } from "#protocol/sessions.ts";
import { bearer, calling, type HandRunner, handRunner, post, turnOf } from "#test/clients/mcp.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";

interface Approval {
  id: string;
  tool: string;
  sessionId: string;
  shown: { input: unknown };
}

function story(name: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(name, () => {
    let platform: Platform;
    let runner: HandRunner;

    beforeAll(async () => {
      platform = await startPlatform({
        database,
        runner: false,
        env: { MUSTER_RUNTIME: "native" },
      });
      runner = await handRunner(platform);
      const rule = { tool: "notify_parent", pattern: "*", effect: "ask" };
      const { status } = await platform.request("POST", "/api/policy/rules", rule);
      expect(status).toBe(201);
    });
    afterAll(async () => {
      runner.close();
      await platform.stop();
    });

    const approvalsOf = async (sessionId: string) => {
      const path = `/api/approvals?state=pending&session=${sessionId}`;
      return (await platform.request<{ items: Approval[] }>("GET", path)).body.items;
    };
    const promptsOf = async (sessionId: string) => {
      const path = `/api/sessions/${sessionId}/prompts`;
      return (await platform.request<{ items: Prompt[] }>("GET", path)).body.items;
    };
    const decide = (id: string, decision: object) =>
      platform.request("POST", `/api/approvals/${id}`, decision);
    const family = async () => {
      const parent = await turnOf(platform, runner, { isSupervisor: true });
      const child = await turnOf(platform, runner, { parentSessionId: parent.sessionId });
      return { parent, child };
    };
    const notify = (token: string, message: string) =>
      post(platform, calling("notify_parent", { message }), bearer(token));

    it("a call is made as shown once it is approved, and its session is told", async () => {
      const { parent, child } = await family();
      const answer = await notify(child.token, "the build is red");
      expect(answer.body.result.isError).toBeUndefined();
      const [said, then] = answer.body.result.content;
      expect(said.text).toContain("approval_pending");
      expect(then.text).toContain("End it now");
      // A repeated call asks nobody again.
      await notify(child.token, "the build is red");
      const [approval, ...others] = await approvalsOf(child.sessionId);
      expect(others).toEqual([]);
      expect(approval).toMatchObject({
        tool: "notify_parent",
        shown: { input: { message: "the build is red" } },
      });
      await child.turn.end("I wait.");
      // The turn is over and the question is still open.
      expect(await approvalsOf(child.sessionId)).toHaveLength(1);
      const before = (await promptsOf(parent.sessionId)).filter(isNews);
      expect(before).toEqual([]);
      const decided = await decide(approval?.id ?? "", { decision: "allow" });
      expect(decided.status).toBe(200);
      const woken = await runner.nextTurn(child.sessionId);
      expect(woken.assignment.content).toMatch(/was allowed and has been done/);
      expect(woken.assignment.content).toContain("Your parent will read it");
      expect(woken.assignment.author).toMatchObject({ kind: "system" });
      expect((await promptsOf(parent.sessionId)).filter(isNews)).toHaveLength(1);
      expect((await decide(approval?.id ?? "", { decision: "allow" })).status).toBe(409);
      await woken.end("Good.");
      await platform.request("POST", `/api/sessions/${parent.sessionId}/terminate`, {});
    });

    const isNews = ({ content }: Prompt) => content.includes("the build is red");

    it("a denied call is not made, and the session is told why", async () => {
      const { parent, child } = await family();
      await notify(child.token, "the build is red");
      const [approval] = await approvalsOf(child.sessionId);
      await decide(approval?.id ?? "", { decision: "deny", reason: "not now" });
      // The decision came before the turn was over: the session is told afterwards.
      await child.turn.end("I wait.");
      const woken = await runner.nextTurn(child.sessionId);
      expect(woken.assignment.content).toMatch(/was not done.*not now/);
      expect((await promptsOf(parent.sessionId)).filter(isNews)).toEqual([]);
      await woken.end("Well.");
      await platform.request("POST", `/api/sessions/${parent.sessionId}/terminate`, {});
    });

    it("a call of an ended session is not made", async () => {
      const { parent, child } = await family();
      await notify(child.token, "the build is red");
      const [approval] = await approvalsOf(child.sessionId);
      await child.turn.end("I wait.");
      await platform.request("POST", `/api/sessions/${child.sessionId}/terminate`, {});
      await decide(approval?.id ?? "", { decision: "allow" });
      await platform.server.kernel.sweeps.tick();
      expect((await promptsOf(parent.sessionId)).filter(isNews)).toEqual([]);
      await platform.request("POST", `/api/sessions/${parent.sessionId}/terminate`, {});
    });
  });
}

story("mcp approvals on sqlite", async () => undefined);
describe.skipIf(!postgresUrl)("with a PostgreSQL server", () => {
  story("mcp approvals on postgres", () => createTestDatabase());
});
