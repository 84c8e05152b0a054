import { beforeEach, describe, expect, it } from "vitest";
import { keptPrompts, type UnsentPrompt } from "./kept-prompts.ts";
import { type OutboxOptions, PromptOutbox, type SendResult } from "./prompt-outbox.ts";

const PREFIX = "muster.unsent.usr_1.";
const DAY_MS = 24 * 60 * 60_000;

/** Browser and server controlled by a test: storage, requests and answers. */
class Harness {
  readonly kept = new Map<string, string>();
  isForbidden = false;
  readonly sent: string[] = [];
  readonly timers: { run: () => void; afterMs: number }[] = [];
  answer: SendResult = { is: "sent" };
  isServerWell = true;
  now = 1_000_000;

  open(change: Partial<OutboxOptions> = {}): PromptOutbox {
    return new PromptOutbox({
      kept: keptPrompts(() => this.storage(), PREFIX),
      send: async ({ dispatchId }) => {
        this.sent.push(dispatchId);
        return this.answer;
      },
      isServerWell: async () => this.isServerWell,
      now: () => this.now,
      setTimer: (run, afterMs) => this.timers.push({ run, afterMs }),
      clearTimer: () => {},
      ...change,
    });
  }

  /** Storage keys are visible as properties. */
  storage(): Storage {
    if (this.isForbidden) throw new DOMException("forbidden", "SecurityError");
    const methods = {
      getItem: (key: string) => this.kept.get(key) ?? null,
      setItem: (key: string, text: string) => void this.kept.set(key, text),
      removeItem: (key: string) => void this.kept.delete(key),
    };
    return Object.assign(Object.create(methods), Object.fromEntries(this.kept)) as Storage;
  }

  prompt(dispatchId: string, sessionId = "ses_1"): UnsentPrompt {
    return { dispatchId, sessionId, content: `Do ${dispatchId}`, mode: "followup", at: this.now };
  }

  /** Advances the clock to the last timer that was set, and runs it. */
  async later(): Promise<void> {
    const timer = this.timers.pop();
    this.now += timer?.afterMs ?? 0;
    timer?.run();
    await idle();
  }

  get stored(): string[] {
    return [...this.kept.keys()].map((key) => key.slice(PREFIX.length));
  }
}

const AWAY: SendResult = { is: "lost", why: "The server did not answer." };
const idle = () => new Promise((resolve) => setTimeout(resolve));

