import { describe, expect, it } from "vitest";
import { FakeClock } from "#base/clock.ts";
import type { ModelPrice, ModelProvider } from "#execution/models/model.ts";
import type { HistoryItem } from "#protocol/frames.ts";
import { FakeTurn } from "../../fake-turn.ts";
import { fakeNative } from "../fake-native.ts";
import { type ScriptedReply, scriptModel } from "../script-model.ts";
import { TurnBounds } from "../turn-limits.ts";
import { loadEarlier } from "./earlier-turns.ts";
import { summarizeEarlier } from "./summarize.ts";

const PRICE: ModelPrice = {
  id: "test@1",
  inputMicros: 1e6,
  cachedInputMicros: 1e6,
  outputMicros: 1e6,
};
const author = { kind: "user" as const, id: "usr_1", name: "Ada" };

class Thread {
  readonly items: HistoryItem[] = [];

  #add(role: HistoryItem["role"], item: HistoryItem["item"]): void {
    this.items.push({ seq: this.items.length + 1, role, promptId: null, item });
  }
  prompt(text: string): this {
    this.#add("user", { type: "prompt", text, author, attachments: [] });
    return this;
  }
  answer(text: string): this {
    this.#add("assistant", { type: "message", entryId: "e", kind: "text", text });
    return this;
  }
  call(n: number, output: string): this {
    const call = { entryId: "e", step: n, callId: `c${n}`, tool: "bash" };
    this.#add("assistant", { type: "pre_tool", ...call, input: { command: "ls" } });
    this.#add("assistant", { type: "post_tool", ...call, input: {}, output, error: null });
    return this;
  }
}

/** A turn whose thread is read by pages and hides summed-up entries, as the server's does. */
class ThreadTurn extends FakeTurn {
  readonly pages: number[] = [];
  readonly #items: readonly HistoryItem[];
  readonly #summary: string | null;
  /** As the server reports it. */
  summaryDue: boolean | undefined = true;

  constructor({ items }: Thread, summary: string | null = null, given = {}) {
    super({ content: "and now?", isFirst: false, ...given });
    this.#items = items;
    this.#summary = summary;
  }

