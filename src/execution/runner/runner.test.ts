import { afterEach, describe, expect, it } from "vitest";
import { FakeClock } from "#base/clock.ts";
import { createIds } from "#base/ids.ts";
import { silentLog } from "#base/log.ts";
import { Refusal } from "#base/refusal.ts";
import { createEchoRuntime } from "#execution/runtimes/echo/echo-runtime.ts";
import {
  INTERRUPTED,
  LeaseLost,
  type Runtime,
  type Turn,
  type TurnEnd,
} from "#execution/runtimes/runtime.ts";
import { createScriptedRuntime } from "#execution/runtimes/scripted/scripted-runtime.ts";
import { RUNNER_PROTOCOL } from "#protocol/frames.ts";
import { FakeServer } from "./fake-server.ts";
import { Runner } from "./runner.ts";
import type { RunnerOptions } from "./runner-options.ts";

const PROFILE = {
  name: "test",
  hostname: "host",
  folder: "/f",
  profile: "default",
  projectDir: null,
  tags: [],
  runtimes: ["echo", "scripted", "custom"],
  capacity: 10,
  models: [],
  sandbox: null,
  version: "0",
};

const runners: Runner[] = [];

/** Lets everything that waits for no clock happen. */
async function settle(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise(setImmediate);
}

interface Custom {
  turns: Turn[];
  work: (turn: Turn) => Promise<TurnEnd>;
}

async function startRunner(options: Partial<RunnerOptions> = {}) {
  const clock = new FakeClock(0);
  const server = new FakeServer();
  const custom: Custom = { turns: [], work: () => new Promise(() => {}) };
  const runtime: Runtime = {
    name: "custom",
    runTurn(turn) {
      custom.turns.push(turn);
      return custom.work(turn);
    },
  };
  const runner = new Runner({
    transport: server,
    runtimes: [createEchoRuntime(), createScriptedRuntime({ clock }), runtime],
    profile: PROFILE,
    ids: createIds(),
    log: silentLog,
    clock,
    random: () => 1,
    ...options,
  });
  runners.push(runner);
  const started = runner.start();
  started.catch(() => {});
  await settle();
  /** Moves time in small steps, as it really passes. */
  const pass = async (byMs: number, stepMs = 250) => {
    await settle();
    for (let left = byMs; left > 0; left -= stepMs) {
      clock.advance(Math.min(left, stepMs));
      await settle();
    }
  };
  const turn = () => custom.turns.at(-1) as Turn;
  return { clock, server, runner, started, custom, pass, turn };
}

afterEach(async () => {
  for (const runner of runners.splice(0)) {
    const stopped = runner.stop();
    await settle();
    void stopped;
  }
});

const message = (entryId: string, text = "x") =>
  ({ type: "message", entryId, kind: "text", text }) as const;

describe("before it knows its models", () => {
  const offer = { id: "house/one", provider: "house", usable: true, why: null, price: null };

  it("says that it is not ready, and reports them as soon as it knows them", async () => {
    const known = Promise.withResolvers<(typeof offer)[]>();
    const { server } = await startRunner({ models: () => known.promise });
    expect(server.all("register")).toMatchObject([{ ready: false, acknowledges: true }]);
    expect(server.all("models")).toEqual([]);
    known.resolve([offer]);
    await settle();
    expect(server.all("models")).toMatchObject([{ models: [offer] }]);
  });

  it("asks again soon when they cannot be found out", async () => {
    let isAway = true;
    const models = async () => {
      if (isAway) throw new Error("the server is restarting");
      return [offer];
    };
    const { server, pass } = await startRunner({ models });
    await pass(20_000);
    expect(server.all("models")).toEqual([]);
    isAway = false;
    await pass(5_000);
    expect(server.all("models")).toMatchObject([{ models: [offer] }]);
  });

  it("finds them out anew when it comes back, and registers with what it knows", async () => {
    const { server, pass } = await startRunner({ models: async () => [offer] });
    server.disconnect();
    await pass(500);
    expect(server.all("register")[1]).toMatchObject({
      ready: false,
      profile: { models: [offer] },
    });
    expect(server.all("models")).toHaveLength(2);
  });
});

