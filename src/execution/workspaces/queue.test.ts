import { describe, expect, it } from "vitest";
import { createNamedQueues } from "./queue.ts";

function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));
const never = { signal: new AbortController().signal, error: () => new Error("stopped") };

describe("lines of waiting", () => {
  it("do one thing after the other of one name, and let other names go on", async () => {
    const inTurn = createNamedQueues();
    const acts: string[] = [];
    const slow = gate();
    const first = inTurn("a", () => slow.opened.then(() => acts.push("a1")), never);
    const second = inTurn("a", async () => acts.push("a2"), never);
    await inTurn("b", async () => acts.push("b"), never);
    expect(acts).toEqual(["b"]);
    slow.open();
    await Promise.all([first, second]);
    expect(acts).toEqual(["b", "a1", "a2"]);
  });

  it("go on after a failure", async () => {
    const inTurn = createNamedQueues();
    const failed = inTurn("a", () => Promise.reject(new Error("no")), never);
    const next = inTurn("a", async () => "yes", never);
    await expect(failed).rejects.toThrow("no");
    expect(await next).toBe("yes");
  });

  it("are left at once by who is stopped while waiting, and its work is not begun", async () => {
    const inTurn = createNamedQueues();
    const slow = gate();
    const acts: string[] = [];
    const first = inTurn("a", () => slow.opened, never);
    const stop = new AbortController();
    const stopped = { signal: stop.signal, error: () => new Error("stopped") };
    const waiting = inTurn("a", async () => acts.push("ran"), stopped);
    const after = inTurn("a", async () => acts.push("after"), never);
    stop.abort();
    await expect(waiting).rejects.toThrow("stopped");
    await expect(inTurn("a", async () => acts.push("late"), stopped)).rejects.toThrow("stopped");
    slow.open();
    await Promise.all([first, after]);
    expect(acts).toEqual(["after"]);
  });

  it("wait for who has begun, also when it is stopped", async () => {
    const inTurn = createNamedQueues();
    const slow = gate();
    const stop = new AbortController();
    let isSettled = false;
    const begun = inTurn("a", () => slow.opened, { signal: stop.signal, error: never.error });
    void begun.then(() => {
      isSettled = true;
    });
    await settle();
    stop.abort();
    await settle();
    expect(isSettled).toBe(false);
    slow.open();
    await begun;
  });
});
