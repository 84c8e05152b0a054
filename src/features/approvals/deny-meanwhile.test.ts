/** A rule made after a call was judged, and before it is performed, still holds for the call. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import type { ApiRoutes, BodyOf } from "#client/index.ts";
import { defineTool } from "#engine/tools/index.ts";
import { policy } from "#features/policy/index.ts";
import {
  asks,
  ended,
  member,
  owner,
  startWorld,
  type Turn,
  type World,
} from "#features/testing/index.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import type { Approval } from "./contract.ts";
import { approvals } from "./index.ts";

type NewRule = BodyOf<ApiRoutes["policy"]["create"]>;
/** Fields of a rule that differ from case to case. */
type RuleFields = Pick<NewRule, "pattern"> & Partial<NewRule>;

const ROUNDS = 10;

function suite(name: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(name, () => {
    let world: World;
    let made: TestDatabase | undefined;
    let posted: string[] = [];
    const post = defineTool({
      name: "post_note",
      description: "Posts a note.",
      schema: z.strictObject({ text: z.string() }),
      readOnly: false,
      target: ({ text }) => text,
      async handle(_work, _caller, { text }) {
        posted.push(text);
        return { output: "posted", error: null };
      },
    });
    beforeAll(async () => {
      made = await database();
      const tools = { name: "notes", tools: [post] };
      world = await startWorld([policy, approvals, tools], made?.url);
    });
    afterAll(async () => {
      await world.stop();
      await made?.drop();
    });

    const addRule = async (fields: RuleFields) => {
      const body = { level: "org", tool: "bash", effect: "deny", ...fields } as const;
      return (await world.as(owner).policy.create({ body })).rule.id;
    };
    const removeRule = (id: string) => world.as(owner).policy.delete({ id });
    const withRule = async (fields: RuleFields, act: (ruleId: string) => Promise<void>) => {
      const id = await addRule(fields);
      try {
        await act(id);
      } finally {
        await removeRule(id);
      }
    };
    const decide = (id: string, body: unknown, who = owner) =>
      world.call<{ approval: Approval }>(who, "POST", `/api/approvals/${id}`, body);
    const read = async (id: string) => (await world.as(owner).approvals.get({ id })).approval;

    async function park(tool = "bash", input: unknown = { command: "git push origin main" }) {
      const sessionId = await world.createSession();
      const turn = await world.startTurn(sessionId);
      expect(await turn.journal([asks("c1", tool, input)])).toMatchObject({
        c1: { verdict: "ask" },
      });
      await turn.journal([], { park: { kind: "gate", callId: "c1" } });
      const query = { state: "pending", session: sessionId } as const;
      const { items } = await world.as(owner).approvals.list({ query });
      return { sessionId, approval: items[0] as Approval };
    }
    const finish = (turn: Turn) =>
      turn.journal([ended("c1", "bash")], { settle: { outcome: "completed" } });

    it.each(["once", "session", "always"])(
      "wins over a yes (%s), and the person is told",
      async (scope) => {
        const { approval } = await park();
        await withRule({ pattern: "git push *", note: "Freeze." }, async (ruleId) => {
          await expect(decide(approval.id, { decision: "allow", scope })).rejects.toMatchObject({
            kind: "conflict",
            code: "denied_by_rule",
            message: expect.stringContaining(ruleId),
          });
          expect(await read(approval.id)).toMatchObject({
            state: "decided",
            decision: "deny",
            scope: "once",
            reason: expect.stringContaining("Freeze."),
            decidedBy: "system",
          });
          await expect(decide(approval.id, { decision: "allow" })).rejects.toMatchObject({
            code: "already_decided",
          });
          const turn = await world.nextTurn();
          expect(turn.assignment.decisions).toMatchObject([
            { callId: "c1", allowed: false, reason: expect.stringContaining("Freeze.") },
          ]);
          expect(turn.assignment.decisions[0]?.reason).not.toContain("The person did not allow");
          await finish(turn);
        });
        const rules = await world.as(owner).policy.list();
        expect(rules.items.filter(({ level }) => level === "user")).toEqual([]);
      },
    );

    it("holds for a no as before, and for a call that another rule is about", async () => {
      const { approval } = await park();
      await withRule({ pattern: "npm publish *" }, async () => {
        const { approval: decided } = (await decide(approval.id, { decision: "allow" })) as never;
        expect(decided).toMatchObject({ decision: "allow", decidedBy: "usr_1" });
        await finish(await world.nextTurn());
      });
    });

    it("wins when it is made while the turn pauses before the approved call", async () => {
      const { approval } = await park();
      await decide(approval.id, { decision: "allow" });
      const first = await world.nextTurn();
      expect(first.assignment.decisions).toMatchObject([{ allowed: true, fresh: true }]);
      await withRule({ pattern: "git push *" }, async () => {
        const pause = { kind: "pause" as const, code: "sandbox_missing", message: "Later." };
        await first.journal([], { park: { ...pause, waitMs: 0, notBegun: ["c1"] } });
        const next = await world.nextTurn();
        expect(next.assignment.decisions).toMatchObject([{ callId: "c1", allowed: false }]);
        await finish(next);
      });
    });

    it("wins when it is made between the approval and the resumed turn", async () => {
      const { approval, sessionId } = await park();
      // The runner gets the decision, dies before it begins, and the turn goes to the next attempt.
      await decide(approval.id, { decision: "allow" });
      const first = await world.nextTurn();
      expect(first.assignment.decisions).toMatchObject([{ allowed: true, fresh: true }]);
      await withRule({ pattern: "git push *" }, async () => {
        await first.release(false);
        const next = await world.nextTurn();
        expect(next.assignment.sessionId).toBe(sessionId);
        expect(next.assignment.decisions).toMatchObject([{ callId: "c1", allowed: false }]);
        await finish(next);
      });
      expect(await read(approval.id)).toMatchObject({ decision: "deny" });
    });

    it("wins over a journaled verdict that was not acted on when the turn resumes", async () => {
      const sessionId = await world.createSession();
      const turn = await world.startTurn(sessionId);
      const calls = [
        asks("c0", "bash", { command: "sleep 1" }),
        asks("c1", "bash", { command: "ls" }),
      ];
      expect(await turn.journal(calls)).toMatchObject({ c1: { verdict: "allow" } });
      await withRule({ pattern: "ls*" }, async (ruleId) => {
        await turn.release();
        const next = await world.nextTurn();
        expect(next.assignment.decisions).toMatchObject([
          { callId: "c1", allowed: false, reason: expect.stringContaining(ruleId) },
        ]);
        await finish(next);
      });
    });

    it("wins over a verdict of a call that waits for the one before it", async () => {
      const sessionId = await world.createSession();
      const turn = await world.startTurn(sessionId);
      const calls = [
        asks("c0", "bash", { command: "sleep 1" }),
        asks("c1", "bash", { command: "ls" }),
      ];
      expect(await turn.journal(calls)).toMatchObject({ c1: { verdict: "allow" } });
      await withRule({ pattern: "ls*" }, async () => {
        const result = { ...ended("c0", "bash"), recheck: ["c1"] } as never;
        expect(await turn.journal([result])).toMatchObject({ c1: { verdict: "deny" } });
        await finish(turn);
      });
    });

    it("wins over a call of a tool of the server that was judged before", async () => {
      posted = [];
      const turn = await world.startTurn(await world.createSession());
      expect(await turn.journal([asks("c1", "post_note", { text: "a" })])).toMatchObject({
        c1: { verdict: "allow" },
      });
      await withRule({ tool: "post_note", pattern: "*" }, async (ruleId) => {
        expect(await turn.sendTool("c1", "post_note", { text: "a" })).toMatchObject({
          op: "tool_result",
          error: expect.stringContaining(ruleId),
        });
      });
      expect(posted).toEqual([]);
      await finish(turn);
    });

    it("is never lost when the approval and the rule are made at the same time", {
      timeout: 60_000,
    }, async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const { approval } = await park();
        // A runner continues the turn at once, so the verdict that the runner gets is what counts.
        const [said, rule] = await Promise.allSettled([
          decide(approval.id, { decision: "allow" }),
          addRule({ pattern: "git push *" }),
        ]);
        expect(rule.status).toBe("fulfilled");
        const first = await world.nextTurn();
        const [told] = first.assignment.decisions;
        if (said.status === "rejected") expect(told?.allowed).toBe(false);
        // Whatever verdict the first attempt got, the next one after the rule gets a denial.
        await first.release(false);
        const next = await world.nextTurn();
        expect(next.assignment.decisions[0]?.allowed).toBe(false);
        await finish(next);
        if (rule.status === "fulfilled") await removeRule(rule.value);
      }
    });

    it("is for the owner alone, rule or not", async () => {
      const { approval } = await park();
      await withRule({ pattern: "git push *" }, async () => {
        await expect(decide(approval.id, { decision: "allow" }, member)).rejects.toMatchObject({
          code: "not_found",
        });
        expect(await read(approval.id)).toMatchObject({ state: "pending" });
      });
      await decide(approval.id, { decision: "deny" });
      await finish(await world.nextTurn());
    });
  });
}

suite("a rule that comes meanwhile on sqlite", async () => undefined);
describe.skipIf(!postgresUrl)("with a server", () => {
  suite("a rule that comes meanwhile on postgres", createTestDatabase);
});
