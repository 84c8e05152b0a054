import { beforeEach, describe, expect, it } from "vitest";
import { keptPrompts, type UnsentPrompt } from "./kept-prompts.ts";
import { type OutboxOptions, PromptOutbox, type SendResult } from "./prompt-outbox.ts";

const PREFIX = "muster.unsent.usr_1.";
const DAY_MS = 24 * 60 * 60_000;

/** Browser and server controlled by a test: storage, requests and answers. */
class Desk {
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

  /** Runs the last timer that was set. */
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
  let desk: Desk;
  beforeEach(() => {
    desk = new Desk();
  });

  it("are kept until the server has answered", async () => {
    let release: (result: SendResult) => void = () => {};
    const send = () => new Promise<SendResult>((resolve) => (release = resolve));
    const outbox = desk.open({ send });
    const answered = outbox.add(desk.prompt("a"));
    expect(desk.stored).toEqual(["a"]);
    expect(outbox.items("ses_1")).toMatchObject([{ content: "Do a", problem: null }]);
    release({ is: "sent" });
    expect(await answered).toBeUndefined();
    expect(desk.kept.size).toBe(0);
    expect(outbox.items("ses_1")).toEqual([]);
  });

  it("are sent by themselves once the server is back, in order and with the same id", async () => {
    desk.answer = AWAY;
    const outbox = desk.open();
    void outbox.add(desk.prompt("a"));
    void outbox.add(desk.prompt("b"));
    await idle();
    expect(desk.sent).toEqual(["a"]);
    expect(outbox.items("ses_1")[0]).toMatchObject({ problem: AWAY.why, isStuck: false });
    desk.timers.at(-1)?.run();
    await idle();
    expect(desk.sent).toEqual(["a", "a"]);
    expect(desk.timers.map(({ afterMs }) => afterMs)).toEqual([600, 1_200]);
    desk.answer = { is: "sent" };
    outbox.wake();
    await idle();
    expect(desk.sent).toEqual(["a", "a", "a", "b"]);
    expect(desk.kept.size).toBe(0);
  });

  it("survive a reload", async () => {
    desk.answer = AWAY;
    const before = desk.open();
    void before.add(desk.prompt("a"));
    void before.add(desk.prompt("b", "ses_2"));
    await idle();
    before.stop();
    desk.answer = { is: "sent" };
    desk.sent.length = 0;
    const after = desk.open();
    expect(after.items("ses_1")).toMatchObject([{ dispatchId: "a", content: "Do a" }]);
    after.wake();
    await idle();
    expect(desk.sent.sort()).toEqual(["a", "b"]);
    expect(desk.kept.size).toBe(0);
  });

  it("stay with the reason when they are refused, and do not hold up the next one", async () => {
    desk.answer = { is: "refused", error: new Error("This session is archived.") };
    const outbox = desk.open();
    const first = outbox.add(desk.prompt("a"));
    expect((await first)?.message).toBe("This session is archived.");
    expect(outbox.items("ses_1")).toMatchObject([
      { problem: "This session is archived.", isStuck: true },
    ]);
    desk.answer = { is: "sent" };
    await outbox.add(desk.prompt("b"));
    expect(desk.sent).toEqual(["a", "b"]);
    outbox.wake();
    await idle();
    expect(desk.sent).toEqual(["a", "b"]);
    outbox.retry(desk.prompt("a"));
    await idle();
    expect(desk.sent).toEqual(["a", "b", "a"]);
    expect(desk.kept.size).toBe(0);
  });

  it("are not sent without asking when they are more than a day old", async () => {
    desk.kept.set(`${PREFIX}old`, JSON.stringify(desk.prompt("old")));
    desk.now += DAY_MS + 1;
    const outbox = desk.open();
    outbox.wake();
    await idle();
    expect(desk.sent).toEqual([]);
    expect(outbox.items("ses_1")).toMatchObject([{ isStuck: true }]);
    outbox.discard(desk.prompt("old"));
    expect(desk.kept.size).toBe(0);
  });

  it("leave alone what another tab keeps", async () => {
    desk.answer = AWAY;
    const one = desk.open();
    const other = desk.open();
    void one.add(desk.prompt("a"));
    void other.add(desk.prompt("b", "ses_2"));
    await idle();
    expect(desk.stored.sort()).toEqual(["a", "b"]);
    one.discard(desk.prompt("a"));
    expect(desk.stored).toEqual(["b"]);
  });

  it("wait as long as the server asks for, and are sent by themselves then", async () => {
    desk.answer = { is: "busy", why: "Too many requests.", afterMs: 7_000 };
    const outbox = desk.open();
    void outbox.add(desk.prompt("a"));
    void outbox.add(desk.prompt("b"));
    await idle();
    expect(outbox.items("ses_1")[0]).toMatchObject({
      problem: "Too many requests.",
      isBusy: true,
      isStuck: false,
    });
    // Only the time sends it, and other sessions do not wait for it.
    outbox.wake();
    await idle();
    expect(desk.sent).toEqual(["a"]);
    desk.answer = { is: "sent" };
    await outbox.add(desk.prompt("c", "ses_2"));
    expect(desk.timers.map(({ afterMs }) => afterMs)).toEqual([7_000]);
    await desk.later();
    expect(desk.sent).toEqual(["a", "c", "a", "b"]);
    expect(desk.kept.size).toBe(0);
  });

