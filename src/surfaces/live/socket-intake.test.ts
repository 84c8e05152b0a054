import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { type IntakeOptions, SocketIntake } from "./socket-intake.ts";

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

const rateOf = (owes: () => number) => ({ owes, owesItself: owes });

/** Opens a peer, and records the messages that the intake has handled. */
async function open(options: Partial<IntakeOptions> = {}) {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  await once(server, "listening");
  const accepted = once(server, "connection") as Promise<[WebSocket]>;
  const { port } = server.address() as AddressInfo;
  const peer = new WebSocket(`ws://127.0.0.1:${port}`);
  const [socket] = await accepted;
  await once(peer, "open");
  ends.push(() => {
    peer.terminate();
    server.close();
  });
  const handled: string[] = [];
  const seen = { gaveUp: 0, most: 0, running: 0, bytes: 0 };
  new SocketIntake(socket, {
    rate: { owes: () => 0, owesItself: () => 0 },
    count: (bytes) => {
      seen.bytes += bytes;
    },
    room: () => undefined,
    handle: (data) => {
      handled.push(String(data));
      return undefined;
    },
    atOnce: 1,
    atOnceBytes: 1_000_000,
    patienceMs: 60_000,
    gaveUp: () => {
      seen.gaveUp += 1;
    },
    ...options,
  });
  return { peer, socket, handled, seen };
}

describe("the intake of a socket", () => {
  it("handles everything in order, and counts it", async () => {
    const { peer, handled, seen } = await open();
    const sent = Array.from({ length: 5_000 }, (_none, at) => `${at}`);
    for (const text of sent) peer.send(text);
    await expect.poll(() => handled.length).toBe(sent.length);
    expect(handled).toEqual(sent);
    expect(seen.bytes).toBe(sent.join("").length);
  });

  it("begins no more than its places at once", async () => {
    const seen = { running: 0, most: 0, done: 0 };
    const { peer } = await open({
      atOnce: 3,
      handle: async () => {
        seen.running += 1;
        seen.most = Math.max(seen.most, seen.running);
        await new Promise((resolve) => setTimeout(resolve, 1));
        seen.running -= 1;
        seen.done += 1;
      },
    });
    for (let at = 0; at < 60; at++) peer.send("x");
    await expect.poll(() => seen.done).toBe(60);
    expect(seen.most).toBe(3);
  });

  it("begins no more bytes than it may at once, but one message of any size", async () => {
    const seen = { bytes: 0, most: 0, done: 0 };
    const { peer } = await open({
      atOnce: 100,
      atOnceBytes: 2_500,
      handle: async ({ length }) => {
        seen.bytes += length;
        seen.most = Math.max(seen.most, seen.bytes);
        await new Promise((resolve) => setTimeout(resolve, 1));
        seen.bytes -= length;
        seen.done += 1;
      },
    });
    for (let at = 0; at < 20; at++) peer.send("x".repeat(1_000));
    await expect.poll(() => seen.done).toBe(20);
    expect(seen.most).toBe(2_000);
    peer.send("x".repeat(10_000));
    await expect.poll(() => seen.done).toBe(21);
  });

  it("is slowed, but not closed, by what others of its owner have sent", async () => {
    let debtMs = 20;
    const { peer, handled, seen } = await open({
      rate: { owes: () => debtMs, owesItself: () => 0 },
      patienceMs: 50,
    });
    peer.send("x");
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect([handled, seen.gaveUp]).toEqual([[], 0]);
    debtMs = 0;
    await expect.poll(() => handled).toEqual(["x"]);
  });

  it("lets the loop turn when many sockets have much to do", async () => {
    const busy = () => {
      for (const until = performance.now() + 2; performance.now() < until; ) void 0;
      return undefined;
    };
    const all = await Promise.all(Array.from({ length: 20 }, () => open({ handle: busy })));
    let longestMs = 0;
    let isOver = false;
    let at = performance.now();
    const look = () => {
      longestMs = Math.max(longestMs, performance.now() - at);
      at = performance.now();
      if (!isOver) setImmediate(look);
    };
    for (const { peer } of all) for (let n = 0; n < 10; n++) peer.send("x");
    setImmediate(look);
    await expect.poll(() => all.every(({ seen }) => seen.bytes === 10)).toBe(true);
    isOver = true;
    // All sockets share the 5 ms: twenty of them do not get 20 times as much.
    expect(longestMs).toBeLessThan(20 * 5);
  });

  it("does not read a sender above its rate: the sender's own queue holds the rest", async () => {
    let debtMs = 1_000;
    const { peer, socket, handled } = await open({ rate: rateOf(() => debtMs) });
    const text = "x".repeat(64 * 1024);
    const most = 1_000;
    for (let at = 0; at < most; at++) peer.send(text);
    await expect.poll(() => socket.isPaused).toBe(true);
    // Long enough for all messages, if they were read.
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(handled).toEqual([]);
    expect(peer.bufferedAmount).toBeGreaterThan((most * text.length) / 2);
    debtMs = 0;
    await expect.poll(() => handled.length).toBe(most);
    expect(socket.isPaused).toBe(false);
  });

  it("waits while its peer does not read the answers", async () => {
    let isFull = true;
    const { peer, handled } = await open({
      room: () => (isFull ? new Promise((resolve) => setTimeout(resolve, 5)) : undefined),
    });
    peer.send("x");
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(handled).toEqual([]);
    isFull = false;
    await expect.poll(() => handled).toEqual(["x"]);
  });

  it("closes a sender that stays above its rate, and drops what it had sent", async () => {
    const { peer, handled, seen } = await open({ rate: rateOf(() => 20), patienceMs: 100 });
    for (let at = 0; at < 100; at++) peer.send("x");
    const [code, reason] = await once(peer, "close");
    expect(code).toBe(4429);
    expect(String(reason)).toMatch(/^rate_limited: .*connect again later$/);
    expect(seen.gaveUp).toBe(1);
    expect(handled).toEqual([]);
  });

  it("forgets what waits when the peer hangs up", async () => {
    let debtMs = 1_000;
    const { peer, socket, handled } = await open({ rate: rateOf(() => debtMs) });
    for (let at = 0; at < 100; at++) peer.send("x");
    await expect.poll(() => socket.isPaused).toBe(true);
    socket.terminate();
    await once(socket, "close");
    debtMs = 0;
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(handled).toEqual([]);
  });
});