describe("an assignment", () => {
  it("is confirmed when it arrives, if the server knows the frame", async () => {
    const { server, pass } = await startRunner();
    server.assign({ run: "run_1", runtime: "custom" });
    await settle();
    expect(server.all("accepted")).toEqual([]);
    server.wantsAccepted = true;
    server.disconnect();
    await pass(500);
    server.assign({ run: "run_2", runtime: "custom", fence: 3 });
    await settle();
    expect(server.all("accepted")).toMatchObject([{ run: "run_2", fence: 3 }]);
  });

  it("is renewed at once when it was under way for long, and dropped when for too long", async () => {
    const { server, custom, clock, pass } = await startRunner();
    server.wantsAccepted = true;
    server.provenAt = clock.now();
    server.disconnect();
    await pass(8_000);
    server.assign({ run: "run_1", runtime: "custom" });
    await settle();
    expect(server.all("accepted")).toHaveLength(1);
    expect(server.all("renew").at(-1)?.runs).toEqual([{ run: "run_1", fence: 1 }]);
    await pass(8_000);
    // Nobody is told that it arrived: its loss is not held against the prompt.
    server.assign({ run: "run_2", runtime: "custom" });
    await settle();
    expect(server.all("accepted")).toHaveLength(1);
    expect(custom.turns).toHaveLength(1);
  });
});

describe("what comes with a turn", () => {
  const text = { instructions: [], files: [], setup: null, identity: null, recall: [] };
  const items = [1, 2, 3].map((seq) => ({
    seq,
    role: "assistant" as const,
    promptId: null,
    item: message(`ent_${seq}`),
  }));
  const history = { items, more: false, summary: null };

  it("is not asked for", async () => {
    const { server, started, turn } = await startRunner();
    await started;
    const material = { history, brief: { ...text, setup: "make", register: "two children" } };
    server.assign({ run: "run_1", runtime: "custom", hasBrief: true, isFirst: false, material });
    await settle();
    expect(await turn().history(null, 200)).toEqual(history);
    expect(await turn().history(null, 2)).toEqual({
      ...history,
      items: items.slice(1),
      more: true,
    });
    expect(await turn().brief()).toMatchObject({ setup: "make" });
    expect(await turn().register()).toBe("two children");
    expect(server.all("history")).toEqual([]);
    expect(server.all("brief")).toEqual([]);
    await turn().history(1, 200);
    expect(server.all("history")).toHaveLength(1);
  });

  it("is asked for where it is missing, once", async () => {
    const { server, started, turn } = await startRunner();
    await started;
    server.assign({ run: "run_1", runtime: "custom", hasBrief: true, material: { brief: text } });
    await settle();
    expect(await turn().brief()).toEqual(text);
    expect(server.all("brief")).toEqual([]);
    const asked = turn().register();
    const [question] = server.all("brief");
    server.send({ op: "brief", id: question?.id ?? "", ...text, register: "two children" });
    expect(await asked).toBe("two children");
    expect(await turn().register()).toBe("two children");
    expect(server.all("brief")).toHaveLength(1);
  });

  it("is nothing where there is nothing to read", async () => {
    const { server, started, turn } = await startRunner();
    await started;
    server.assign({ run: "run_1", runtime: "custom" });
    await settle();
    expect(await turn().brief()).toBeNull();
    expect(await turn().register()).toBeNull();
    expect(server.all("brief")).toEqual([]);
  });
});

