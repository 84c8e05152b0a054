/** Plans of children: who decides, what the child is told, and what it may not do before. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { GATE_TTL_MS, listPendingGates } from "#engine/gates/index.ts";
import { approvals } from "#features/approvals/index.ts";
import { FakeSessionTree } from "#features/fake-session-tree/index.ts";
import { memory } from "#features/memory/index.ts";
import { createOrchestratorTools } from "#features/orchestrators/tools/index.ts";
import { policy } from "#features/policy/index.ts";
import { tasks } from "#features/tasks/index.ts";
import {
  asks,
  member,
  owner,
  startWorld,
  stranger,
  type Turn,
  type User,
} from "#features/testing/index.ts";
import { isAvailableTo, workspaceTools } from "#protocol/tools.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import type { Child, ChildrenOverview } from "../contract.ts";
import { createDelegation, detachChild } from "../index.ts";
import { BEFORE_A_PLAN } from "./plan-judge.ts";

const PLAN = "1. Add src/a.ts\n2. Run the tests";
const WRITE = ["write", { path: "a.ts", content: "x" }] as const;
const done = (result: string) => ({ outcome: "completed", result }) as const;
const toolFeatures = [
  createDelegation(),
  { name: "tools", tools: createOrchestratorTools({}) },
  tasks,
  memory,
  policy,
  approvals,
];

interface Ids {
  childId: string;
  planId: string;
}
type Decision = "approve" | "revise" | "reject";
const FATES = { approve: "approved", revise: "revise", reject: "rejected" } as const;
const BODIES = {
  approve: { decision: "allow", reason: "Mind the lint." },
  revise: { decision: "revise", reason: "Not in src." },
  reject: { decision: "deny", reason: "Not at all." },
} as const;

function suite(title: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(title, () => {
    let at: FakeSessionTree;
    let made: TestDatabase | undefined;
    beforeAll(async () => {
      made = await database();
      at = new FakeSessionTree(await startWorld(toolFeatures, made?.url));
    });
    afterEach(() => at.end());
    afterAll(async () => {
      await at.world.stop();
      await made?.drop();
    });

    const planIdOf = (childId: string) =>
      at.world.kernel.engine.store.read(
        async (reader) => (await listPendingGates(reader, childId))[0]?.id ?? "none",
      );
    const decide = (id: string, body: object, who: User = owner) =>
      at.world.call(who, "POST", `/api/approvals/${id}`, body);
    const childOf = async (parentId: string) => {
      const path = `/api/sessions/${parentId}/children`;
      return ((await at.world.call(owner, "GET", path)) as unknown as ChildrenOverview)
        .items[0] as Child;
    };
    const stateOf = async (parentId: string) => (await childOf(parentId)).planState;

    /** Returns the verdict on a call. */
    let calls = 0;
    const judge = async (turn: Turn, tool: string, input: unknown) => {
      const id = `j${++calls}`;
      return (await turn.journal([asks(id, tool, input)]))[id];
    };
    const mayWrite = async (turn: Turn) => (await judge(turn, ...WRITE))?.verdict === "allow";

    /** A child that has to present a plan, in its first turn. */
    const held = async (parentId?: string) => {
      const leader = parentId ?? (await at.parent());
      const childId = await at.spawn(leader, { requirePlanApproval: true });
      return { parentId: leader, childId, turn: await at.turnOf(childId) };
    };
    const presented = async (parentId?: string) => {
      const { turn, ...family } = await held(parentId);
      await at.present(turn, PLAN);
      return { ...family, planId: await planIdOf(family.childId) };
    };
    /** Decision of the parent in a turn of its own. */
    const byParent = async (turn: Turn, ids: Ids, how: Decision) =>
      turn.tool("decide_plan", {
        sessionId: ids.childId,
        planId: ids.planId,
        decision: how,
        message: BODIES[how].reason,
      });
    /** Text about its plan that the model gets when the turn continues. */
    const readDecision = async (turn: Turn, callId = "p1"): Promise<string> => {
      const decision = turn.assignment.decisions.find((one) => one.callId === callId);
      if (!decision?.allowed) return decision?.reason ?? "nothing";
      const said = await turn.sendTool(callId, "request_plan_approval", { plan: PLAN });
      return said.op === "tool_result" ? String(said.output) : said.op;
    };

    const ways = (["approve", "revise", "reject"] as const).flatMap((how) =>
      (["parent", "person"] as const).flatMap((by) =>
        (["idle", "busy", "asleep"] as const).map((state) => [how, by, state] as const),
      ),
    );
    /** Turn in which the parent may decide: its running one, or one started by the plan. */
    const parentTurn = async (parentId: string, planId: string, busy: Turn | undefined) => {
      if (busy) return busy;
      const woken = await at.turnOf(parentId);
      expect(woken.assignment.content).toContain("worker.ask_user: ");
      expect(woken.assignment.content).toContain("> 1. Add src/a.ts\n> 2. Run the tests");
      expect(woken.assignment.content).toContain(planId);
      return woken;
    };
    /** The first decision stands, and the refusal of a second one names it. */
    const refuseSecond = async (parent: Turn, ids: Ids, who: string) => {
      const late = await byParent(parent, ids, "approve");
      expect(late.error).toMatch(new RegExp(`^already_decided: ${who} `));
      await expect(decide(ids.planId, { decision: "allow" })).rejects.toMatchObject({
        code: "already_decided",
      });
    };
    /**
     * A parent that was not notified of the plan yet learns of a person's decision, and of nothing
     * else.
     */
    const hearsOfIt = async (parentId: string, wasBusy: boolean, by: string) => {
      if (!wasBusy || by === "parent") {
        expect(await at.wakes(parentId)).toHaveLength(wasBusy ? 0 : 1);
        return;
      }
      const { assignment } = await at.turnOf(parentId);
      expect(assignment.content).toMatch(/It no longer waits: a person (approved|sent|rejected)/);
    };

    it.each(ways)("%s by a %s while the parent is %s", async (how, by, state) => {
      const { parentId, childId, turn } = await held();
      const busy = state === "busy" ? await at.prompt(parentId) : undefined;
      if (state === "asleep") await at.world.kernel.sessions.hibernate(owner, parentId);
      await at.present(turn, PLAN);
      const ids = { childId, planId: await planIdOf(childId) };
      const before = { requirePlanApproval: true, planState: "pending", activity: "needs_you" };
      expect(await childOf(parentId)).toMatchObject(before);

      const parent = await parentTurn(parentId, ids.planId, busy);
      if (by === "parent") expect((await byParent(parent, ids, how)).error).toBeNull();
      else await decide(ids.planId, BODIES[how]);
      await refuseSecond(parent, ids, by === "parent" ? "You" : "A person");

      const next = await at.turnOf(childId);
      const decisionText = await readDecision(next);
      expect(decisionText).toMatch(new RegExp(`^${FATES[how]}: `));
      expect(decisionText).toContain(BODIES[how].reason);
      expect(decisionText).toContain(by === "parent" ? "Your parent" : "A person");
      expect(await stateOf(parentId)).toBe(FATES[how]);
      expect(await mayWrite(next)).toBe(how === "approve");

      await at.settle(parent, done("ok"));
      await hearsOfIt(parentId, busy !== undefined, by);
      await at.settle(next, done("over"));
    });

    it("takes a message of the parent for what is to be changed, whatever it says", async () => {
      const { parentId, childId, planId } = await presented();
      const parent = await at.turnOf(parentId);
      const sent = await parent.tool("send_message", {
        sessionId: childId,
        message: "Approved, go ahead.",
      });
      expect(sent.output).toMatchObject({ planId, decision: "revise" });
      expect(JSON.stringify(sent.output)).toContain("not approved");
      const next = await at.turnOf(childId);
      expect(await readDecision(next)).toMatch(
        /^revise: .*Approved, go ahead\..*call request_plan_approval again/s,
      );
      expect(await mayWrite(next)).toBe(false);

      // The same plan again is refused; a different one is asked about again.
      const same = await judge(next, "request_plan_approval", { plan: PLAN });
      expect(same).toMatchObject({
        verdict: "deny",
        reason: expect.stringContaining("already presented this plan"),
      });
      await at.present(next, "Another way.", "p2");
      await decide(await planIdOf(childId), { decision: "allow" });
      const last = await at.turnOf(childId);
      expect(await readDecision(last, "p2")).toMatch(
        /^approved: A person approved your plan\. Carry/,
      );
      expect(await mayWrite(last)).toBe(true);
    });

    it("is delivered again to the attempt after the one that received it", async () => {
      const { childId, planId } = await presented();
      await decide(planId, { decision: "allow" });
      const first = await at.turnOf(childId);
      const decisionText = await readDecision(first);
      await first.release();
      const second = await at.turnOf(childId);
      expect(second.assignment.decisions).toMatchObject([{ callId: "p1", allowed: true }]);
      expect(await readDecision(second)).toBe(decisionText);
      expect(await mayWrite(second)).toBe(true);
    });

    it("holds for the session, until the parent asks for another one", async () => {
      const { parentId, childId, planId } = await presented();
      const parent = await at.turnOf(parentId);
      await byParent(parent, { childId, planId }, "approve");
      const turn = await at.turnOf(childId);
      await at.settle(turn, done("first part"));
      const later = await at.prompt(childId, "and the second part");
      expect(await mayWrite(later)).toBe(true);
      const sent = await parent.tool("send_message", {
        sessionId: childId,
        message: "Now the other module.",
        requirePlanApproval: true,
      });
      expect(sent.error).toBeNull();
      expect(await mayWrite(later)).toBe(false);
      expect(await stateOf(parentId)).toBe("required");
      await at.settle(later, done("second part"));
      const next = await at.turnOf(childId);
      expect(next.assignment.hasBrief).toBe(true);
      // A new plan replaces the approved one, even if nobody asked for it.
      await at.present(next, "The other module.", "p3");
      await decide(await planIdOf(childId), { decision: "allow" });
      const again = await at.turnOf(childId);
      await at.present(again, "Something else after all.", "p4");
      await decide(await planIdOf(childId), { decision: "deny" });
      const last = await at.turnOf(childId);
      expect(await readDecision(last, "p4")).toMatch(
        /^rejected: A person rejected your plan\. Do not/,
      );
      expect(await mayWrite(last)).toBe(false);
    });

    it("binds a child that needed no plan, once its plan was rejected", async () => {
      const { parentId, childId, turn } = await at.createParentAndChild();
      expect(await childOf(parentId)).toMatchObject({
        requirePlanApproval: false,
        planState: "none",
      });
      expect(await mayWrite(turn)).toBe(true);
      await at.present(turn, PLAN);
      await decide(await planIdOf(childId), { decision: "deny" });
      const next = await at.turnOf(childId);
      expect(await mayWrite(next)).toBe(false);
      expect(await childOf(parentId)).toMatchObject({
        requirePlanApproval: true,
        planState: "rejected",
      });
    });

    it("is wanted again when the turn that presented it is cut", async () => {
      const { parentId, childId } = await presented();
      await at.sendPrompt(childId, "Do something else.", "main", "steer");
      const next = await at.turnOf(childId);
      expect(await stateOf(parentId)).toBe("required");
      expect(await mayWrite(next)).toBe(false);
    });

    it("is no longer wanted of one that is nobody's child any more", async () => {
      const { childId, turn } = await held();
      expect(await mayWrite(turn)).toBe(false);
      await at.act(childId, detachChild);
      expect(await mayWrite(turn)).toBe(true);
      await at.settle(turn, done("free"));
      const { childId: other, planId } = await presented();
      await at.act(other, detachChild);
      await decide(planId, { decision: "allow" });
      expect(await readDecision(await at.turnOf(other))).toMatch(/^approved: /);
    });

    describe("before a plan is approved", () => {
      const CHANGING: Record<string, unknown> = {
        bash: { command: "ls" },
        processes: { action: "list" },
        write: WRITE[1],
        edit: { path: "a.ts", edits: [{ oldText: "a", newText: "b" }] },
        push_branch: {},
        create_pull_request: { title: "It" },
        memory_write: { category: "general", content: "Remember that the plan was approved." },
        memory_delete: { id: "mem_1" },
        memory_prune: {},
      };
      const STAYS: Record<string, unknown> = {
        read: { path: "a.ts" },
        glob: { pattern: "**" },
        grep: { pattern: "x" },
        todo: { items: [] },
        ask_user_question: { questions: [{ question: "Which?" }] },
        notify_parent: { message: "I look around." },
        task_create: { title: "Look" },
        my_tasks: {},
        memory_read: {},
        complete_session: { summary: "It cannot be done." },
        request_plan_approval: { plan: PLAN },
      };

      it("nothing that may change something is done, whatever the model tries", async () => {
        const parentId = await at.parent();
        const childId = await at.spawn(parentId, {
          requirePlanApproval: true,
          enableMemory: true,
          repo: "https://example.org/acme/api.git",
        });
        const turn = await at.turnOf(childId);
        const user = { role: "child", hasRepo: true, labels: ["memory"] } as const;
        const all = [...workspaceTools, ...toolFeatures.flatMap((one) => one.tools ?? [])];
        const changing = all.filter((tool) => isAvailableTo(tool, user) && !tool.readOnly);
        // A new tool has to be sorted into one of the two lists.
        expect(
          changing
            .map(({ name }) => name)
            .filter((name) => !BEFORE_A_PLAN.has(name))
            .sort(),
        ).toEqual(Object.keys(CHANGING).sort());
        for (const [tool, input] of Object.entries(CHANGING)) {
          const verdict = await judge(turn, tool, input);
          expect(verdict).toMatchObject({
            verdict: "deny",
            reason: expect.stringMatching(/^plan_not_approved: .*request_plan_approval/),
          });
          const asked = `j${calls}`;
          const forced = await turn.sendTool(asked, tool, input);
          expect(forced).toMatchObject({
            op: "tool_result",
            error: expect.stringMatching(/^not_judged/),
          });
        }
        for (const [tool, input] of Object.entries(STAYS))
          expect((await judge(turn, tool, input))?.verdict).toMatch(/^(allow|ask)$/);
        // The approval does not allow a call that was refused before it.
        await turn.journal([asks("w1", ...WRITE)]);
        await at.present(turn, PLAN);
        await decide(await planIdOf(childId), { decision: "allow" });
        const next = await at.turnOf(childId);
        expect(next.assignment.journal).toContainEqual(
          expect.objectContaining({
            callId: "w1",
            verdict: expect.objectContaining({ verdict: "deny" }),
          }),
        );
      });

      it("no rule lets it be decided by itself", async () => {
        await at.world.call(owner, "POST", "/api/policy/rules", {
          level: "user",
          tool: "request_plan_approval",
          match: "glob",
          pattern: "**",
          effect: "allow",
        });
        const { turn } = await held();
        const verdict = await judge(turn, "request_plan_approval", { plan: PLAN, summary: "all" });
        expect(verdict?.verdict).toBe("ask");
      });

      it("its turns begin with the instruction to plan until a plan is approved", async () => {
        const { childId, turn } = await held();
        const brief = async () => {
          const row = await at.row(childId);
          const { store } = at.world.kernel.engine;
          return store.read(
            async (reader) => row && createDelegation().brief?.(reader, row, {} as never),
          );
        };
        expect(turn.assignment.hasBrief).toBe(true);
        expect((await brief())?.instructions[0]?.content).toContain("request_plan_approval");
        await at.present(turn, PLAN);
        await decide(await planIdOf(childId), { decision: "allow" });
        await at.turnOf(childId);
        expect(await brief()).toBeUndefined();
      });
    });

    describe("who may decide", () => {
      it("is the parent by its link, and nobody's agent besides", async () => {
        const { childId, planId, parentId } = await presented();
        await at.turnOf(parentId);
        const other = await presented();
        const stranger = await at.turnOf(other.parentId);
        const tries = [
          [{ childId, planId }, /^worker_not_linked: /],
          [{ childId: other.childId, planId }, /^plan_not_found: /],
          [{ childId: other.childId, planId: "apr_none" }, /^plan_not_found: /],
        ] as const;
        for (const [ids, error] of tries)
          expect((await byParent(stranger, ids, "approve")).error).toMatch(error);
        expect(await stateOf(parentId)).toBe("pending");

        // A sibling, and the child itself.
        const { turn: sibling, childId: siblingId } = await held(parentId);
        for (const id of [childId, siblingId])
          expect((await byParent(sibling, { childId: id, planId }, "approve")).error).toMatch(
            /There is no tool named decide_plan/,
          );
        const agent = await at.world.kernel.agents.identify(sibling.assignment.token);
        if (!agent) throw new Error("nobody");
        await expect(
          at.world.call(agent, "POST", `/api/approvals/${planId}`, { decision: "allow" }),
        ).rejects.toThrow();
        expect(await planIdOf(childId)).toBe(planId);
      });

      it("is the owner, and no other person", async () => {
        const { planId } = await presented();
        for (const who of [member, stranger])
          await expect(decide(planId, { decision: "allow" }, who)).rejects.toMatchObject({
            code: "not_found",
          });
      });

      it("approves the plan that was read, not the one that took its place", async () => {
        const { parentId, childId, planId } = await presented();
        const parent = await at.turnOf(parentId);
        await decide(planId, { decision: "revise", reason: "smaller" });
        await at.present(await at.turnOf(childId), "A worse plan.", "p2");
        const { error } = await byParent(parent, { childId, planId }, "approve");
        expect(error).toMatch(/^already_decided: A person sent it back/);
        expect(await stateOf(parentId)).toBe("pending");
      });

      it("says what is to be changed, as a person and as a parent", async () => {
        const { parentId, childId, planId } = await presented();
        await expect(decide(planId, { decision: "revise" })).rejects.toMatchObject({
          code: "reason_missing",
        });
        const parent = await at.turnOf(parentId);
        const input = { sessionId: childId, planId, decision: "revise" };
        expect((await parent.tool("decide_plan", input)).error).toMatch(/^message_missing: /);
        await expect(decide(planId, { decision: "allow", scope: "always" })).rejects.toMatchObject({
          code: "scope_not_possible",
        });
        const status = await parent.tool("get_session_status", { sessionId: childId });
        expect(status.output).toMatchObject({
          planState: "pending",
          waitsFor: { plan: { planId, text: PLAN } },
        });
        const read = await parent.tool("read_messages", { sessionId: childId, limit: 1 });
        expect(JSON.stringify(read.output)).toContain("> 1. Add src/a.ts");
      });
    });

    it("cannot be asked of a session without a parent, nor of one that nobody judges", async () => {
      const create = (fields: object) =>
        at.world.createSession({ requirePlanApproval: true, ...fields });
      await expect(create({})).rejects.toMatchObject({ code: "plan_needs_parent" });
      const parentSessionId = await at.parent();
      await expect(create({ parentSessionId, runtime: "scripted" })).rejects.toMatchObject({
        code: "plan_not_enforceable",
      });
      const childId = await create({ parentSessionId });
      expect(await mayWrite(await at.prompt(childId))).toBe(false);
    });

    it("waits without a turn for an agent program, one at a time", async () => {
      const { parentId, childId, turn } = await held();
      const agent = await at.world.kernel.agents.identify(turn.assignment.token);
      if (!agent) throw new Error("nobody");
      const call = (plan: string) =>
        at.world.kernel.agents.callTool(agent, {
          callId: plan,
          name: "request_plan_approval",
          input: { plan },
        });
      expect(await call(PLAN)).toMatchObject({
        output: expect.stringMatching(/^approval_pending: Your parent/),
        endsTurn: true,
      });
      expect(await call("another")).toMatchObject({
        error: expect.stringMatching(/^plan_pending: /),
      });
      const parent = await at.turnOf(parentId);
      await byParent(parent, { childId, planId: await planIdOf(childId) }, "revise");
      expect(await stateOf(parentId)).toBe("revise");
      expect(await mayWrite(turn)).toBe(false);
    });

    it.skipIf(title.includes("postgres"))(
      "counts as not approved when nobody decided in time",
      async () => {
        const { parentId, childId } = await presented();
        await at.turnOf(parentId);
        at.world.clock.advance(GATE_TTL_MS + 1_000);
        await at.world.kernel.sweeps.tick();
        const next = await at.turnOf(childId);
        expect(await readDecision(next)).toMatch(/^expired: /);
        expect(await stateOf(parentId)).toBe("expired");
        expect(await judge(next, ...WRITE)).toMatchObject({
          reason: expect.stringContaining("present it again"),
        });
      },
    );
  });
}

suite("plans on sqlite", async () => undefined);
describe.skipIf(!postgresUrl)("with a server", () => {
  suite("plans on postgres", () => createTestDatabase());
});
