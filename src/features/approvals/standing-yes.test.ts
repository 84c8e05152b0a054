/**
 * Decisions that hold longer than once: which waiting and later calls they cover. The attacks are an
 * agent's: a child, a sibling, a grandchild, another project, other arguments, a guest's turn.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createDelegation, detachChild } from "#features/delegation/index.ts";
import { FakeSessionTree } from "#features/fake-session-tree/index.ts";
import { policy } from "#features/policy/index.ts";
import { asks, owner, startWorld, type Turn } from "#features/testing/index.ts";
import type { JournalItem } from "#protocol/events.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import type { Approval } from "./contract.ts";
import { approvals } from "./index.ts";

const PUSH = { command: "git push origin main" };

function suite(name: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(name, () => {
    let at: FakeSessionTree;
    let made: TestDatabase | undefined;
    beforeAll(async () => {
      made = await database();
      at = new FakeSessionTree(
        await startWorld([createDelegation({ maxDepth: 2 }), policy, approvals], made?.url),
      );
    });
    afterEach(() => at.end());
    afterAll(async () => {
      await at.world.stop();
      await made?.drop();
    });

    let calls = 0;
    const judge = async (turn: Turn, tool: string, input: unknown, cwd?: string) => {
      const id = `c${++calls}`;
      const item = { ...asks(id, tool, input), ...(cwd === undefined ? {} : { cwd }) };
      return { id, verdict: (await turn.journal([item as JournalItem]))[id]?.verdict };
    };
    const verdictOf = async (turn: Turn, tool: string, input: unknown, cwd?: string) =>
      (await judge(turn, tool, input, cwd)).verdict;
    /** Runs a turn that asks for something and is parked; returns the pending approval. */
    const park = async (turn: Turn, tool: string, input: unknown, cwd?: string) => {
      const { id, verdict } = await judge(turn, tool, input, cwd);
      expect(verdict).toBe("ask");
      await turn.journal([], { park: { kind: "gate", callId: id } });
      const items = await pending(turn.assignment.sessionId);
      return items.find(({ callId }) => callId === id) as Approval;
    };
    const pending = async (session: string) =>
      (await at.world.as(owner).approvals.list({ query: { state: "pending", session } })).items;
    const get = async (id: string) => (await at.world.as(owner).approvals.get({ id })).approval;
    const decide = (id: string, body: object) =>
      at.world.call<{ approval: Approval }>(owner, "POST", `/api/approvals/${id}`, body);
    const allow = (approval: Approval, scope: string) =>
      decide(approval.id, { decision: "allow", scope });
    const change = (sql: string) =>
      at.world.kernel.engine.store.transaction((tx) => tx.execute({ sql, parameters: [] }));
    /** Starts a child and returns its running turn. */
    const childOf = async (parentId: string) => at.turnOf(await at.spawn(parentId));
    /** Starts a parent and children, each with a running turn. */
    const family = async (children = 1) => {
      const parentId = await at.parent();
      const parent = await at.prompt(parentId);
      const turns: Turn[] = [];
      for (let n = 0; n < children; n++) turns.push(await childOf(parentId));
      return { parentId, parent, turns };
    };
    /** Sets whether the machine of all turns has a sandbox. */
    const setSandbox = (kind: "bubblewrap" | "local") =>
      change(
        `update runners set sandbox = '{"kind":"${kind}","why":null,"fix":null,"enforced":{}}'`,
      );

    it("answers identical calls that wait in the session, and no others", async () => {
      const parentId = await at.parent();
      const turns: Turn[] = [];
      for (const thread of ["main", "b", "c", "d", "e"])
        turns.push(await at.prompt(parentId, "go", thread));
      const [main, same, longer, elsewhere, behind] = turns as [Turn, Turn, Turn, Turn, Turn];
      const asked = await park(main, "bash", PUSH);
      const equal = await park(same, "bash", { ...PUSH, timeoutMs: 5_000 });
      const other = await park(longer, "bash", { command: "git push origin main --force" });
      const sub = await park(elsewhere, "bash", PUSH, "/workspace/sub");
      const background = await park(behind, "bash", { ...PUSH, background: true });
      await allow(asked, "session");
      expect(await get(equal.id)).toMatchObject({
        state: "decided",
        decision: "allow",
        scope: "session",
        decidedBy: "usr_1",
        coveredBy: asked.id,
      });
      for (const { id } of [other, sub, background])
        expect(await get(id)).toMatchObject({ state: "pending", coveredBy: null });
      for (const { id } of [other, sub, background]) await decide(id, { decision: "deny" });
    });

    it("answers what waits in the children too, and covers their later calls, shown as such", async () => {
      const { parent, parentId, turns } = await family(2);
      const [waiting, later] = turns as [Turn, Turn];
      const ofChild = await park(waiting, "bash", PUSH);
      const items = await pending(parentId);
      expect(items.map(({ id }) => id)).toEqual([ofChild.id]);
      const asked = await park(parent, "bash", PUSH);
      expect(asked.coversChildren).toBe(true);
      await allow(asked, "session");
      expect(await get(ofChild.id)).toMatchObject({ decision: "allow", coveredBy: asked.id });
      expect(await verdictOf(later, "bash", PUSH)).toBe("allow");
      expect(await verdictOf(later, "bash", { ...PUSH, timeoutMs: 900 })).toBe("allow");
      expect(await verdictOf(later, "bash", { command: "git push origin main -f" })).toBe("ask");
      expect(await verdictOf(later, "bash", { ...PUSH, background: true })).toBe("ask");
      expect(await verdictOf(later, "bash", PUSH, "/workspace/sub")).toBe("ask");
      const rules = await at.world.as(owner).policy.list();
      expect(rules.items).toContainEqual(
        expect.objectContaining({ sessionId: parentId, coversChildren: true }),
      );
    });

    it("reaches neither siblings nor parents, nor a child that was detached", async () => {
      const { parent, parentId, turns } = await family(2);
      const [first, second] = turns as [Turn, Turn];
      const waitsBeside = await park(second, "bash", PUSH);
      const waitsAbove = await park(parent, "bash", PUSH);
      await allow(await park(first, "bash", PUSH), "session");
      for (const { id } of [waitsBeside, waitsAbove])
        expect(await get(id)).toMatchObject({ state: "pending" });
      const third = await childOf(parentId);
      expect(await verdictOf(third, "bash", PUSH)).toBe("ask");
      await allow(waitsAbove, "session");
      expect(await verdictOf(third, "bash", PUSH)).toBe("allow");
      await at.act(parentId, async (work) => {
        const child = await work.session(third.assignment.sessionId);
        if (child) await detachChild(work, child);
      });
      expect(await verdictOf(third, "bash", PUSH)).toBe("ask");
    });

    it("applies no approval to another project, nor to other content of the same file", async () => {
      const { parent, parentId, turns } = await family(1);
      const [child] = turns as [Turn];
      await allow(await park(parent, "write", { path: ".env", content: "A=1" }), "session");
      expect(await verdictOf(child, "write", { content: "A=1", path: ".env" })).toBe("allow");
      expect(await verdictOf(child, "write", { path: ".env", content: "A=evil" })).toBe("ask");
      expect(await verdictOf(child, "write", { path: "./.env", content: "A=1" })).toBe("ask");
      // The agent chooses the repository of its child; the same command means other commits there.
      const elsewhere = await at.spawn(parentId, { repo: "acme/other" });
      const stray = await at.turnOf(elsewhere);
      const waits = await park(stray, "bash", PUSH);
      const parentAgain = await at.prompt(parentId, "go", "again");
      await allow(await park(parentAgain, "bash", PUSH), "session");
      expect(await get(waits.id)).toMatchObject({ state: "pending" });
      await decide(waits.id, { decision: "deny" });
      await at.settle(await at.turnOf(elsewhere), { outcome: "completed" });
      const again = await at.prompt(elsewhere);
      expect(await verdictOf(again, "bash", PUSH)).toBe("ask");
      // An address is the same wherever it is fetched from.
      const url = { url: "https://unknown.example/a" };
      const third = await at.prompt(parentId, "go", "third");
      await allow(await park(third, "web_fetch", url), "session");
      expect(await verdictOf(again, "web_fetch", url)).toBe("allow");
    });

    it.each(["session", "always"])(
      "%s: a yes for a command in a sandbox says nothing of a machine without one",
      async (scope) => {
        const command = { command: `git push ${scope} sandbox` };
        const sessionId = await at.world.createSession();
        const turn = await at.prompt(sessionId);
        await allow(await park(turn, "bash", command), scope);
        const inside = await at.turnOf(sessionId);
        expect(await verdictOf(inside, "bash", command)).toBe("allow");
        const { items } = await at.world.as(owner).policy.list();
        expect(items.find(({ pattern }) => pattern === command.command)).toMatchObject({
          sandboxedOnly: true,
        });
        await setSandbox("local");
        try {
          const bare = await park(inside, "bash", command);
          expect(bare.shown).toMatchObject({ sandboxed: false });
          // A person who allowed the call without a sandbox is not asked about it in one.
          await allow(bare, scope);
          const outside = await at.turnOf(sessionId);
          expect(await verdictOf(outside, "bash", command)).toBe("allow");
          await setSandbox("bubblewrap");
          expect(await verdictOf(outside, "bash", command)).toBe("allow");
        } finally {
          await setSandbox("bubblewrap");
        }
      },
    );

    it("gives way to a question that the child's own rules ask, and to a no of the organisation", async () => {
      const { parent, turns } = await family(2);
      const [strict, denied] = turns as [Turn, Turn];
      const rules = at.world.as(owner).policy;
      const asksFirst = { tool: "bash", pattern: "git push*", effect: "ask" } as const;
      await rules.create({ body: { ...asksFirst, sessionId: strict.assignment.sessionId } });
      await allow(await park(parent, "bash", PUSH), "session");
      expect(await verdictOf(strict, "bash", PUSH)).toBe("ask");
      expect(await verdictOf(denied, "bash", PUSH)).toBe("allow");
      const { rule: made } = await rules.create({ body: { ...asksFirst, level: "org" } });
      expect(await verdictOf(denied, "bash", PUSH)).toBe("ask");
      await rules.delete({ id: made.id });
    });

    it("holds a no for the session for its children too", async () => {
      const { parent, turns } = await family();
      const [child] = turns as [Turn];
      const url = { url: "https://unknown.example/b" };
      const asked = await park(parent, "web_fetch", url);
      expect(asked.coversChildren).toBe(true);
      await decide(asked.id, { decision: "deny", scope: "session" });
      expect(await verdictOf(child, "web_fetch", url)).toBe("deny");
    });

    it("always: answers what waits in the person's other sessions, each by itself", async () => {
      const command = { command: "git push always" };
      const [one, two, three] = [
        await at.prompt(await at.world.createSession()),
        await at.prompt(await at.world.createSession()),
        await at.prompt(await at.world.createSession()),
      ] as [Turn, Turn, Turn];
      const guest = await at.prompt(await at.parent(), "go", "mail:usr_2");
      const replied = await at.prompt(await at.parent());
      await at.markGuest(replied);
      const asked = await park(one, "bash", command);
      const same = await park(two, "bash", command);
      const other = await park(three, "bash", { ...command, background: true });
      const ofGuest = await park(guest, "bash", command);
      const ofReply = await park(replied, "bash", command);
      await allow(asked, "always");
      await at.world.kernel.sweeps.tick();
      await expect
        .poll(async () => (await get(same.id)).state, { timeout: 10_000 })
        .toBe("decided");
      expect(await get(same.id)).toMatchObject({
        decision: "allow",
        scope: "always",
        coveredBy: asked.id,
      });
      // Calls from another person's message, and calls that differ, are decided separately.
      for (const { id } of [other, ofGuest, ofReply]) {
        expect(await get(id)).toMatchObject({ state: "pending" });
        await decide(id, { decision: "deny" });
      }
    });

    it("holds a no for the turn, also with other arguments of the same target", async () => {
      const sessionId = await at.world.createSession();
      const turn = await at.prompt(sessionId);
      const asked = await park(turn, "write", { path: ".env", content: "A=1" });
      await decide(asked.id, { decision: "deny" });
      const again = await at.turnOf(sessionId);
      expect(await verdictOf(again, "write", { path: ".env", content: "A=2" })).toBe("deny");
      expect(
        await verdictOf(again, "edit", {
          path: ".env",
          edits: [{ oldText: "a", newText: "b" }],
        }),
      ).toBe("ask");
      const bash = await park(again, "bash", PUSH);
      await decide(bash.id, { decision: "deny" });
      const last = await at.turnOf(sessionId);
      expect(await verdictOf(last, "bash", { ...PUSH, timeoutMs: 1_000 })).toBe("deny");
      expect(await verdictOf(last, "bash", { ...PUSH, background: true })).toBe("deny");
      await at.settle(last, { outcome: "completed" });
      // The next turn may ask again.
      expect(await verdictOf(await at.prompt(sessionId), "bash", PUSH)).toBe("ask");
    });
  });
}

suite("on SQLite", async () => undefined);
describe.skipIf(!postgresUrl)("with a server", () => {
  suite("on PostgreSQL", createTestDatabase);
});