describe("a turn", () => {
  it("costs one delta and one journal frame when it is simple", async () => {
    const { server, started, runner } = await startRunner();
    await started;
    server.assign({ run: "run_1", content: "hi there" });
    await settle();
    const [register, delta, journal, ...rest] = server.frames;
    expect(rest).toEqual([]);
    expect(register).toMatchObject({
      op: "register",
      protocol: RUNNER_PROTOCOL,
      bootId: runner.bootId,
      holding: [],
    });
    expect(delta).toMatchObject({
      op: "delta",
      run: "run_1",
      fence: 1,
      offset: 0,
      text: "hi there",
    });
    expect(journal).toMatchObject({
      op: "journal",
      firstOrdinal: 1,
      items: [{ type: "message", text: "hi there" }],
      settle: { outcome: "completed", result: "hi there" },
    });
    expect(runner.running).toBe(0);
  });

  it("gathers what is appended while a batch is under way, one at a time", async () => {
    const { server, custom } = await startRunner();
    server.silentOn.add("journal");
    custom.work = async (turn) => {
      void turn.append(message("ent_1"));
      void turn.append(message("ent_2"), message("ent_3"));
      await turn.append(message("ent_4"));
      return { outcome: "completed", items: [message("ent_5")] };
    };
    server.assign({ run: "run_1", runtime: "custom" });
    await settle();
    expect(server.all("journal").map((frame) => frame.items.length)).toEqual([1]);
    server.answerHeld();
    await settle();
    expect(server.all("journal").map((frame) => [frame.firstOrdinal, frame.items.length])).toEqual([
      [1, 1],
      [2, 3],
      [5, 1],
    ]);
    expect(server.settlement("run_1")).toEqual({ outcome: "completed" });
  });

  it("fails as runtime_error when the runtime rejects, and keeps what was shown", async () => {
    const { server, custom } = await startRunner();
    custom.work = async (turn) => {
      turn.delta({ entryId: "ent_1", kind: "text", text: "half" });
      throw new Error("boom");
    };
    server.assign({ run: "run_1", runtime: "custom" });
    await settle();
    expect(server.settlement("run_1")).toMatchObject({
      outcome: "failed",
      error: { code: "runtime_error" },
    });
    expect(server.items("run_1")).toMatchObject([
      { entryId: "ent_1", text: "half", partial: true },
    ]);
  });

  it("fails as runtime_not_found when the runner has no such runtime", async () => {
    const { server } = await startRunner();
    server.assign({ run: "run_1", runtime: "nope" });
    await settle();
    const settlement = server.settlement("run_1");
    expect(settlement).toMatchObject({ outcome: "failed", error: { code: "runtime_not_found" } });
    expect(settlement?.error?.message).toContain("nope");
  });

  it("fails when the server refuses what it journals", async () => {
    const { server, custom } = await startRunner();
    server.silentOn.add("journal");
    custom.work = async (turn) => {
      await turn.append(message("ent_1"));
      return { outcome: "completed" };
    };
    server.assign({ run: "run_1", runtime: "custom" });
    await settle();
    const id = server.all("journal")[0]?.id as string;
    server.silentOn.clear();
    server.send({ op: "refused", id, code: "invalid_item", message: "no" });
    await settle();
    expect(server.all("journal")[1]?.firstOrdinal).toBe(1);
    expect(server.settlement("run_1")).toMatchObject({
      outcome: "failed",
      error: { code: "runtime_error" },
    });
  });

  it("sends a batch again when the server is only busy", async () => {
    const { server, pass } = await startRunner();
    server.silentOn.add("journal");
    server.assign({ run: "run_1" });
    await settle();
    server.silentOn.clear();
    server.send({
      op: "refused",
      id: server.all("journal")[0]?.id as string,
      code: "unavailable",
      message: "later",
    });
    await pass(500);
    expect(server.all("journal")[1]).toEqual(server.all("journal")[0]);
  });

  it("stops a runtime that appends without end and without waiting", async () => {
    const { server, custom } = await startRunner();
    server.silentOn.add("journal");
    custom.work = async (turn) => {
      const text = "x".repeat(1_000_000);
      for (let i = 0; i < 100; i++) {
        const appended = turn.append(message(`ent_${i}`, text));
        if (i === 99) await appended;
      }
      return { outcome: "completed" };
    };
    server.assign({ run: "run_1", runtime: "custom" });
    await settle();
    server.answerHeld();
    await settle();
    expect(server.settlement("run_1")).toMatchObject({
      outcome: "failed",
      error: { code: "runtime_error" },
    });
    expect(server.items("run_1").length).toBeLessThan(40);
  });
});