  override history = async (before: number | null = null, limit = 200) => {
    const older = this.#items.filter(({ seq }) => before === null || seq < before);
    this.pages.push(Math.min(limit, older.length));
    const { summaryDue } = this;
    const items = older.slice(-limit);
    return { items, more: older.length > limit, summary: this.#summary, summaryDue };
  };

  get summaries() {
    return this.items.flatMap((item) => (item.type === "context_summary" ? [item] : []));
  }
}

function setUp(turn: FakeTurn, answer: (n: number, text: string) => ScriptedReply) {
  const script = scriptModel((n, { messages }) => answer(n, JSON.stringify(messages)));
  const found = script.models.provider("test/script") as { provider: ModelProvider };
  const bounds = new TurnBounds(turn.assignment, new FakeClock());
  const { requests } = script;
  const by = { turn, ...found, modelId: "test/script", model: "script", price: PRICE, bounds };
  return { by, bounds, requests };
}

async function settle(
  turn: ThreadTurn,
  answer: (n: number, text: string) => ScriptedReply,
  held?: number,
) {
  const { by, bounds, requests } = setUp(turn, answer);
  const earlier = await summarizeEarlier(by, await loadEarlier(turn, held));
  return { earlier, bounds, texts: requests.map(({ messages }) => JSON.stringify(messages)) };
}

const numbered = (n: number): ScriptedReply => [{ text: `summary ${n}` }];
const long = (exchanges: number) => {
  const thread = new Thread();
  for (let i = 0; i < exchanges; i++)
    thread.prompt(`P${i}. ${"x".repeat(3900)}`).answer(`A${i}. ${"y".repeat(3900)}`);
  return thread;
};

describe("summing up", () => {
  it("goes piece by piece from the oldest, and hides nothing it has not read", async () => {
    const turn = new ThreadTurn(long(200), "NEVER FORGET THIS");
    const { earlier, texts } = await settle(turn, numbered);
    expect(texts[0]).toContain("NEVER FORGET THIS");
    expect(texts[0]).toContain("P0.");
    expect(texts[1]).toContain("summary 1");
    expect(turn.summaries.map(({ text }) => text)).toEqual(texts.map((_, i) => `summary ${i + 1}`));
    // Each piece ends where the next begins, and the last one where the verbatim part does.
    const reached = turn.summaries.map(({ throughSeq }) => throughSeq);
    expect(reached).toEqual(reached.toSorted((a, b) => a - b));
    expect(new Set(reached).size).toBe(reached.length);
    expect(earlier.exchanges[0]?.items[0]?.seq).toBe((reached.at(-1) as number) + 1);
    expect(earlier).toMatchObject({ summary: `summary ${texts.length}`, hidden: 0 });
    for (const text of texts) expect(text.length).toBeLessThan(320_000);
    for (let i = 0; i < 200 - earlier.exchanges.length; i++)
      expect(texts.filter((text) => text.includes(`P${i}. `))).toHaveLength(1);
  });

  it("leaves to the next turn what five requests do not reach, and says so", async () => {
    const thread = long(300);
    const turn = new ThreadTurn(thread);
    const { earlier, texts } = await settle(turn, numbered);
    expect(texts).toHaveLength(5);
    const reached = turn.summaries.at(-1)?.throughSeq as number;
    const first = earlier.exchanges[0]?.items[0]?.seq as number;
    expect(first - reached - 1).toBeGreaterThan(0);
    expect(earlier.hidden).toBe(Math.ceil((first - reached - 1) / 2));
  });

  const refuses: ScriptedReply = {
    failure: { code: "model_unauthorized", message: "No.", retryable: false },
  };
  const failuresOf = (turn: FakeTurn) =>
    turn.items.filter(({ type }) => type === "summary_failed").length;

  it("tells the server of one that failed, and asks for none while the server says so", async () => {
    const first = new ThreadTurn(long(80));
    expect((await settle(first, () => refuses)).texts).toHaveLength(1);
    expect(failuresOf(first)).toBe(1);
    const next = new ThreadTurn(long(81), "what is known");
    next.summaryDue = false;
    const { earlier, texts } = await settle(next, () => refuses);
    expect(texts).toEqual([]);
    expect(failuresOf(next)).toBe(0);
    expect(earlier.summary).toBe("what is known");
    expect(earlier.hidden).toBeGreaterThan(0);
  });

  it("tells nothing of one that went well, was stopped, or that the server would not know", async () => {
    const well = new ThreadTurn(long(80));
    await settle(well, numbered);
    expect(failuresOf(well)).toBe(0);
    const earlierServer = new ThreadTurn(long(80));
    earlierServer.summaryDue = undefined;
    expect((await settle(earlierServer, () => refuses)).texts).toHaveLength(1);
    expect(failuresOf(earlierServer)).toBe(0);
  });

  it("asks for less when the model cannot read so much", async () => {
    const failure = { code: "context_too_long", message: "Too long.", retryable: false };
    const turn = new ThreadTurn(long(80));
    const { earlier, texts } = await settle(turn, (n, text) =>
      text.length > 110_000 ? { failure } : numbered(n),
    );
    expect(texts).toHaveLength(5);
    expect(turn.summaries).toHaveLength(4);
    expect(earlier.hidden).toBeGreaterThan(0);
  });

  it.each<[string, ScriptedReply]>([
    ["fails", { failure: { code: "model_unauthorized", message: "No.", retryable: false } }],
    ["says nothing", []],
  ])("tells how much is missing when the model %s", async (_name, answer) => {
    const turn = new ThreadTurn(long(80));
    const { earlier } = await settle(turn, () => answer);
    expect(turn.summaries).toEqual([]);
    expect(earlier.summary).toBeNull();
    expect(earlier.hidden + earlier.exchanges.length).toBe(80);
  });

  it("counts for the turn, and is not done when its money is spent", async () => {
    const turn = new ThreadTurn(long(200), null, { budgetLeftMicros: 20 });
    const { bounds, texts } = await settle(turn, numbered);
    // Each request costs 15 micros: the second one exceeds the budget.
    expect(texts).toHaveLength(2);
    expect(bounds.reached(1)).toMatchObject({ error: { code: "budget_exhausted" } });
    expect(turn.items.filter(({ type }) => type === "model_call")).toHaveLength(2);
  });

  it("ends with the turn's time", async () => {
    const turn = new ThreadTurn(long(80));
    turn.assignment.limits = { ...turn.assignment.limits, wallMs: 30 };
    const { earlier, texts } = await settle(turn, () => "hang");
    expect(texts).toHaveLength(1);
    expect(earlier.hidden).toBeGreaterThan(0);
  });
});

describe("reading back", () => {
  it("reads all that is not summed up, and sums up from its beginning", async () => {
    const thread = new Thread().prompt("THE FIRST WISH");
    for (let n = 0; n < 2600; n++) thread.call(n, "z".repeat(300));
    thread.prompt("next").answer("yes");
    const turn = new ThreadTurn(thread);
    const { earlier, texts } = await settle(turn, numbered);
    expect(turn.pages.reduce((sum, count) => sum + count)).toBe(thread.items.length);
    expect(texts[0]).toContain("THE FIRST WISH");
    expect(earlier.exchanges).toHaveLength(1);
  });

  it("holds both ends of a thread that is too long, and tells of the middle", async () => {
    const thread = new Thread();
    for (let i = 0; i < 30; i++) thread.prompt(`P${i}.`).answer("y".repeat(100_000));
    const turn = new ThreadTurn(thread);
    const loaded = await loadEarlier(turn, 20_000);
    // 15 of the newest answers are whole, and the prompt of the first of them is older.
    expect(loaded.newest.filter(({ item }) => item.type === "prompt")).toHaveLength(14);
    expect(loaded.oldest[0]).toMatchObject({ seq: 1, item: { text: "P0." } });
    expect(loaded.gap).toBeGreaterThan(0);
    const { earlier } = await settle(turn, numbered, 20_000);
    expect(turn.summaries).toHaveLength(1);
    expect(turn.summaries[0]?.throughSeq).toBe(loaded.oldest.at(-1)?.seq);
    const summedUp = loaded.oldest.filter(({ item }) => item.type === "prompt").length;
    expect(summedUp + earlier.hidden + earlier.exchanges.length).toBeGreaterThanOrEqual(30);
  });

  it("drops what answers a prompt that was cleared away", async () => {
    const thread = new Thread().answer("the rest of a cleared turn").prompt("hello").answer("hi");
    const { runtime, requests } = fakeNative(() => [{ text: "done" }], {
      workspaces: undefined as never,
    });
    const turn = new ThreadTurn(thread);
    turn.registered = "[Your child sessions now]";
    await turn.work(runtime);
    expect(JSON.stringify(requests[0])).not.toContain("[Your child sessions now]");
    expect(requests[0]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    expect(JSON.stringify(requests)).not.toContain("cleared turn");
  });

  it("goes on after a summary that ends within an exchange, and tells what is missing", async () => {
    const thread = new Thread().answer("the rest of what was asked").prompt("hello").answer("hi");
    const { runtime, requests } = fakeNative(() => [{ text: "done" }], {
      workspaces: undefined as never,
    });
    const turn = new ThreadTurn(thread, "so far");
    turn.registered = "[Your child sessions now]";
    await turn.work(runtime);
    expect(JSON.stringify(requests[0])).toContain("[Your child sessions now]");
    expect(requests[0]?.messages.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "user",
      "assistant",
      "user",
    ]);
    const failure = { code: "model_unauthorized", message: "No.", retryable: false };
    const missing = fakeNative((n) => (n === 1 ? { failure } : [{ text: "done" }]), {
      workspaces: undefined as never,
    });
    await new ThreadTurn(long(80)).work(missing.runtime);
    expect(JSON.stringify(missing.requests[1]?.messages[0])).toMatch(
      /\[… \d+ earlier exchanges are not shown …\]/,
    );
  });
});
