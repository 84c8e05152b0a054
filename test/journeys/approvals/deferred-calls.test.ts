/**
 * Calls of agent programs on the real kernel: the events that listeners get, and the outcome of
 * deferred calls.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { Refusal } from "#base/refusal.ts";
import { GATE_TTL_MS, listPendingGates } from "#engine/gates/index.ts";
import type { Feature, KernelEvent } from "#engine/index.ts";
import { defineTool } from "#engine/tools/index.ts";
import { approvals } from "#features/approvals/index.ts";
import { owner, startWorld, type World } from "#features/testing/index.ts";

const heard: KernelEvent[] = [];
const done: unknown[] = [];

const tools = ["quick", "careful"].map((name) =>
  defineTool({
    name,
    description: "Notes a word.",
    schema: z.strictObject({ word: z.string() }),
    readOnly: false,
    target: ({ word }) => word,
    async handle(_work, _caller, { word }) {
      if (word === "full") throw new Refusal("limit", "book_full", "The book is full.");
      done.push(word);
      return { output: { noted: word }, error: null };
    },
  }),
);

/** Words that a rule denies from now on. */
const forbidden = new Set<string>();

const book: Feature = {
  name: "book",
  tools,
  judge: async (_work, { tool, target }) => {
    if (target !== null && forbidden.has(target)) return { verdict: "deny", reason: "New rule." };
    return tool === "careful" ? { verdict: "ask", reason: "A rule says so." } : undefined;
  },
  listeners: [
    async (_work, event) => {
      if (event.type.startsWith("call_")) heard.push(event);
    },
  ],
};

let world: World;
beforeAll(async () => {
  world = await startWorld([book, approvals]);
});
afterAll(() => world.stop());

let calls = 0;
async function begin() {
  const sessionId = await world.createSession();
  const turn = await world.startTurn(sessionId);
  const agent = await world.kernel.agents.identify(turn.assignment.token);
  if (!agent) throw new Error("nobody");
  const call = (name: string, word: string) =>
    world.kernel.agents.callTool(agent, { callId: `c${++calls}`, name, input: { word } });
  return { sessionId, turn, call };
}

/** Advances the clock so that sweeps run. */
async function sweep(): Promise<void> {
  world.clock.advance(1_000);
  await world.kernel.sweeps.tick();
}

const statement = (sql: string) => ({ sql, parameters: [] }) as never;

const pendingOf = (sessionId: string) =>
  world.kernel.engine.store.read((reader) => listPendingGates(reader, sessionId));

describe("a call of an agent program", () => {
  it("is announced when it is done, refused or unknown", async () => {
    const { turn, call } = await begin();
    heard.length = 0;
    expect(await call("quick", "one")).toEqual({ output: { noted: "one" }, error: null });
    expect(await call("quick", "full")).toMatchObject({ error: "book_full: The book is full." });
    const none = await call("nothing", "x");
    expect(none).toMatchObject({ error: expect.stringContaining("There is no tool") });
    // Tools of the workspace belong to the program itself and are not announced.
    const bash = await call("bash", "x");
    expect(bash).toMatchObject({ output: null });
    expect(heard).toMatchObject([
      { type: "call_judged", call: { tool: "quick", verdict: "allow" } },
      { type: "call_ended", call: { tool: "quick", failed: false } },
      { type: "call_judged", call: { tool: "quick", verdict: "allow" } },
      { type: "call_ended", call: { tool: "quick", failed: true } },
      { type: "call_judged", call: { tool: "nothing", verdict: "invalid" } },
      { type: "call_judged", call: { tool: "bash", verdict: "invalid" } },
    ]);
    await turn.end("done");
  });

  it("tells its session when it was approved and then refused, and keeps the decision", async () => {
    const { sessionId, turn, call } = await begin();
    await call("careful", "full");
    await turn.end("I wait.");
    const [gate] = await pendingOf(sessionId);
    await world.call(owner, "POST", `/api/approvals/${gate?.id}`, { decision: "allow" });
    await sweep();
    const woken = await world.nextTurn();
    expect(woken.assignment.content).toContain("it failed:\n> book_full: The book is full.");
    const { approval } = await world.call<{ approval: { state: string } }>(
      owner,
      "GET",
      `/api/approvals/${gate?.id}`,
    );
    expect(approval.state).toBe("decided");
    await woken.end("ok");
  });

  it("is not made when a rule denies it after it was approved", async () => {
    const { sessionId, turn, call } = await begin();
    await call("careful", "overruled");
    await turn.end("I wait.");
    const [gate] = await pendingOf(sessionId);
    await world.call(owner, "POST", `/api/approvals/${gate?.id}`, { decision: "allow" });
    forbidden.add("overruled");
    await sweep();
    const woken = await world.nextTurn();
    expect(woken.assignment.content).toContain("was not done. Not done: New rule.");
    expect(done).not.toContain("overruled");
    expect(await world.call(owner, "GET", `/api/approvals/${gate?.id}`)).toMatchObject({
      approval: { decision: "deny", decidedBy: "system" },
    });
    await woken.end("ok");
  });

  it("is made once, even when its delivery is repeated", async () => {
    const { sessionId, turn, call } = await begin();
    await call("careful", "once");
    await turn.end("I wait.");
    const [gate] = await pendingOf(sessionId);
    await world.call(owner, "POST", `/api/approvals/${gate?.id}`, { decision: "allow" });
    await sweep();
    const woken = await world.nextTurn();
    expect(woken.assignment.content).toContain('{"noted":"once"}');
    // As if the delivery had never been recorded.
    await world.kernel.engine.store.transaction((tx) =>
      tx.execute(statement("update outbox set state = 'pending', due_at = 0")),
    );
    await sweep();
    const left = () =>
      world.kernel.engine.store.read((reader) =>
        reader.query(statement("select id from outbox where state = 'pending'")),
      );
    await expect.poll(left).toEqual([]);
    expect(done.filter((word) => word === "once")).toEqual(["once"]);
    const { items } = await world.kernel.prompts.list(owner, sessionId, { limit: 10 });
    expect(items).toHaveLength(2);
    await woken.end("ok");
  });

  it("is denied when nobody answers, and wakes its session too", async () => {
    const { sessionId, turn, call } = await begin();
    await call("careful", "late");
    await turn.end("I wait.");
    world.clock.advance(GATE_TTL_MS + 1_000);
    await sweep();
    await sweep();
    const woken = await world.nextTurn();
    expect(woken.assignment).toMatchObject({ sessionId });
    expect(woken.assignment.content).toMatch(/was not done. Nobody answered in time/);
    expect(done).not.toContain("late");
    await woken.end("ok");
  });

  it("does not delay a turn that waits for something else", async () => {
    const { sessionId, turn, call } = await begin();
    await call("careful", "aside");
    const [aside] = await pendingOf(sessionId);
    const session = await world.kernel.sessions.get(owner, sessionId);
    expect(session.activity).toBe("working");
    await turn.journal(
      [
        {
          type: "pre_tool",
          entryId: "ent_p",
          callId: "p1",
          tool: "careful",
          input: { word: "waited for" },
          authorise: true,
        },
      ],
      { park: { kind: "gate", callId: "p1" } },
    );
    const parked = (await pendingOf(sessionId)).find(({ id }) => id !== aside?.id);
    await world.call(owner, "POST", `/api/approvals/${parked?.id}`, { decision: "allow" });
    const next = await world.nextTurn();
    expect(next.assignment).toMatchObject({ sessionId, decisions: [{ callId: "p1" }] });
    expect(await pendingOf(sessionId)).toHaveLength(1);
    await next.end("done");
  });
});
