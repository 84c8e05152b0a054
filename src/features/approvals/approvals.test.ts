import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ApiRoutes, QueryOf } from "#client/index.ts";
import { policy } from "#features/policy/index.ts";
import {
  asks,
  ended,
  member,
  owner,
  startWorld,
  stranger,
  type Turn,
  type World,
} from "#features/testing/index.ts";
import type { JournalItem } from "#protocol/events.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import type { Approval } from "./contract.ts";
import { approvals } from "./index.ts";

const DAY_MS = 24 * 60 * 60_000;

function suite(name: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(name, () => {
    let world: World;
    let made: TestDatabase | undefined;
    beforeAll(async () => {
      made = await database();
      world = await startWorld([policy, approvals], made?.url);
    });
    afterAll(async () => {
      await world.stop();
      await made?.drop();
    });

    const list = (query: QueryOf<ApiRoutes["approvals"]["list"]> = {}, who = owner) =>
      world.as(who).approvals.list({ query });
    const decide = async (id: string, body: unknown, who: Parameters<World["call"]>[0] = owner) =>
      (await world.call<{ approval: Approval }>(who, "POST", `/api/approvals/${id}`, body))
        .approval;
    const get = async (id: string, who = owner) =>
      (await world.as(who).approvals.get({ id })).approval;

    /** Runs a turn that asks for something and is parked. */
    async function park(
      tool: string,
      input: unknown,
      sessionId?: string,
      cwd?: string,
    ): Promise<{ turn: Turn; approval: Approval; sessionId: string }> {
      const session = sessionId ?? (await world.createSession());
      const turn = await world.startTurn(session);
      const item = { ...asks("c1", tool, input), ...(cwd === undefined ? {} : { cwd }) };
      expect(await turn.journal([item as JournalItem])).toMatchObject({ c1: { verdict: "ask" } });
      await turn.journal([], { park: { kind: "gate", callId: "c1" } });
      const [approval] = (await list({ state: "pending", session })).items;
      return { turn, approval: approval as Approval, sessionId: session };
    }
    const push = { command: "git push origin main" };

    /** Ends a turn that continues after a decision. */
    async function goOn() {
      const turn = await world.nextTurn();
      await turn.journal([ended("c1", "bash")], { settle: { outcome: "completed" } });
      return turn.assignment.decisions;
    }

    it("shows the request, takes the decision once, and resumes the turn with it", async () => {
      const { approval, sessionId } = await park("bash", push);
      expect(approval).toMatchObject({
        kind: "approval",
        sessionId,
        tool: "bash",
        target: "git push origin main",
        shown: { tool: "bash", input: push },
        state: "pending",
        decision: null,
        decidedBy: null,
        rulePreview: {
          level: "user",
          tool: "bash",
          pattern: "git push origin main",
          match: "exact",
        },
      });
      expect(Date.parse(approval.expiresAt) - Date.parse(approval.askedAt)).toBe(DAY_MS);
      expect(await decide(approval.id, { decision: "allow" })).toMatchObject({
        state: "decided",
        decision: "allow",
        scope: "once",
        decidedBy: "usr_1",
      });
      expect(await goOn()).toMatchObject([{ callId: "c1", allowed: true, fresh: true }]);
      await expect(decide(approval.id, { decision: "deny" })).rejects.toMatchObject({
        code: "already_decided",
      });
      expect((await get(approval.id)).decision).toBe("allow");
      expect((await list({ state: "decided", session: sessionId })).items).toHaveLength(1);
      expect((await list({ state: "pending", session: sessionId })).items).toHaveLength(0);
    });

    it("tells the model what the person said", async () => {
      const { approval } = await park("bash", push);
      await decide(approval.id, { decision: "deny", reason: "Not on a Friday." });
      const [decision] = await goOn();
      expect(decision).toMatchObject({
        allowed: false,
        reason: expect.stringContaining("Not on a Friday."),
      });
    });

    it("is for the owner, in person", async () => {
      const { approval, sessionId } = await park("bash", push);
      const agent = {
        kind: "session",
        orgId: "org_1",
        sessionId,
        ownerId: "usr_1",
        name: "a",
      } as const;
      const system = { kind: "system", orgId: "org_1", name: "s" } as const;
      for (const who of [agent, system])
        await expect(decide(approval.id, { decision: "allow" }, who)).rejects.toMatchObject({
          code: "people_only",
        });
      for (const who of [member, stranger, { ...owner, scopes: ["sessions:read"] }])
        await expect(decide(approval.id, { decision: "allow" }, who)).rejects.toMatchObject({
          code: "not_found",
        });
      for (const who of [member, stranger])
        await expect(get(approval.id, who)).rejects.toMatchObject({ code: "not_found" });
      expect((await list({}, member)).items).toEqual([]);
      await expect(decide("apr_none", { decision: "allow" })).rejects.toMatchObject({
        code: "not_found",
      });
      expect((await get(approval.id)).state).toBe("pending");
      await decide(approval.id, { decision: "deny" });
      await goOn();
    });

    it("holds for the session, or always, as a rule of exactly this", async () => {
      const first = await park("bash", { command: "git push a" });
      await decide(first.approval.id, { decision: "allow", scope: "session" });
      await goOn();
      const verdict = async (sessionId: string, command: string) => {
        const turn = await world.startTurn(sessionId);
        const verdicts = await turn.journal([asks("c9", "bash", { command })]);
        await turn.journal([], { settle: { outcome: "completed" } });
        return verdicts.c9?.verdict;
      };
      const elsewhere = await world.createSession();
      expect(await verdict(first.sessionId, "git push a")).toBe("allow");
      expect(await verdict(first.sessionId, "git push a b")).toBe("ask");
      expect(await verdict(elsewhere, "git push a")).toBe("ask");

      const second = await park("bash", { command: "git push *" });
      await decide(second.approval.id, { decision: "allow", scope: "always" });
      await goOn();
      expect(await verdict(elsewhere, "git push *")).toBe("allow");
      expect(await verdict(elsewhere, "git push x")).toBe("ask");

      const third = await park("bash", { command: "git push b" });
      await decide(third.approval.id, { decision: "deny", scope: "always" });
      await goOn();
      expect(await verdict(elsewhere, "git push b")).toBe("deny");
    });

    it("makes a standing approval only for foreground commands at the top of the workspace", async () => {
      const command = "git push elsewhere";
      for (const [input, cwd] of [
        [{ command }, "/workspace/sub"],
        [{ command, background: true }, undefined],
      ] as const) {
        const { approval, sessionId } = await park("bash", input, undefined, cwd);
        expect(approval.rulePreview).toBeNull();
        expect(approval.shown).toMatchObject({ cwd: cwd ?? null });
        for (const scope of ["session", "always"])
          await expect(decide(approval.id, { decision: "allow", scope })).rejects.toMatchObject({
            code: "scope_not_possible",
          });
        await decide(approval.id, { decision: "allow" });
        await goOn();
        const again = await park("bash", input, sessionId, cwd);
        // A denial may stand: it holds everywhere.
        await decide(again.approval.id, { decision: "deny", scope: "session" });
        await goOn();
        const turn = await world.startTurn(sessionId);
        expect(await turn.journal([asks("c1", "bash", { command })])).toMatchObject({
          c1: { verdict: "deny" },
        });
        await turn.journal([], { settle: { outcome: "completed" } });
      }
    });

    it("does not apply an approval for the top folder to another folder", async () => {
      const input = { command: "git push top" };
      const { approval, sessionId } = await park("bash", input);
      await decide(approval.id, { decision: "allow", scope: "session" });
      await goOn();
      const elsewhere = await park("bash", input, sessionId, "/workspace/sub");
      await decide(elsewhere.approval.id, { decision: "deny" });
      await goOn();
    });

    it("makes no rule for a decision that came too late", async () => {
      const { approval } = await park("bash", { command: "git push late" });
      await decide(approval.id, { decision: "deny" });
      await goOn();
      await expect(
        decide(approval.id, { decision: "allow", scope: "always" }),
      ).rejects.toMatchObject({ code: "already_decided" });
      const rules = await world.as(owner).policy.list();
      expect(rules.items.map(({ pattern }) => pattern)).not.toContain("git push late");
    });

    it("takes answers to questions, one for each, among the options", async () => {
      const questions = [
        {
          question: "Which colour?",
          options: [{ label: "red" }, { label: "blue" }],
          freeText: false,
        },
        {
          question: "Which sizes?",
          options: [{ label: "S" }, { label: "L" }],
          multiple: true,
          freeText: false,
        },
        { question: "Anything else?" },
      ];
      const { approval } = await park("ask_user_question", { questions });
      expect(approval).toMatchObject({ kind: "question", target: null, rulePreview: null });
      const { id } = approval;
      for (const [body, code] of [
        [{ answers: ["red", "S"] }, "answers_invalid"],
        [{ answers: ["green", "S", "no"] }, "answers_invalid"],
        [{ answers: ["red", "S\nM", "no"] }, "answers_invalid"],
        [{ answers: ["red", "S", "  "] }, "answers_invalid"],
        [{ answers: ["red", "S", "no"], scope: "always" }, "scope_not_possible"],
        [{ decision: "allow" }, "answers_missing"],
        [{ decision: "deny", scope: "session" }, "scope_not_possible"],
      ] as const)
        await expect(decide(id, body)).rejects.toMatchObject({ code });
      for (const body of [
        {},
        { answers: ["a"], decision: "allow" },
        { answers: ["x".repeat(4_001)] },
        { decision: "maybe" },
      ])
        await expect(decide(id, body)).rejects.toThrow();
      const answers = ["blue", "S\nL", "no, thanks"];
      expect(await decide(id, { answers })).toMatchObject({ decision: "allow", answers });
      const turn = await world.nextTurn();
      expect(turn.assignment.decisions).toMatchObject([{ callId: "c1", allowed: true, answers }]);
      await turn.journal([], { settle: { outcome: "completed" } });
      const plain = await park("bash", push);
      await expect(decide(plain.approval.id, { answers: ["x"] })).rejects.toMatchObject({
        code: "not_a_question",
      });
      await decide(plain.approval.id, { decision: "deny" });
      await goOn();
    });

    it("lists in pages, newest first", async () => {
      const sessionId = await world.createSession();
      const ids: string[] = [];
      for (let at = 0; at < 3; at++) {
        const { approval } = await park("bash", { command: `git push p${at}` }, sessionId);
        ids.unshift(approval.id);
        await decide(approval.id, { decision: "deny" });
        await goOn();
      }
      const page = { session: sessionId, limit: 2 };
      const first = await list(page);
      const second = await list({ ...page, cursor: first.next ?? "" });
      const seen = [...first.items, ...second.items].map(({ id }) => id);
      expect(new Set(seen)).toEqual(new Set(ids));
      expect(second.next).toBeNull();
    });

    it("sends a hint to the owner's pages", async () => {
      const hints: string[] = [];
      const leave = world.kernel.engine.announcer.onHint("user:usr_1", ({ type, id }) => {
        if (type === "approval") hints.push(id);
      });
      const { approval } = await park("bash", push);
      await expect.poll(() => hints).toEqual([approval.id]);
      await decide(approval.id, { decision: "deny" });
      await expect.poll(() => hints).toEqual([approval.id, approval.id]);
      leave();
      await goOn();
    });

    it.skipIf(name.includes("PostgreSQL"))(
      "can still be answered when the server was down as its time ran out",
      async () => {
        const { approval } = await park("bash", push);
        world.clock.advance(DAY_MS + 60 * 60_000);
        await world.kernel.sweeps.tick();
        const { items } = await list({ state: "pending" });
        expect(items.map(({ id }) => id)).toEqual([approval.id]);
        await decide(approval.id, { decision: "deny" });
        await goOn();
      },
    );

    it.skipIf(name.includes("PostgreSQL"))("is a no when nobody answers in time", async () => {
      const { approval } = await park("bash", push);
      world.clock.advance(DAY_MS + 1);
      await expect(decide(approval.id, { decision: "allow" })).rejects.toMatchObject({
        code: "approval_expired",
      });
      await world.kernel.sweeps.tick();
      expect((await list({ state: "expired" })).items.map(({ id }) => id)).toEqual([approval.id]);
      await expect(decide(approval.id, { decision: "allow" })).rejects.toMatchObject({
        code: "approval_expired",
      });
    });
  });
}

suite("on SQLite", async () => undefined);
describe.skipIf(!postgresUrl)("with a server", () => {
  suite("on PostgreSQL", createTestDatabase);
});