describe("deltas", () => {
  it("leave at once first, then gathered, and not after the journal item", async () => {
    const { server, custom, pass, turn } = await startRunner();
    server.assign({ run: "run_1", runtime: "custom" });
    await settle();
    for (const text of ["a", "b", "c"]) turn().delta({ entryId: "ent_1", kind: "text", text });
    expect(server.all("delta").map(({ offset, text }) => [offset, text])).toEqual([[0, "a"]]);
    await pass(50, 5);
    turn().delta({ entryId: "ent_1", kind: "text", text: "d" });
    await turn().append(message("ent_1", "abcd"));
    turn().delta({ entryId: "ent_1", kind: "text", text: "late" });
    await pass(100);
    expect(server.all("delta").map(({ offset, text }) => [offset, text])).toEqual([
      [0, "a"],
      [1, "bc"],
    ]);
    expect(custom.turns).toHaveLength(1);
  });

  it("are resent whole every two seconds while the entry is being written", async () => {
    const { server, pass, turn } = await startRunner();
    server.assign({ run: "run_1", runtime: "custom" });
    await settle();
    turn().delta({ entryId: "ent_1", kind: "text", text: "a" });
    await pass(1000);
    turn().delta({ entryId: "ent_1", kind: "text", text: "b" });
    await pass(1500);
    expect(server.all("delta").map(({ offset, text }) => [offset, text])).toEqual([
      [0, "a"],
      [1, "b"],
      [0, "ab"],
    ]);
  });

  it("that were skipped on a slow link are made good by the next", async () => {
    const { server, pass, turn } = await startRunner();
    server.assign({ run: "run_1", runtime: "custom" });
    await settle();
    turn().delta({ entryId: "ent_1", kind: "text", text: "a" });
    server.congested = true;
    await pass(50);
    turn().delta({ entryId: "ent_1", kind: "text", text: "b" });
    server.congested = false;
    await pass(50);
    turn().delta({ entryId: "ent_1", kind: "text", text: "c" });
    expect(server.all("delta").map(({ offset, text }) => [offset, text])).toEqual([
      [0, "a"],
      [0, "abc"],
    ]);
  });
});

describe("a broken connection", () => {
  it("comes back soon, as the same boot, holding its runs, and sends again what was not answered", async () => {
    const { server, runner, pass } = await startRunner();
    server.silentOn.add("journal");
    server.assign({ run: "run_1", content: "keep me" });
    await settle();
    server.disconnect();
    server.silentOn.clear();
    await pass(100, 50);
    const [first, second] = server.all("register");
    expect(second?.bootId).toBe(first?.bootId);
    expect(second?.holding).toEqual([{ run: "run_1", fence: 1 }]);
    const [sent, again] = server.all("journal");
    expect(again).toEqual(sent);
    expect(runner.running).toBe(0);
  });

  it("kills at once what the server names as lost, and sends nothing more for it", async () => {
    const { server, runner, pass, turn } = await startRunner();
    server.silentOn.add("journal");
    server.assign({ run: "run_1", runtime: "custom" });
    await settle();
    const appended = turn().append(message("ent_1"));
    appended.catch(() => {});
    server.disconnect();
    server.silentOn.clear();
    server.lostAtRegister = ["run_1"];
    await pass(200);
    await expect(appended).rejects.toBeInstanceOf(LeaseLost);
    expect(turn().killed.aborted).toBe(true);
    expect(turn().signal.reason).toBeInstanceOf(LeaseLost);
    expect(server.all("journal")).toHaveLength(1);
    expect(runner.running).toBe(0);
  });

  it("is retried with growing pauses of at most two seconds", async () => {
    const { server, pass } = await startRunner();
    const opensAt = async (ms: number) => {
      await pass(ms, 10);
      return server.opens;
    };
    for (let i = 0; i < 20; i++) server.openErrors.push(new Error("refused"));
    server.disconnect();
    expect(await opensAt(100)).toBe(2);
    expect(await opensAt(200)).toBe(3);
    await pass(5000, 50);
    const before = server.opens;
    expect((await opensAt(2050)) - before).toBe(1);
  });

  it("leaves tool calls open until the server is back", async () => {
    const { server, custom, pass } = await startRunner();
    server.onTool = () => null;
    custom.work = async (turn) => {
      const { output } = await turn.callTool("call_1", "look", {});
      return { outcome: "completed", result: String(output) };
    };
    server.assign({ run: "run_1", runtime: "custom" });
    await settle();
    server.disconnect();
    server.onTool = () => ({ output: "seen", error: null });
    await pass(200);
    expect(server.all("tool").map((frame) => frame.callId)).toEqual(["call_1", "call_1"]);
    expect(server.settlement("run_1")).toMatchObject({ result: "seen" });
  });
});

