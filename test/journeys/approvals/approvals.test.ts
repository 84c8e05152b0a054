/** Approvals through the API on each database: a turn that must ask waits without a runner. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { gateTimerDue, listGates } from "#engine/gates/index.ts";
import { command } from "#engine/index.ts";
import { findRun } from "#engine/runs/index.ts";
import type { Prompt, Session } from "#protocol/sessions.ts";
import { join, orgOf } from "#test/clients/people.ts";
import { type ModelServer, startModelServer } from "#test/model-server/model-server.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import "#test/services/bubblewrap.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";

const PATIENT = { timeout: 15_000 };
const PUSH = 'CALL bash {"command": "git push origin main || echo pushed"}';

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

    const open = () => platform.createSession({ runtime: "native" });
    const approvals = async (session: string, state: "pending" | "decided" = "pending") =>
      (await platform.api.approvals.list({ query: { state, session } })).items;
    const answer = (id: string | undefined, body: object) =>
      platform.request<{ error?: { code: string } }>("POST", `/api/approvals/${id}`, body);
    const results = async (sessionId: string) =>
      (await platform.events(sessionId)).filter(({ type }) => type === "post_tool");
    const sessionNow = async (id: string) => (await platform.api.sessions.get({ id })).session;

    async function gated(content: string): Promise<{ session: Session; prompt: Prompt }> {
      const session = await open();
      const prompt = await platform.prompt(session.id, content);
      await platform.promptIn(prompt.id, "gated");
      return { session, prompt };
    }

    it("parks a turn that must ask, frees the runner, and continues when it is allowed", async () => {
      const { session, prompt } = await gated(PUSH);
      expect(await sessionNow(session.id)).toMatchObject({ activity: "needs_you" });
      const runners = await platform.api.runners.list();
      expect(runners.items.map(({ running }) => running)).toEqual([0]);
      const [asked] = await approvals(session.id);
      expect(asked).toMatchObject({
        kind: "approval",
        tool: "bash",
        target: "git push origin main || echo pushed",
        shown: { input: { command: "git push origin main || echo pushed" } },
      });
      expect((await answer(asked?.id, { decision: "allow" })).status).toBe(200);
      const settled = await platform.promptIn(prompt.id, "settled");
      expect(settled).toMatchObject({ outcome: "completed", attempts: 1 });
      expect(await results(session.id)).toMatchObject([
        { toolOutput: expect.stringContaining("pushed"), error: null },
      ]);
      expect(await answer(asked?.id, { decision: "deny" })).toMatchObject({
        status: 409,
        body: { error: { code: "already_decided" } },
      });
    });

    it("tells the model what was denied, and does not ask for it again in the turn", async () => {
      const { session, prompt } = await gated(`${PUSH}\n${PUSH}`);
      const [asked] = await approvals(session.id);
      await answer(asked?.id, { decision: "deny", reason: "not on a Friday" });
      expect(await platform.promptIn(prompt.id, "settled")).toMatchObject({ outcome: "completed" });
      expect(await results(session.id)).toMatchObject([
        { error: expect.stringContaining("not on a Friday") },
        { error: expect.stringContaining("denied") },
      ]);
      expect(await approvals(session.id, "decided")).toHaveLength(1);
    });

    it("an organisation's rule that is made while a person decides wins", async () => {
      const { session, prompt } = await gated(PUSH);
      const [asked] = await approvals(session.id);
      const { rule } = await platform.api.policy.create({
        body: { level: "org", tool: "bash", pattern: "git push*", effect: "deny" },
      });
      const { id } = rule;
      expect(await answer(asked?.id, { decision: "allow", scope: "always" })).toMatchObject({
        status: 409,
        body: { error: { code: "denied_by_rule", message: expect.stringContaining(id) } },
      });
      expect(await platform.promptIn(prompt.id, "settled")).toMatchObject({ outcome: "completed" });
      expect(await results(session.id)).toMatchObject([
        { toolOutput: "", error: expect.stringContaining(id) },
      ]);
      expect(await approvals(session.id, "decided")).toMatchObject([{ decidedBy: "system" }]);
      const audit = await platform.api.audit.list({ query: { session: session.id } });
      expect(audit.items.map(({ action }) => action)).toContain("tool_denied");
      await platform.api.policy.delete({ id });
    });

    it("does nothing more for a person who has left", async () => {
      const leaver = await join(platform, "Lea");
      const { session } = await leaver.api.sessions.create({ body: { runtime: "native" } });
      const { prompt } = await leaver.api.prompts.create({
        id: session.id,
        body: { content: PUSH },
      });
      const { engine } = platform.server.kernel;
      const { orgId } = await orgOf(platform);
      const filter = { orgId, ownerId: leaver.userId, sessionId: session.id, limit: 1 };
      const findAsked = () => engine.store.read((reader) => listGates(reader, filter));
      while ((await findAsked()).length === 0) await new Promise((r) => setTimeout(r, 10));
      const [gate] = await findAsked();
      const denial = () =>
        command(engine, async (work) => {
          const locked = await work.sessionWithParent(session.id);
          const run = await findRun(work.tx, gate?.run_id ?? "");
          if (!locked || !run) throw new Error(`nothing of ${prompt.id}`);
          const call = { callId: "c", tool: "bash", input: { command: "ls" } };
          return work.findDenial(locked, run, call);
        });
      expect(await denial()).toBeUndefined();
      await platform.api.orgs.removeMember({ orgId, userId: leaver.userId });
      expect(await denial()).toContain("has left");
      expect((await leaver.request("POST", `/api/approvals/${gate?.id}`, {})).status).toBe(401);
    });

    it("asks about two calls of one response one after the other", async () => {
      const { session, prompt } = await gated(
        `${PUSH}\nALSO bash {"command": "echo free"}\nALSO bash {"command": "git push b || true"}`,
      );
      const [first, ...others] = await approvals(session.id);
      expect(others).toEqual([]);
      expect(first?.target).toContain("origin main");
      await answer(first?.id, { decision: "allow" });
      await expect.poll(() => approvals(session.id), PATIENT).toHaveLength(1);
      const [second] = await approvals(session.id);
      expect(second?.target).toBe("git push b || true");
      await answer(second?.id, { decision: "allow" });
      expect(await platform.promptIn(prompt.id, "settled")).toMatchObject({ outcome: "completed" });
      expect(await results(session.id)).toHaveLength(3);
    });

    it("withdraws the question when the turn is steered; a late answer is refused", async () => {
      const { session, prompt } = await gated(PUSH);
      const [asked] = await approvals(session.id);
      const next = await platform.prompt(session.id, "SAY never mind", { mode: "steer" });
      expect(await platform.promptIn(prompt.id, "settled")).toMatchObject({
        outcome: "superseded",
        supersededBy: next.id,
      });
      expect(await platform.promptIn(next.id, "settled")).toMatchObject({ outcome: "completed" });
      expect((await answer(asked?.id, { decision: "allow" })).body.error?.code).toBe(
        "already_decided",
      );
    });

    it("counts a missing answer as a denial", async () => {
      const { session, prompt } = await gated(PUSH);
      const [asked] = await approvals(session.id);
      const timer = { id: "x", org_id: "", kind: "gate", subject: asked?.id ?? "", due_at: 0 };
      await command(platform.server.kernel.engine, (work) => gateTimerDue(work, timer));
      expect(await platform.promptIn(prompt.id, "settled")).toMatchObject({ outcome: "completed" });
      expect((await answer(asked?.id, { decision: "allow" })).body.error?.code).toBe(
        "approval_expired",
      );
    });

    it("remembers an approval for the session, and not for the next one", async () => {
      const { session, prompt } = await gated(PUSH);
      const [asked] = await approvals(session.id);
      await answer(asked?.id, { decision: "allow", scope: "session" });
      await platform.promptIn(prompt.id, "settled");
      const again = await platform.prompt(session.id, `${PUSH}\nSAY twice`);
      expect(await platform.promptIn(again.id, "settled")).toMatchObject({ outcome: "completed" });
      expect(await approvals(session.id, "decided")).toHaveLength(1);
      await gated(PUSH);
    });

    it("passes a person's answers to the agent's questions", async () => {
      const { session, prompt } = await gated(
        'CALL ask_user_question {"questions": [{"question": "Tea?", "options": [{"label": "yes"}, {"label": "no"}]}]}',
      );
      const [asked] = await approvals(session.id);
      expect(asked).toMatchObject({ kind: "question" });
      expect((await answer(asked?.id, { answers: ["yes", "no"] })).status).toBe(400);
      expect((await answer(asked?.id, { answers: ["yes"] })).status).toBe(200);
      await platform.promptIn(prompt.id, "settled");
      expect(await results(session.id)).toMatchObject([
        { toolOutput: expect.stringContaining("yes") },
      ]);
    });

    it("a waiting turn outlives its runner", async () => {
      const { session, prompt } = await gated(PUSH);
      const [asked] = await approvals(session.id);
      await platform.restartRunner();
      await answer(asked?.id, { decision: "allow" });
      expect(await platform.promptIn(prompt.id, "settled")).toMatchObject({
        outcome: "completed",
        attempts: 1,
      });
      expect(await approvals(session.id, "decided")).toHaveLength(1);
      expect(await results(session.id)).toHaveLength(1);
    });

    it("stops a waiting turn", async () => {
      const { session, prompt } = await gated(PUSH);
      await platform.api.sessions.stop({ id: session.id });
      expect(await platform.promptIn(prompt.id, "settled")).toMatchObject({ outcome: "aborted" });
      expect(await approvals(session.id)).toEqual([]);
      expect(await results(session.id)).toHaveLength(1);
    });

    it("pauses a turn whose quota is used up, says until when, and continues by itself", async () => {
      const session = await open();
      const prompt = await platform.prompt(
        session.id,
        "FAIL 429 1\nHEADER retry-after 600\nSAY it came back",
      );
      const receipt = async () => (await platform.api.prompts.get({ id: prompt.id })).prompt;
      await expect.poll(async () => (await receipt()).waitingFor?.reason, PATIENT).toBe("quota");
      const { waitingFor } = await receipt();
      expect(Date.parse(waitingFor?.until ?? "")).toBeGreaterThan(Date.now() + 500_000);
      await platform.server.kernel.engine.store.transaction((tx) =>
        tx.execute({
          sql: `update runs set available_at = 0 where session_id = '${session.id}'`,
          parameters: [],
        }),
      );
      expect(await platform.promptIn(prompt.id, "settled")).toMatchObject({
        outcome: "completed",
        attempts: 1,
      });
    });
  });
}

story("approvals on sqlite", async () => undefined);
describe.skipIf(!postgresUrl)("with a PostgreSQL server", () => {
  story("approvals on postgres", createTestDatabase);
});
