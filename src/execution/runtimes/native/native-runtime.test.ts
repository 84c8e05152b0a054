import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { JournalItem } from "#protocol/events.ts";
import type { Decision } from "#protocol/frames.ts";
import { FakeTurn } from "../fake-turn.ts";
import { testRuntime } from "../runtime.contract.ts";
import { INTERRUPTED } from "../runtime.ts";
import { fakeNative, fakeWorkspaces } from "./fake-native.ts";
import type { ScriptedReply, scriptModel } from "./script-model.ts";

const KEY = "sk-test-1234567890abcdef1234567890";
const folder = mkdtempSync(join(tmpdir(), "muster-native-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const { workspaces } = await fakeWorkspaces(folder);
const runtimeWith = (answer: Parameters<typeof scriptModel>[0]) =>
  fakeNative(answer, { workspaces, secrets: [KEY] });

const lines =
  (...answers: ScriptedReply[]) =>
  (n: number) =>
    answers[n - 1] ?? [{ text: "done" }];
const bash = (command: string, id?: string) => ({
  call: "bash",
  input: { command },
  ...(id ? { id } : {}),
});
const posts = (items: readonly JournalItem[]) =>
  items.flatMap((item) => (item.type === "post_tool" ? [item] : []));

testRuntime({
  name: "native",
  create: () =>
    runtimeWith((n, request) => {
      const last = request.messages.at(-1);
      const text = JSON.stringify(last?.content);
      if (text.includes("slow")) return [{ text: "word ".repeat(20_000) }];
      if (text.includes("use a tool") && last?.role === "user")
        return [{ call: "lookup", input: { n } }];
      return [{ reasoning: "hm" }, { text: "An answer." }];
    }).runtime,
  prompts: { answer: "hello", slow: "be slow", tool: "use a tool" },
});

describe("the native loop", () => {
  it("journals a response with its calls before it performs them, then asks again", async () => {
    const { runtime, requests } = runtimeWith(
      lines([{ text: "Looking." }, bash("echo one"), bash("echo two >&2; exit 3")]),
    );
    const turn = new FakeTurn({ content: "go" });
    const end = await turn.work(runtime);
    expect(end).toMatchObject({ outcome: "completed", result: "done" });
    const kinds = turn.acts.map((act) => (act.did === "append" ? act.item.type : act.did));
    expect(kinds).toEqual([
      "step",
      "message",
      "pre_tool",
      "pre_tool",
      "model_call",
      "step",
      "post_tool",
      "step",
      "post_tool",
      "step",
      "message",
      "model_call",
    ]);
    expect(posts(turn.items)).toMatchObject([
      { output: "one\n", error: null, exitCode: 0, step: 1 },
      { output: expect.stringContaining("two"), exitCode: 3, step: 1 },
    ]);
    expect(requests[1]?.messages).toMatchObject([
      { role: "user" },
      {
        role: "assistant",
        content: [{ type: "text" }, { type: "tool_call" }, { type: "tool_call" }],
      },
      { role: "tool", content: [{ callId: "call_1_1" }, { callId: "call_1_2" }] },
    ]);
  });

  it("reports once, after hibernation, which background processes were ended", async () => {
    const sessionId = "ses_slept";
    const { runtime, requests } = runtimeWith((n) =>
      n === 1
        ? [{ call: "bash", input: { command: `sleep 300 # ${KEY}`, background: true } }]
        : [{ text: "done" }],
    );
    const work = async () => {
      const turn = new FakeTurn({ content: "go", sessionId });
      await turn.work(runtime);
      return turn.items.flatMap((item) => (item.type === "notice" ? [item] : []));
    };
    expect(await work()).toEqual([]);
    await runtime.releaseSession?.(sessionId, false);
    const told = await work();
    expect(told).toMatchObject([{ forModel: true }]);
    expect(told[0]?.text).toContain("bg_1 (sleep 300 #");
    expect(told[0]?.text).not.toContain(KEY);
    expect(JSON.stringify(requests.at(-1)?.messages)).toContain("bg_1 (sleep 300 #");
    expect(await work()).toEqual([]);
    await runtime.close?.();
  });

  it("gives a call that is not JSON, or is refused, back to the model as an error", async () => {
    const { runtime, requests } = runtimeWith(
      lines([
        { call: "bash", inputText: '{"command": "echo' },
        { call: "teleport", input: {} },
      ]),
    );
    const turn = new FakeTurn({ content: "go" });
    turn.judge = (_tool, input) => ({
      verdict: "invalid",
      reason: typeof input === "string" ? "not JSON" : "no such tool",
    });
    expect(await turn.work(runtime)).toMatchObject({ outcome: "completed" });
    expect(posts(turn.items).map(({ error }) => error)).toEqual(["not JSON", "no such tool"]);
    expect(requests[1]?.messages.at(-1)).toMatchObject({
      role: "tool",
      content: [{ isError: true }, { isError: true }],
    });
  });

  it("makes repeated call ids unique, across responses too", async () => {
    const { runtime } = runtimeWith(
      lines([bash("echo 1", "call_1")], [bash("echo 2", "call_1")], [bash("echo 3", "call_1")]),
    );
    const turn = new FakeTurn({ content: "go" });
    await turn.work(runtime);
    const ids = posts(turn.items).map(({ callId }) => callId);
    expect(new Set(ids).size).toBe(3);
    expect(posts(turn.items).map(({ output }) => output)).toEqual(["1\n", "2\n", "3\n"]);
  });

  it("keeps secrets out of results", async () => {
    const { runtime, requests } = runtimeWith(
      lines([bash(`echo ${KEY.slice(0, 20)}; echo ${KEY}`)]),
    );
    const turn = new FakeTurn({ content: "go" });
    await turn.work(runtime);
    expect(JSON.stringify(posts(turn.items).map(({ output }) => output))).not.toContain(KEY);
    expect(JSON.stringify(requests[1]?.messages.at(-1))).not.toContain(KEY);
  });

  it("shows which tool is called while its arguments are written", async () => {
    const { runtime } = runtimeWith(lines([bash("echo 1", "call_1")]));
    const turn = new FakeTurn({ content: "go" });
    await turn.work(runtime);
    const pieces = turn.deltas.filter(({ toolName }) => toolName !== undefined);
    expect(pieces.length).toBeGreaterThan(0);
    for (const piece of pieces)
      expect(piece).toMatchObject({ kind: "tool_call", toolName: "bash" });
  });

  it("tells what day it is where the person is", async () => {
    const { runtime, requests } = runtimeWith(lines());
    const at = Date.parse("2030-01-31T23:30:00Z");
    const time = { at, timezone: "Europe/Berlin", locale: "de-DE" };
    await new FakeTurn({ content: "go", material: { time } }).work(runtime);
    expect(requests[0]?.system).toMatch(
      /Your person's local time is Friday, February 1, 2030.*\(Europe\/Berlin, locale de-DE\)/,
    );
    await new FakeTurn({
      content: "go",
      material: { time: { ...time, timezone: "Not/There" } },
    }).work(runtime);
    expect(requests[1]?.system).not.toContain("local time");
  });

  it("reads the repository's instructions and the session's", async () => {
    const { runtime, requests } = runtimeWith(lines());
    await new FakeTurn({
      repository: { kind: "path", path: "/r" },
      instructions: "Be brief.",
    }).work(runtime);
    expect(requests[0]?.system).toContain("Use tabs.");
    expect(requests[0]?.system).toContain("Be brief.");
  });

  it("says which model is missing", async () => {
    const { runtime } = runtimeWith(lines());
    const end = await new FakeTurn({ model: "test/none" }).work(runtime);
    expect(end).toMatchObject({ outcome: "failed", error: { code: "model_not_available" } });
  });
});

describe("limits", () => {
  const forever = () => [bash("true")];

  it("ends after its requests", async () => {
    const { runtime, requests } = runtimeWith(forever);
    const turn = new FakeTurn({ content: "go" });
    turn.assignment.limits = { ...turn.assignment.limits, requests: 3 };
    const end = await turn.work(runtime);
    expect(end).toMatchObject({ outcome: "failed", error: { code: "request_limit_reached" } });
    expect(requests).toHaveLength(3);
  });

  it("performs no more calls of one response than allowed, and says so", async () => {
    const { runtime } = runtimeWith(lines(Array.from({ length: 5 }, (_, n) => bash(`echo ${n}`))));
    const turn = new FakeTurn({ content: "go" });
    turn.assignment.limits = { ...turn.assignment.limits, callsPerResponse: 3 };
    await turn.work(runtime);
    expect(posts(turn.items).map(({ error }) => error === null)).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
  });

  it("ends a request that hangs when its time is up", async () => {
    const { runtime } = runtimeWith(() => "hang");
    const turn = new FakeTurn({ content: "go" });
    turn.assignment.limits = { ...turn.assignment.limits, wallMs: 50 };
    const end = await turn.work(runtime);
    expect(end).toMatchObject({ outcome: "failed", error: { code: "turn_time_limit_reached" } });
  });

  it("says once a turn that a budget cannot be kept without a price", async () => {
    const text = "The price of test/script is not known, so the budget cannot be enforced.";
    const notices = (items: readonly JournalItem[]) =>
      items.flatMap((item) => (item.type === "notice" ? [item.text] : []));
    const { runtime } = runtimeWith(lines([bash("true")]));
    const turn = new FakeTurn({ budgetLeftMicros: 5 });
    expect(await turn.work(runtime)).toMatchObject({ outcome: "completed" });
    expect(notices(turn.items)).toEqual([text]);
    const again = new FakeTurn({ budgetLeftMicros: 5, journal: turn.items.slice(0, 3) });
    await again.work(runtime);
    expect(notices(again.items)).toEqual([]);
    const free = new FakeTurn();
    await free.work(runtimeWith(lines()).runtime);
    expect(notices(free.items)).toEqual([]);
  });

  it("ends when the session's budget is used", async () => {
    const { runtime } = runtimeWith(forever);
    const end = await new FakeTurn({ budgetLeftMicros: 0 }).work(runtime);
    expect(end).toMatchObject({ outcome: "failed", error: { code: "budget_exhausted" } });
  });
});

describe("a model that fails", () => {
  it("ends the turn with the failure's code", async () => {
    const failure = { code: "model_unauthorized", message: "Check the key.", retryable: false };
    const { runtime } = runtimeWith(() => ({ failure }));
    expect(await new FakeTurn().work(runtime)).toMatchObject({
      outcome: "failed",
      error: { code: "model_unauthorized" },
    });
  });

  it("ends as stopped a turn whose requests the server lets through no longer", async () => {
    const failure = { code: "turn_over", message: "Being stopped.", retryable: false };
    const { runtime } = runtimeWith(() => ({ failure }));
    const end = await new FakeTurn().work(runtime);
    expect(end).toMatchObject({ outcome: "aborted" });
    expect(end).not.toHaveProperty("error");
  });

  it("parks the turn when the quota comes back later", async () => {
    const failure = {
      code: "model_quota_exhausted",
      message: "Comes back later.",
      retryable: true,
      retryAfterMs: 3_600_000,
    };
    const { runtime } = runtimeWith(() => ({ failure }));
    expect(await new FakeTurn().workOrPark(runtime)).toMatchObject({
      outcome: "parked",
      park: { kind: "pause", waitMs: 3_600_000, code: "model_quota_exhausted" },
    });
  });

  it.each([
    ["model_unavailable", 1, null],
    ["model_rate_limited", 60_000, null],
    ["model_rate_limited", 60_001, 60_001],
    ["model_quota_exhausted", 1, 30_000],
    ["model_quota_exhausted", undefined, null],
  ])("after %s, to be asked again in %s ms, waits %s ms", async (code, retryAfterMs, waitMs) => {
    const failure = { code, message: "Not now.", retryable: false };
    const { runtime } = runtimeWith(() => ({
      failure: { ...failure, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) },
    }));
    expect(await new FakeTurn().workOrPark(runtime)).toMatchObject(
      waitMs === null
        ? { outcome: "failed", error: { code } }
        : { outcome: "parked", park: { kind: "pause", waitMs, code } },
    );
  });

  it("shortens old results for a model that cannot read so much, and asks again", async () => {
    const big = `${"x".repeat(20_000)}`;
    const failure = { code: "context_too_long", message: "Too long.", retryable: false };
    const { runtime, requests } = runtimeWith((n, request) => {
      if (n <= 6) return [bash(`echo ${big.slice(0, 15_000)}`)];
      return JSON.stringify(request.messages).length > 100_000 ? { failure } : [{ text: "done" }];
    });
    expect(await new FakeTurn().work(runtime)).toMatchObject({ outcome: "completed" });
    const sizes = requests.map(({ messages }) => JSON.stringify(messages).length);
    expect(sizes.at(-1)).toBeLessThan(sizes.at(-2) as number);
  });

  it("gives up on answers of nothing", async () => {
    const { runtime, requests } = runtimeWith(() => []);
    expect(await new FakeTurn().work(runtime)).toMatchObject({
      error: { code: "model_empty_response" },
    });
    expect(requests).toHaveLength(2);
  });
});

describe("approvals", () => {
  const counter = join(folder, "counter");
  const count = () => readFileSync(counter, "utf8").length;
  const inc = (n: number) => bash(`printf ${"x".repeat(n)} >> ${counter}`);

  /** Works on a turn, and again after each parking, with the given decisions. */
  async function workThrough(
    answers: ScriptedReply[],
    decide: (callId: string) => Partial<Decision>,
  ) {
    const script = lines(...answers);
    const first = new FakeTurn({ content: "go" });
    const journal: JournalItem[] = [];
    const decisions: Decision[] = [];
    let parks = 0;
    for (let turn = first; ; ) {
      turn.judge = (tool) =>
        tool === "bash" ? { verdict: "ask", reason: null } : { verdict: "allow", reason: null };
      const asked = journal.reduce((last, item) => Math.max(last, item.step ?? 0), 0);
      const { runtime } = runtimeWith((n) => script(n + asked));
      const end = await turn.workOrPark(runtime);
      journal.push(...turn.items);
      if (end.outcome !== "parked" || end.park.kind !== "gate") return { end, journal, parks };
      parks += 1;
      const { callId } = end.park;
      for (const decision of decisions) decision.fresh = false;
      decisions.push({
        callId,
        allowed: true,
        reason: null,
        answers: null,
        fresh: true,
        ...decide(callId),
      });
      turn = new FakeTurn({
        content: "go",
        journal: [...journal],
        decisions: structuredClone(decisions),
      });
    }
  }

  it("asks for two gated calls one after the other, and performs each once", async () => {
    writeFileSync(counter, "");
    const { end, journal, parks } = await workThrough([[inc(1), inc(2)]], () => ({}));
    expect(end).toMatchObject({ outcome: "completed", result: "done" });
    expect(parks).toBe(2);
    expect(count()).toBe(3);
    expect(posts(journal)).toHaveLength(2);
  });

  it("tells the model what was not allowed", async () => {
    writeFileSync(counter, "");
    const { end, journal } = await workThrough([[inc(1)]], () => ({
      allowed: false,
      reason: "no",
    }));
    expect(end.outcome).toBe("completed");
    expect(count()).toBe(0);
    expect(posts(journal)).toMatchObject([{ error: "no" }]);
  });

  /** A turn that resumes after its one call was allowed. */
  function allowedTurn({ fresh }: { fresh: boolean }): FakeTurn {
    const pre: JournalItem = {
      type: "pre_tool",
      entryId: "ent_1",
      callId: "c1",
      tool: "bash",
      step: 1,
      input: inc(1).input,
      verdict: { verdict: "ask", reason: null },
    };
    const decision = { callId: "c1", allowed: true, reason: null, answers: null, fresh };
    return new FakeTurn({ journal: [pre], decisions: [decision] });
  }

  it("allows one call with one answer, whatever id the next one has", async () => {
    writeFileSync(counter, "");
    const turn = allowedTurn({ fresh: true });
    turn.judge = () => ({ verdict: "ask", reason: null });
    const { runtime } = runtimeWith(lines([{ ...inc(5), id: "c1" }]));
    const end = await turn.workOrPark(runtime);
    expect(end).toMatchObject({ outcome: "parked", park: { kind: "gate" } });
    expect(end).not.toMatchObject({ park: { callId: "c1" } });
    expect(count()).toBe(1);
  });

  it("hands a decision to the response it was asked in, and to no later one", async () => {
    writeFileSync(counter, "");
    // An earlier attempt that the journal does not show: a decision without its call.
    const turn = new FakeTurn({
      decisions: [{ callId: "c9", allowed: true, reason: null, answers: null, fresh: true }],
    });
    turn.judge = () => ({ verdict: "ask", reason: null });
    const { runtime } = runtimeWith(lines([{ ...inc(5), id: "c9" }]));
    expect(await turn.workOrPark(runtime)).toMatchObject({
      outcome: "parked",
      park: { kind: "gate", callId: "c9" },
    });
    expect(count()).toBe(0);
  });

  it.each(["a\u0000b", "\ud800", ""])(
    "parks a call %j under the id it is journaled by",
    async (id) => {
      const turn = new FakeTurn({ content: "go" });
      turn.judge = () => ({ verdict: "ask", reason: null });
      const { runtime } = runtimeWith(lines([{ ...inc(1), id }]));
      const end = await turn.workOrPark(runtime);
      const [call] = turn.items.flatMap((item) => (item.type === "pre_tool" ? [item] : []));
      expect(call?.callId).not.toBe("");
      expect(call?.callId.isWellFormed()).toBe(true);
      expect(call?.callId).not.toContain("\u0000");
      expect(end).toMatchObject({ park: { kind: "gate", callId: call?.callId } });
    },
  );

  it("gives the answers to a question to the model", async () => {
    const question = {
      call: "ask_user_question",
      input: { questions: [{ question: "Which colour?" }] },
    };
    const turn = new FakeTurn({ content: "go" });
    turn.judge = () => ({ verdict: "ask", reason: null });
    const { runtime } = runtimeWith(lines([question]));
    const end = await turn.workOrPark(runtime);
    expect(end).toMatchObject({ outcome: "parked", park: { kind: "gate", callId: "call_1_0" } });
    const again = new FakeTurn({
      content: "go",
      journal: turn.items,
      decisions: [
        { callId: "call_1_0", allowed: true, reason: null, answers: ["blue"], fresh: true },
      ],
    });
    const { runtime: next, requests } = runtimeWith(lines());
    expect(await again.work(next)).toMatchObject({ outcome: "completed" });
    expect(JSON.stringify(requests[0]?.messages.at(-1))).toContain("blue");
  });

  it("does not perform an allowed call again when its runner was lost", async () => {
    writeFileSync(counter, "");
    const turn = allowedTurn({ fresh: false });
    const { runtime } = runtimeWith(lines());
    expect(await turn.work(runtime)).toMatchObject({ outcome: "completed" });
    expect(count()).toBe(0);
    expect(posts(turn.items)).toMatchObject([{ error: INTERRUPTED }]);
  });

  it("delivers a denial and an answer again when the runner that received them is lost", async () => {
    writeFileSync(counter, "");
    const asked = (callId: string, tool: string, input: unknown): JournalItem => ({
      type: "pre_tool",
      entryId: `ent_${callId}`,
      callId,
      tool,
      step: 1,
      input,
      verdict: { verdict: "ask", reason: null },
    });
    const told = { reason: null, answers: null, fresh: false };
    const turn = new FakeTurn({
      journal: [
        asked("c1", "bash", inc(1).input),
        asked("c2", "ask_user_question", { questions: [{ question: "Which colour?" }] }),
      ],
      decisions: [
        { ...told, callId: "c1", allowed: false, reason: "not now" },
        { ...told, callId: "c2", allowed: true, answers: ["blue"] },
      ],
    });
    const { runtime } = runtimeWith(lines());
    expect(await turn.work(runtime)).toMatchObject({ outcome: "completed" });
    expect(count()).toBe(0);
    expect(posts(turn.items)).toMatchObject([
      { error: "not now" },
      { error: null, output: expect.stringContaining("blue") },
    ]);
  });
});

describe("going on after a loss", () => {
  it("answers what was under way, performs what had not begun, and asks no question twice", async () => {
    const counter = join(folder, "resumed");
    writeFileSync(counter, "");
    const call = (n: number): JournalItem => ({
      type: "pre_tool",
      entryId: `ent_${n}`,
      callId: `c${n}`,
      tool: "bash",
      step: 1,
      input: { command: `printf ${n} >> ${counter}` },
      verdict: { verdict: "allow", reason: null },
    });
    const first: JournalItem = {
      type: "post_tool",
      entryId: "ent_r",
      callId: "c1",
      tool: "bash",
      step: 1,
      input: {},
      output: "1",
      error: null,
    };
    const turn = new FakeTurn({ journal: [call(1), call(2), call(3), first] });
    const { runtime, requests } = runtimeWith(lines());
    expect(await turn.work(runtime)).toMatchObject({ outcome: "completed", result: "done" });
    expect(posts(turn.items)).toMatchObject([
      { callId: "c2", error: INTERRUPTED },
      { callId: "c3", error: null },
    ]);
    expect(readFileSync(counter, "utf8")).toBe("3");
    expect(requests).toHaveLength(1);

    // A rule was made meanwhile: a call that had not begun is not performed, one that may have is
    // reported so.
    const denial = { allowed: false, reason: "a rule", answers: null, fresh: true };
    const denied = new FakeTurn({
      journal: [call(1), call(2), call(3), first],
      decisions: ["c2", "c3"].map((callId) => ({ ...denial, callId })),
    });
    await denied.work(runtimeWith(lines()).runtime);
    expect(posts(denied.items)).toMatchObject([
      { callId: "c2", error: INTERRUPTED },
      { callId: "c3", error: "a rule", performed: false },
    ]);
    expect(readFileSync(counter, "utf8")).toBe("3");
  });

  it("performs no call that is denied by the time its turn comes", async () => {
    const counter = join(folder, "denied-later");
    writeFileSync(counter, "");
    const turn = new FakeTurn({ content: "go" });
    const append = turn.append.bind(turn);
    turn.append = async (...items) => {
      const verdicts = await append(...items);
      const recheck = items.flatMap((item) =>
        item.type === "post_tool" ? (item.recheck ?? []) : [],
      );
      const denied = recheck.map((id) => [id, { verdict: "deny", reason: "a rule" }] as const);
      return { ...verdicts, ...Object.fromEntries(denied) };
    };
    const print = (n: number) => bash(`printf ${n} >> ${counter}`);
    await turn.work(runtimeWith(lines([print(1), print(2), print(3)])).runtime);
    expect(readFileSync(counter, "utf8")).toBe("1");
    expect(posts(turn.items).map(({ error }) => error)).toEqual([null, "a rule", "a rule"]);
  });
});

describe("a model that is not known", () => {
  const native = (refreshModels: () => Promise<void>) =>
    fakeNative(lines([{ text: "hello" }]), { workspaces, refreshModels });

  it("fails the turn once the server has said that it is not there", async () => {
    const { runtime } = native(async () => {});
    const end = await new FakeTurn({ content: "go", model: "test/none" }).work(runtime);
    expect(end).toMatchObject({ outcome: "failed", error: { code: "model_not_available" } });
  });

  it("is used when the server has it by now", async () => {
    const { provider } = native(async () => {}).models;
    const known = native(async () => {
      known.models.provider = () => provider("test/script");
    });
    const end = await new FakeTurn({ content: "go", model: "test/none" }).work(known.runtime);
    expect(end).toMatchObject({ outcome: "completed", result: "hello" });
  });

  it("makes the turn wait, with a reason, while the server cannot be asked", async () => {
    const { runtime } = native(() => Promise.reject(new Error("ECONNREFUSED")));
    const end = await new FakeTurn({ content: "go", model: "test/none" }).workOrPark(runtime);
    expect(end).toMatchObject({
      outcome: "parked",
      park: { kind: "pause", code: "models_unknown", message: expect.stringContaining("server") },
    });
  });

  it("makes the turn wait while a provider that was set up is silent", async () => {
    const made = native(async () => {});
    made.models.defaultModel = async () => ({ silent: "House does not answer." });
    const end = await new FakeTurn({ content: "go" }).workOrPark(made.runtime);
    expect(end).toMatchObject({
      outcome: "parked",
      park: { code: "models_unknown", message: expect.stringContaining("House does not answer.") },
    });
  });
});