describe("a refusal", () => {
  it("for good ends the runner with the server's words", async () => {
    const server = new FakeServer();
    server.registerAnswers.push({ code: "protocol_too_old", message: "Update the runner." });
    const { started, runner } = await startRunner({ transport: server });
    await expect(started).rejects.toMatchObject({
      code: "protocol_too_old",
      message: "Update the runner.",
    });
    await expect(runner.ended()).rejects.toBeInstanceOf(Refusal);
    expect(server.opens).toBe(1);
  });

  it("of the token ends it too", async () => {
    const server = new FakeServer();
    server.openErrors.push(new Refusal("unauthenticated", "bad_token", "Make a new token."));
    const { started } = await startRunner({ transport: server });
    await expect(started).rejects.toMatchObject({ code: "bad_token" });
  });

  it("as duplicate is retried for a while, then reported", async () => {
    const server = new FakeServer();
    const duplicate = { code: "duplicate_runner", message: "Already connected." };
    server.registerAnswers.push(duplicate, duplicate);
    const first = await startRunner({ transport: server });
    await first.pass(400, 50);
    await first.started;
    const crowded = new FakeServer();
    for (let i = 0; i < 100; i++) crowded.registerAnswers.push(duplicate);
    const second = await startRunner({ transport: crowded, graces: { duplicateMs: 3000 } });
    await second.pass(6000, 50);
    await expect(second.started).rejects.toMatchObject({ code: "duplicate_runner" });
  });
});

