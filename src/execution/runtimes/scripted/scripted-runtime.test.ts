import { describe, expect, it } from "vitest";
import { FakeClock } from "#base/clock.ts";
import { FakeTurn } from "#execution/runtimes/fake-turn.ts";
import { testRuntime } from "#execution/runtimes/runtime.contract.ts";
import { INTERRUPTED } from "#execution/runtimes/runtime.ts";
import { createScriptedRuntime } from "./scripted-runtime.ts";

testRuntime({
  name: "scripted",
  create: () => createScriptedRuntime(),
  prompts: {
    answer: "think hm\nsay hello\nsay good bye",
    slow: "stream 1000 20",
    tool: 'tool look {"at": 1}\nsay done',
  },
});

const TIMELESS = { sleep: async () => {}, now: () => 0 };

describe("the scripted runtime", () => {
  it("plays every step and gives the last text as its result", async () => {
    const turn = new FakeTurn({
      content: 'think first\nsay one\n\ntool look {"a": 1}\nsleep 5\nstream 3 5',
    });
    const end = await turn.work(createScriptedRuntime({ clock: TIMELESS }));
    expect(end).toMatchObject({ outcome: "completed", result: "token1 token2 token3" });
    expect(turn.items).toMatchObject([
      { type: "message", kind: "reasoning", text: "first", step: 0 },
      { type: "message", kind: "text", text: "one", step: 1 },
      { type: "pre_tool", tool: "look", input: { a: 1 }, step: 3 },
      { type: "post_tool", tool: "look", output: "ok", step: 3 },
      { type: "message", text: "token1 token2 token3", step: 5 },
    ]);
    expect(end.items).toHaveLength(1);
  });

  it.each([
    ["say a\ndance", "Line 2"],
    ["sleep soon", "Line 1"],
    ["tool look {broken", "Line 1"],
    ["tool", "Line 1"],
    ["stream many 3", "Line 1"],
  ])("fails %j as script_error and names the line", async (content, where) => {
    const turn = new FakeTurn({ content });
    const end = await turn.work(createScriptedRuntime());
    expect(end).toMatchObject({ outcome: "failed", error: { code: "script_error" } });
    expect(end.error?.message).toContain(where);
    expect(turn.items).toEqual([]);
  });

  it("fails with the words of the script", async () => {
    const turn = new FakeTurn({ content: "say before\nfail out of luck\nsay after" });
    const end = await turn.work(createScriptedRuntime());
    expect(end).toMatchObject({
      outcome: "failed",
      error: { code: "script_failed", message: "out of luck" },
    });
    expect(turn.items).toMatchObject([{ text: "before" }]);
  });

  it("goes on behind the last line that left a trace, without sleeping again", async () => {
    const clock = new FakeClock();
    const journal = [
      { type: "message", entryId: "ent_1", kind: "text", text: "one", step: 1 } as const,
    ];
    const turn = new FakeTurn({ content: "sleep 60000\nsay one\nsay two", journal });
    const end = await turn.work(createScriptedRuntime({ clock }));
    expect(end).toMatchObject({ outcome: "completed", result: "two" });
    expect(turn.items).toMatchObject([{ text: "two", step: 2 }]);
  });

  it("crashes at every attempt, without repeating what came before", async () => {
    let crashes = 0;
    const runtime = createScriptedRuntime({ crash: () => crashes++ });
    const content = "say one\ncrash";
    const first = new FakeTurn({ content });
    await first.work(runtime);
    expect(first.items).toMatchObject([{ text: "one" }]);
    const second = new FakeTurn({ content, journal: first.items, fence: 2 });
    await second.work(runtime);
    expect(second.items).toEqual([]);
    expect(crashes).toBe(2);
  });

  it("ends no runner that was not made for it, and keeps none from its other work", async () => {
    const runtime = createScriptedRuntime();
    const turn = new FakeTurn({ content: "say one\ncrash\nsay two" });
    expect(await turn.work(runtime)).toMatchObject({
      outcome: "failed",
      error: { code: "crash_not_allowed" },
    });
    expect(turn.items).toMatchObject([{ text: "one" }]);
    expect(await new FakeTurn({ content: "stream 900000000 0" }).work(runtime)).toMatchObject({
      error: { code: "script_error" },
    });
  });

  it("hangs until it is cancelled", async () => {
    const turn = new FakeTurn({ content: "say before\nhang\nsay after" });
    const ended = turn.work(createScriptedRuntime());
    await expect.poll(() => turn.items.length).toBe(1);
    turn.cancel("interrupt");
    expect(await ended).toMatchObject({ outcome: "aborted" });
    expect(turn.items).toHaveLength(1);
  });

  it("leaves a tool alone when it is steered, and cuts it off when it is stopped", async () => {
    const steered = new FakeTurn({ content: "tool look {}\nsay never" });
    const tool = Promise.withResolvers<{ output: unknown; error: string | null }>();
    steered.onTool = () => tool.promise;
    const ended = steered.work(createScriptedRuntime());
    await expect.poll(() => steered.acts.at(-1)?.did).toBe("tool");
    steered.cancel("steer");
    tool.resolve({ output: "late", error: null });
    expect(await ended).toMatchObject({ outcome: "aborted" });
    expect(steered.items.at(-1)).toMatchObject({ type: "post_tool", output: "late", error: null });

    const stopped = new FakeTurn({ content: "tool look {}\nsay never" });
    stopped.onTool = () => new Promise(() => {});
    const cut = stopped.work(createScriptedRuntime());
    await expect.poll(() => stopped.acts.at(-1)?.did).toBe("tool");
    stopped.cancel("stop");
    expect(await cut).toMatchObject({ outcome: "aborted" });
    expect(stopped.items.at(-1)).toMatchObject({ type: "post_tool", error: INTERRUPTED });
  });
});