describe("prompts on their way", () => {
  let harness: Harness;
  beforeEach(() => {
    harness = new Harness();
  });

  it("are kept until the server has answered", async () => {
    let release: (result: SendResult) => void = () => {};
    const send = () => new Promise<SendResult>((resolve) => (release = resolve));
    const outbox = harness.open({ send });
    const answered = outbox.add(harness.prompt("a"));
    expect(harness.stored).toEqual(["a"]);
    expect(outbox.items("ses_1")).toMatchObject([{ content: "Do a", problem: null }]);
    release({ is: "sent" });
    expect(await answered).toBeUndefined();
    expect(harness.kept.size).toBe(0);
    expect(outbox.items("ses_1")).toEqual([]);
  });

  it("are sent by themselves once the server is back, in order and with the same id", async () => {
    harness.answer = AWAY;
    const outbox = harness.open();
    void outbox.add(harness.prompt("a"));
    void outbox.add(harness.prompt("b"));
    await idle();
    expect(harness.sent).toEqual(["a"]);
    expect(outbox.items("ses_1")[0]).toMatchObject({ problem: AWAY.why, isStuck: false });
    harness.timers.at(-1)?.run();
    await idle();
    expect(harness.sent).toEqual(["a", "a"]);
    expect(harness.timers.map(({ afterMs }) => afterMs)).toEqual([600, 1_200]);
    harness.answer = { is: "sent" };
    outbox.wake();
    await idle();
    expect(harness.sent).toEqual(["a", "a", "a", "b"]);
    expect(harness.kept.size).toBe(0);
  });

  it("survive a reload", async () => {
    harness.answer = AWAY;
    const before = harness.open();
    void before.add(harness.prompt("a"));
    void before.add(harness.prompt("b", "ses_2"));
    await idle();
    before.stop();
    harness.answer = { is: "sent" };
    harness.sent.length = 0;
    const after = harness.open();
    expect(after.items("ses_1")).toMatchObject([{ dispatchId: "a", content: "Do a" }]);
    after.wake();
    await idle();
    expect(harness.sent.sort()).toEqual(["a", "b"]);
    expect(harness.kept.size).toBe(0);
  });

  it("stay with the reason when they are refused, and do not hold up the next one", async () => {
    harness.answer = { is: "refused", error: new Error("This session is archived.") };
    const outbox = harness.open();
    const first = outbox.add(harness.prompt("a"));
    expect((await first)?.message).toBe("This session is archived.");
    expect(outbox.items("ses_1")).toMatchObject([
      { problem: "This session is archived.", isStuck: true },
    ]);
    harness.answer = { is: "sent" };
    await outbox.add(harness.prompt("b"));
    expect(harness.sent).toEqual(["a", "b"]);
    outbox.wake();
    await idle();
    expect(harness.sent).toEqual(["a", "b"]);
    outbox.retry(harness.prompt("a"));
    await idle();
    expect(harness.sent).toEqual(["a", "b", "a"]);
    expect(harness.kept.size).toBe(0);
  });

  it("are not sent without asking when they are more than a day old", async () => {
    harness.kept.set(`${PREFIX}old`, JSON.stringify(harness.prompt("old")));
    harness.now += DAY_MS + 1;
    const outbox = harness.open();
    outbox.wake();
    await idle();
    expect(harness.sent).toEqual([]);
    expect(outbox.items("ses_1")).toMatchObject([{ isStuck: true }]);
    outbox.discard(harness.prompt("old"));
    expect(harness.kept.size).toBe(0);
  });

  it("leave alone what another tab keeps", async () => {
    harness.answer = AWAY;
    const one = harness.open();
    const other = harness.open();
    void one.add(harness.prompt("a"));
    void other.add(harness.prompt("b", "ses_2"));
    await idle();
    expect(harness.stored.sort()).toEqual(["a", "b"]);
    one.discard(harness.prompt("a"));
    expect(harness.stored).toEqual(["b"]);
  });

  it("wait as long as the server asks for, and are sent by themselves then", async () => {
    harness.answer = { is: "busy", why: "Too many requests.", afterMs: 7_000 };
    const outbox = harness.open();
    void outbox.add(harness.prompt("a"));
    void outbox.add(harness.prompt("b"));
    await idle();
    expect(outbox.items("ses_1")[0]).toMatchObject({
      problem: "Too many requests.",
      isBusy: true,
      isStuck: false,
    });
    // Only the time sends it, and other sessions do not wait for it.
    outbox.wake();
    await idle();
    expect(harness.sent).toEqual(["a"]);
    harness.answer = { is: "sent" };
    await outbox.add(harness.prompt("c", "ses_2"));
    expect(harness.timers.map(({ afterMs }) => afterMs)).toEqual([7_000]);
    await harness.later();
    expect(harness.sent).toEqual(["a", "c", "a", "b"]);
    expect(harness.kept.size).toBe(0);
  });

  it("are asked about again after minutes, however long the server asks for", async () => {
    harness.answer = { is: "busy", why: "Too many requests.", afterMs: DAY_MS };
    void harness.open().add(harness.prompt("a"));
    await idle();
    expect(harness.timers.map(({ afterMs }) => afterMs)).toEqual([5 * 60_000]);
  });

  it("stay for their person when the sign-in has ended, and are sent when it is renewed", async () => {
    harness.answer = { is: "not_signed_in", why: "Sign in again." };
    const before = harness.open();
    void before.add(harness.prompt("a"));
    void before.add(harness.prompt("b"));
    await idle();
    expect(before.items("ses_1")[0]).toMatchObject({ problem: "Sign in again.", isStuck: false });
    expect([harness.sent, harness.timers]).toEqual([["a"], []]);
    before.stop();
    expect(harness.stored).toEqual(["a", "b"]);
    harness.answer = { is: "sent" };
    harness.open().wake();
    await idle();
    expect(harness.sent).toEqual(["a", "a", "b"]);
  });

  it("are not sent by a tab once another one has discarded them", async () => {
    harness.answer = AWAY;
    const writer = harness.open();
    const answered = writer.add(harness.prompt("a"));
    void writer.add(harness.prompt("b"));
    await idle();
    const other = harness.open();
    other.discard(harness.prompt("a"));
    await idle();
    writer.sync();
    expect(await answered).toBeUndefined();
    expect(writer.items("ses_1").map(({ dispatchId }) => dispatchId)).toEqual(["b"]);
    harness.answer = { is: "sent" };
    harness.sent.length = 0;
    await harness.later();
    expect(harness.sent).toEqual(["b"]);
  });

  it("are not sent or kept anew by a tab that has not heard of the discarding", async () => {
    harness.answer = AWAY;
    const writer = harness.open();
    void writer.add(harness.prompt("a"));
    await idle();
    harness.open().discard(harness.prompt("a"));
    harness.answer = { is: "sent" };
    harness.sent.length = 0;
    await writer.add(harness.prompt("b", "ses_2"));
    await harness.later();
    expect(harness.sent).toEqual(["b"]);
    expect(harness.kept.size).toBe(0);
  });

  it("stay when the storage cannot be written or read", async () => {
    harness.answer = AWAY;
    harness.isForbidden = true;
    const outbox = harness.open();
    void outbox.add(harness.prompt("a"));
    await idle();
    outbox.sync();
    harness.answer = { is: "sent" };
    await harness.later();
    expect(harness.sent).toEqual(["a", "a"]);
  });

  it("are refused when the server fails at them alone, and hold up nothing then", async () => {
    const error = new Error("Something went wrong on the server.");
    const poison = async ({ dispatchId }: UnsentPrompt): Promise<SendResult> => {
      harness.sent.push(dispatchId);
      return dispatchId === "a" ? { is: "failed", error } : { is: "sent" };
    };
    const outbox = harness.open({ send: poison });
    const answered = outbox.add(harness.prompt("a"));
    void outbox.add(harness.prompt("b"));
    await idle();
    for (let tries = 1; tries < 5; tries += 1) await harness.later();
    expect(await answered).toBe(error);
    expect(harness.sent).toEqual(["a", "a", "a", "a", "a", "b"]);
    expect(outbox.items("ses_1")).toMatchObject([{ isStuck: true, problem: error.message }]);
    // A manual retry gets the full number of attempts again.
    outbox.retry(harness.prompt("a"));
    await idle();
    expect(outbox.items("ses_1")).toMatchObject([{ isStuck: false }]);
  });

  it("wait for a server that fails at everything, however often", async () => {
    harness.answer = { is: "failed", error: new Error("No database.") };
    harness.isServerWell = false;
    const outbox = harness.open();
    void outbox.add(harness.prompt("a"));
    await idle();
    for (let tries = 1; tries < 20; tries += 1) await harness.later();
    expect(outbox.items("ses_1")).toMatchObject([{ isStuck: false, problem: "No database." }]);
    harness.answer = { is: "sent" };
    await harness.later();
    expect(harness.kept.size).toBe(0);
  });

  it.each(["nonsense", "null", '{"a": 1}', '{"dispatchId": 3}'])(
    "ignore %s in the storage",
    (text) => {
      harness.kept.set(`${PREFIX}x`, text);
      harness.kept.set("muster.unsent.usr_2.y", JSON.stringify(harness.prompt("y")));
      expect(harness.open().items("ses_1")).toEqual([]);
    },
  );
});
