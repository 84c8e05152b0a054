/**
 * Contract of every runtime. A runtime's test calls `testRuntime` with prompts that trigger each
 * behaviour of the contract, and names what the runtime cannot do and why.
 */
import { afterAll, describe, expect, it } from "vitest";
import { FakeTurn } from "./fake-turn.ts";
import { INTERRUPTED, LeaseLost, type Runtime, type TurnEnd } from "./runtime.ts";

export interface RuntimeCase {
  name: string;
  create(): Runtime;
  prompts: {
    /** Answers with some text and ends. */
    answer: string;
    /** Writes for many seconds, a piece at a time. */
    slow: string;
    /** Calls one tool of the server, then answers. */
    tool: string;
  };
  /** Completes an assignment with the fields that this runtime needs. */
  assignment?: object;
  skip?: { reason: string; tests: string[] }[];
  timeoutMs?: number;
}

/** A runtime may let `LeaseLost` through, and nothing else. */
async function workOrLose(turn: FakeTurn, runtime: Runtime): Promise<TurnEnd | null> {
  try {
    return await turn.work(runtime);
  } catch (error) {
    expect(error).toBeInstanceOf(LeaseLost);
    return null;
  }
}

async function firstDelta(turn: FakeTurn, timeoutMs: number): Promise<void> {
  await expect
    .poll(() => turn.deltas.length, { timeout: timeoutMs, interval: 5 })
    .toBeGreaterThan(0);
}

export function testRuntime({
  name,
  create,
  prompts,
  assignment,
  skip = [],
  timeoutMs = 5000,
}: RuntimeCase): void {
  const skipped = new Set(skip.flatMap(({ tests }) => tests));
  const open: Runtime[] = [];
  const runtimeOf = () => {
    const runtime = create();
    open.push(runtime);
    return runtime;
  };
  const turnOf = (content: string, more: object = {}) =>
    new FakeTurn({ ...assignment, content, ...more });
  const rule = (title: string, check: () => Promise<void>) => {
    it.skipIf(skipped.has(title))(title, check, timeoutMs * 2);
  };

  describe(`${name} as a runtime`, () => {
    afterAll(async () => {
      for (const runtime of open) await runtime.close?.();
    });

    rule("journals exactly the text it showed, and gives it as its result", async () => {
      const turn = turnOf(prompts.answer);
      const end = await turn.work(runtimeOf());
      expect(end.outcome).toBe("completed");
      const texts = turn.items.filter((item) => item.type === "message");
      expect(texts.length).toBeGreaterThan(0);
      for (const item of texts) expect(turn.shown(item.entryId)).toBe(item.text);
      expect(end.result).toBe(texts.findLast((item) => item.kind === "text")?.text);
      expect(new Set(turn.items.map(({ entryId }) => entryId)).size).toBe(turn.items.length);
    });

    rule("asks before its first step, and does nothing when the answer is no", async () => {
      const turn = turnOf(prompts.answer);
      turn.isLost = true;
      const end = await workOrLose(turn, runtimeOf());
      expect(end?.outcome).not.toBe("completed");
      expect(turn.acts).toEqual([]);
      expect(turn.deltas).toEqual([]);
    });

    rule("takes a step before it calls a tool", async () => {
      const turn = turnOf(prompts.tool);
      await turn.work(runtimeOf());
      const call = turn.acts.findIndex(({ did }) => did === "tool");
      expect(turn.acts.slice(0, call)).toContainEqual({ did: "step" });
    });

    rule("journals a call before it makes it, and its result after", async () => {
      const turn = turnOf(prompts.tool);
      turn.onTool = () => ({ output: "seen", error: null });
      const end = await turn.work(runtimeOf());
      expect(end.outcome).toBe("completed");
      const at = (type: string) =>
        turn.acts.findIndex((act) => act.did === "append" && act.item.type === type);
      const call = turn.acts.findIndex(({ did }) => did === "tool");
      expect(at("pre_tool")).toBeGreaterThanOrEqual(0);
      expect(call).toBeGreaterThan(at("pre_tool"));
      expect(at("post_tool")).toBeGreaterThan(call);
      expect(turn.items.find(({ type }) => type === "post_tool")).toMatchObject({
        output: "seen",
        error: null,
      });
    });

    rule("does not reject when a tool fails", async () => {
      const turn = turnOf(prompts.tool);
      turn.onTool = () => ({ output: null, error: "no such thing" });
      await turn.work(runtimeOf());
      expect(turn.items.find(({ type }) => type === "post_tool")).toMatchObject({
        error: "no such thing",
      });
    });

    rule("keeps what was written when it is stopped", async () => {
      const turn = turnOf(prompts.slow);
      const ended = turn.work(runtimeOf());
      await firstDelta(turn, timeoutMs);
      turn.cancel("stop");
      const end = await ended;
      expect(end.outcome).toBe("aborted");
      const last = turn.items.findLast((item) => item.type === "message");
      expect(last).toMatchObject({ partial: true });
      expect(last && turn.shown(last.entryId)).toBe(last?.text);
    });

    rule("lets go when it is killed", async () => {
      const turn = turnOf(prompts.slow);
      const ended = workOrLose(turn, runtimeOf());
      await firstDelta(turn, timeoutMs);
      turn.kill();
      await ended;
    });

    rule("repeats nothing that stands in the journal", async () => {
      const first = turnOf(prompts.tool);
      await first.work(runtimeOf());
      const journal = first.items;
      const second = turnOf(prompts.tool, { fence: 2, attempt: 2, journal });
      const end = await second.work(runtimeOf());
      expect(end.outcome).toBe("completed");
      expect(second.items).toEqual([]);
      expect(second.acts.filter(({ did }) => did === "tool")).toEqual([]);
    });

    rule("never makes a call that was in flight a second time", async () => {
      const first = turnOf(prompts.tool);
      await first.work(runtimeOf());
      const inFlight = first.items.findIndex(({ type }) => type === "pre_tool");
      const journal = first.items.slice(0, inFlight + 1);
      const second = turnOf(prompts.tool, { fence: 2, attempt: 2, journal });
      const end = await second.work(runtimeOf());
      expect(end.outcome).toBe("completed");
      const call = first.items[inFlight] as { callId: string };
      // The server keeps a result under its call's id, so it may be asked for it again.
      const asked = second.acts.flatMap((act) => (act.did === "tool" ? [act.callId] : []));
      expect(second.items[0]).toMatchObject({
        type: "post_tool",
        callId: call.callId,
        error: asked.length === 0 ? INTERRUPTED : null,
      });
      expect(asked.filter((id) => id !== call.callId)).toEqual([]);
    });
  });
}