describe("leases", () => {
  it("are renewed together every five seconds", async () => {
    const { server, pass } = await startRunner();
    server.assign({ run: "run_1", runtime: "custom" });
    server.assign({ run: "run_2", runtime: "custom" });
    await pass(10_100);
    expect(server.all("renew").map((frame) => frame.runs.map(({ run }) => run))).toEqual([
      ["run_1", "run_2"],
      ["run_1", "run_2"],
    ]);
  });

  it("let a step wait when they are not fresh, and go on when they are again", async () => {
    const { server, pass, turn } = await startRunner();
    server.assign({ run: "run_1", runtime: "custom" });
    await settle();
    await turn().step();
    server.silentOn.add("renew");
    await pass(10_250);
    let mayStep = false;
    const step = turn()
      .step()
      .then(() => {
        mayStep = true;
      });
    await settle();
    expect(mayStep).toBe(false);
    server.answerHeld();
    await step;
    expect(mayStep).toBe(true);
  });

  it("that are gone kill the run and silence it", async () => {
    const { server, runner, pass, turn } = await startRunner();
    server.assign({ run: "run_1", runtime: "custom" });
    await settle();
    server.silentOn.add("renew");
    await pass(10_500);
    const step = turn().step();
    step.catch(() => {});
    await pass(4250);
    expect(turn().killed.aborted).toBe(false);
    await pass(250);
    expect(turn().killed.aborted).toBe(true);
    expect(runner.running).toBe(0);
    await expect(step).rejects.toBeInstanceOf(LeaseLost);
    await expect(turn().append(message("ent_1"))).rejects.toBeInstanceOf(LeaseLost);
    turn().delta({ entryId: "ent_1", kind: "text", text: "x" });
    expect(server.frames.filter(({ op }) => op !== "register" && op !== "renew")).toEqual([]);
  });

  it("count from the sending of the renewal, not from its answer", async () => {
    const { server, pass, turn } = await startRunner();
    server.assign({ run: "run_1", runtime: "custom" });
    await settle();
    server.silentOn.add("renew");
    await pass(14_000);
    server.answerHeld();
    server.silentOn.add("renew");
    await pass(6000);
    let mayStep = false;
    void turn()
      .step()
      .then(
        () => {
          mayStep = true;
        },
        () => {},
      );
    await settle();
    expect(turn().killed.aborted).toBe(false);
    expect(mayStep).toBe(true);
    await pass(5000);
    expect(turn().killed.aborted).toBe(true);
  });

  it("answered as lost, or taken away by a frame, drop the run", async () => {
    const { server, runner, pass, turn } = await startRunner();
    server.assign({ run: "run_1", runtime: "custom" });
    await settle();
    server.lostAtRenew = ["run_1"];
    await pass(5250);
    expect(turn().killed.aborted).toBe(true);
    server.assign({ run: "run_2", runtime: "custom" });
    await settle();
    server.send({ op: "lost", id: null, run: "run_2", code: "stale_fence" });
    expect(turn().killed.aborted).toBe(true);
    expect(runner.running).toBe(0);
  });

  it("of an older fence give way to a newer one, never the other way round", async () => {
    const { server, runner, custom } = await startRunner();
    server.assign({ run: "run_1", runtime: "custom", fence: 2 });
    server.assign({ run: "run_1", runtime: "custom", fence: 1 });
    server.assign({ run: "run_1", runtime: "custom", fence: 2 });
    await settle();
    expect(custom.turns).toHaveLength(1);
    server.assign({ run: "run_1", runtime: "custom", fence: 3 });
    await settle();
    expect(custom.turns.map(({ killed }) => killed.aborted)).toEqual([true, false]);
    server.send({ op: "lost", id: null, run: "run_1", fence: 2, code: "stale_fence" });
    expect(runner.running).toBe(1);
  });
});

describe("cancelling", () => {
  const cancel = (
    server: FakeServer,
    reason: "stop" | "steer" | "interrupt" | "timeout",
    graceMs = 5000,
  ) => server.send({ op: "cancel", run: "run_1", fence: 1, reason, graceMs });

  it.each([
    ["stop", "aborted"],
    ["interrupt", "aborted"],
    ["timeout", "aborted"],
    ["steer", "superseded"],
  ] as const)("by %s ends the turn as %s", async (reason, outcome) => {
    const { server, pass } = await startRunner();
    server.assign({ run: "run_1", runtime: "scripted", content: "stream 100 50" });
    await pass(220, 10);
    cancel(server, reason);
    await settle();
    expect(server.settlement("run_1")).toEqual({ outcome });
    expect(server.items("run_1")).toMatchObject([
      { text: "token1 token2 token3 token4 token5", partial: true },
    ]);
  });

  it("is forced when the runtime does not listen: text kept, calls answered, processes killed", async () => {
    const { server, custom, pass, turn } = await startRunner();
    custom.work = async (turn) => {
      await turn.append({
        type: "pre_tool",
        entryId: "ent_1",
        callId: "call_1",
        tool: "bash",
        input: {},
      });
      turn.delta({ entryId: "ent_2", kind: "text", text: "so far" });
      return new Promise(() => {});
    };
    server.assign({ run: "run_1", runtime: "custom" });
    await settle();
    cancel(server, "stop");
    await pass(4900, 100);
    expect(server.settlement("run_1")).toBeUndefined();
    await pass(200, 100);
    expect(server.settlement("run_1")).toEqual({ outcome: "aborted" });
    expect(server.items("run_1").slice(1)).toMatchObject([
      { type: "message", entryId: "ent_2", text: "so far", partial: true },
      { type: "post_tool", callId: "call_1", error: INTERRUPTED },
    ]);
    expect(turn().killed.aborted).toBe(true);
    await expect(turn().append(message("ent_9"))).rejects.toBeInstanceOf(LeaseLost);
  });

  it("lets a steered tool finish, and a stop overtakes the steer", async () => {
    const { server, pass } = await startRunner();
    server.onTool = () => null;
    server.assign({ run: "run_1", runtime: "scripted", content: "tool bash {}\nsay never" });
    await settle();
    cancel(server, "steer", 10_000);
    await pass(2000);
    const id = server.all("tool")[0]?.id as string;
    server.send({ op: "tool_result", id, output: "done", error: null });
    await settle();
    expect(server.settlement("run_1")).toEqual({ outcome: "superseded" });
    expect(server.items("run_1")).toMatchObject([
      { type: "pre_tool" },
      { type: "post_tool", output: "done" },
    ]);

    server.assign({ run: "run_1", fence: 2, runtime: "custom" });
    server.send({ op: "cancel", run: "run_1", fence: 2, reason: "steer", graceMs: 10_000 });
    server.send({ op: "cancel", run: "run_1", fence: 2, reason: "stop", graceMs: 1000 });
    await pass(1250);
    expect(server.all("journal").at(-1)?.settle).toEqual({ outcome: "aborted" });
  });

  it("does not hit another fence, nor a turn that has ended", async () => {
    const { server, turn } = await startRunner();
    server.assign({ run: "run_1", runtime: "custom", fence: 2 });
    await settle();
    cancel(server, "stop");
    expect(turn().signal.aborted).toBe(false);
    server.send({ op: "cancel", run: "run_404", fence: 1, reason: "stop", graceMs: 0 });
  });
});