  it("are asked about again after minutes, however long the server asks for", async () => {
    desk.answer = { is: "busy", why: "Too many requests.", afterMs: DAY_MS };
    void desk.open().add(desk.prompt("a"));
    await idle();
    expect(desk.timers.map(({ afterMs }) => afterMs)).toEqual([5 * 60_000]);
  });

  it("stay for their person when the sign-in has ended, and are sent when it is renewed", async () => {
    desk.answer = { is: "not_signed_in", why: "Sign in again." };
    const before = desk.open();
    void before.add(desk.prompt("a"));
    void before.add(desk.prompt("b"));
    await idle();
    expect(before.items("ses_1")[0]).toMatchObject({ problem: "Sign in again.", isStuck: false });
    expect([desk.sent, desk.timers]).toEqual([["a"], []]);
    before.stop();
    expect(desk.stored).toEqual(["a", "b"]);
    desk.answer = { is: "sent" };
    desk.open().wake();
    await idle();
    expect(desk.sent).toEqual(["a", "a", "b"]);
  });

  it("are not sent by a tab once another one has discarded them", async () => {
    desk.answer = AWAY;
    const writer = desk.open();
    const answered = writer.add(desk.prompt("a"));
    void writer.add(desk.prompt("b"));
    await idle();
    const other = desk.open();
    other.discard(desk.prompt("a"));
    await idle();
    writer.sync();
    expect(await answered).toBeUndefined();
    expect(writer.items("ses_1").map(({ dispatchId }) => dispatchId)).toEqual(["b"]);
    desk.answer = { is: "sent" };
    desk.sent.length = 0;
    await desk.later();
    expect(desk.sent).toEqual(["b"]);
  });

  it("are not sent or kept anew by a tab that has not heard of the discarding", async () => {
    desk.answer = AWAY;
    const writer = desk.open();
    void writer.add(desk.prompt("a"));
    await idle();
    desk.open().discard(desk.prompt("a"));
    desk.answer = { is: "sent" };
    desk.sent.length = 0;
    await writer.add(desk.prompt("b", "ses_2"));
    await desk.later();
    expect(desk.sent).toEqual(["b"]);
    expect(desk.kept.size).toBe(0);
  });

  it("stay when the storage cannot be written or read", async () => {
    desk.answer = AWAY;
    desk.isForbidden = true;
    const outbox = desk.open();
    void outbox.add(desk.prompt("a"));
    await idle();
    outbox.sync();
    desk.answer = { is: "sent" };
    await desk.later();
    expect(desk.sent).toEqual(["a", "a"]);
  });

  it("are refused when the server fails at them alone, and hold up nothing then", async () => {
    const error = new Error("Something went wrong on the server.");
    const poison = async ({ dispatchId }: UnsentPrompt): Promise<SendResult> => {
      desk.sent.push(dispatchId);
      return dispatchId === "a" ? { is: "failed", error } : { is: "sent" };
    };
    const outbox = desk.open({ send: poison });
    const answered = outbox.add(desk.prompt("a"));
    void outbox.add(desk.prompt("b"));
    await idle();
    for (let tries = 1; tries < 5; tries += 1) await desk.later();
    expect(await answered).toBe(error);
    expect(desk.sent).toEqual(["a", "a", "a", "a", "a", "b"]);
    expect(outbox.items("ses_1")).toMatchObject([{ isStuck: true, problem: error.message }]);
    // A manual retry gets the full number of attempts again.
    outbox.retry(desk.prompt("a"));
    await idle();
    expect(outbox.items("ses_1")).toMatchObject([{ isStuck: false }]);
  });

  it("wait for a server that fails at everything, however often", async () => {
    desk.answer = { is: "failed", error: new Error("No database.") };
    desk.isServerWell = false;
    const outbox = desk.open();
    void outbox.add(desk.prompt("a"));
    await idle();
    for (let tries = 1; tries < 20; tries += 1) await desk.later();
    expect(outbox.items("ses_1")).toMatchObject([{ isStuck: false, problem: "No database." }]);
    desk.answer = { is: "sent" };
    await desk.later();
    expect(desk.kept.size).toBe(0);
  });

  it.each(["nonsense", "null", '{"a": 1}', '{"dispatchId": 3}'])(
    "ignore %s in the storage",
    (text) => {
      desk.kept.set(`${PREFIX}x`, text);
      desk.kept.set("muster.unsent.usr_2.y", JSON.stringify(desk.prompt("y")));
      expect(desk.open().items("ses_1")).toEqual([]);
    },
  );
});