describe("leaving", () => {
  it("lets turns finish, takes no more, and gives back what is still running", async () => {
    const closed: string[] = [];
    const { server, runner, custom, pass } = await startRunner({ graces: { drainMs: 3000 } });
    custom.work = async (turn) => {
      await turn.append(message("ent_1"));
      turn.signal.addEventListener("abort", () => closed.push("asked"));
      turn.killed.addEventListener("abort", () => closed.push("killed"));
      turn.delta({ entryId: "ent_2", kind: "text", text: "unfinished" });
      return new Promise(() => {});
    };
    server.assign({ run: "run_1", runtime: "scripted", content: "sleep 1000\nsay done" });
    server.assign({ run: "run_2", runtime: "custom" });
    await settle();
    const drained = runner.drain();
    server.assign({ run: "run_3" });
    await pass(1500);
    expect(server.all("drain")).toHaveLength(1);
    expect(server.settlement("run_1")).toMatchObject({ outcome: "completed" });
    expect(server.all("release").map(({ run }) => run)).toEqual(["run_3"]);
    await pass(2000);
    await pass(2500);
    await drained;
    expect(server.all("release").map(({ run }) => run)).toEqual(["run_3", "run_2"]);
    expect(server.settlement("run_2")).toBeUndefined();
    expect(server.items("run_2")).toHaveLength(1);
    expect(closed).toEqual(["asked", "killed"]);
    expect(server.isConnected).toBe(false);
  });

  it("sends what waits before it gives a run back", async () => {
    const { server, runner, custom } = await startRunner();
    server.silentOn.add("journal");
    custom.work = async (turn) => {
      void turn.append(message("ent_1"));
      void turn.append(message("ent_2"));
      return new Promise(() => {});
    };
    server.assign({ run: "run_1", runtime: "custom" });
    await settle();
    const stopped = runner.stop();
    await settle();
    expect(server.all("release")).toEqual([]);
    server.answerHeld();
    await settle();
    expect(server.frames.slice(-2)).toMatchObject([
      { op: "journal", firstOrdinal: 2 },
      { op: "release" },
    ]);
    void stopped;
  });

  it("does not wait when there is nothing to wait for", async () => {
    const { runner, server } = await startRunner();
    await runner.drain();
    await runner.ended();
    expect(server.isConnected).toBe(false);
  });

  it("is possible while the server is away", async () => {
    const server = new FakeServer();
    for (let i = 0; i < 50; i++) server.openErrors.push(new Error("away"));
    const { runner, started } = await startRunner({ transport: server });
    await runner.stop();
    await started;
  });
});
