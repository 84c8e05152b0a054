import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { streamEvents } from "./event-stream.ts";
import type { SessionFeeds, Sink } from "./session-feed.ts";

const HEARTBEAT_MS = 15_000;
const MISSED = 8;

const ends: (() => void)[] = [];
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
});
afterEach(() => {
  vi.useRealTimers();
  for (const end of ends.splice(0)) end();
});

/** Opens a stream and its reader. */
async function open({ isGood }: { isGood(): boolean } = { isGood: () => true }) {
  const seen = { ended: 0, left: 0 };
  const { promise: followed, resolve } = Promise.withResolvers<Sink>();
  const follow = (_id: string, _after: number, sink: Sink) => {
    resolve(sink);
    return async () => {
      seen.left += 1;
    };
  };
  const server = createServer((_request, response) =>
    streamEvents({ follow } as unknown as SessionFeeds, response, {
      ...{ sessionId: "ses_1", after: 0, party: "ann" },
      stillGood: async () => isGood(),
      ended: () => {
        seen.ended += 1;
      },
    }),
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const reader: Socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  reader.on("error", () => {});
  ends.push(() => {
    reader.destroy();
    server.closeAllConnections();
    server.close();
  });
  reader.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  return { reader, sink: await followed, seen };
}

/** Sends until nothing more is taken: the kernel buffers hold some megabytes. */
async function fill(sink: Sink): Promise<void> {
  const json = JSON.stringify("x".repeat(60_000));
  for (let seq = 1; seq < 5_000; seq++) {
    if (sink.isFull()) await Promise.race([sink.drained(), pause(50)]);
    if (sink.isFull()) return;
    sink.event({ seq, type: "message", json });
  }
  throw new Error("It took everything.");
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe("a stream of events", () => {
  it("is given up when its reader takes nothing for a while", async () => {
    const { reader, sink, seen } = await open();
    reader.pause();
    await fill(sink);
    vi.advanceTimersByTime(HEARTBEAT_MS * (MISSED - 1));
    expect(seen.ended).toBe(0);
    vi.advanceTimersByTime(HEARTBEAT_MS);
    await expect.poll(() => seen).toEqual({ ended: 1, left: 1 });
  });

  it("goes on when the reader has taken what waited", async () => {
    const { reader, sink, seen } = await open();
    reader.pause();
    await fill(sink);
    vi.advanceTimersByTime(HEARTBEAT_MS * (MISSED - 1));
    let text = "";
    reader.on("data", (data) => {
      text = text.slice(-100) + String(data);
    });
    reader.resume();
    await sink.drained();
    vi.advanceTimersByTime(HEARTBEAT_MS * (MISSED - 1));
    await expect.poll(() => text.includes(": still here")).toBe(true);
    expect(seen.ended).toBe(0);
  });

  it("ends with its credential, also when its reader takes nothing, and harms nobody", async () => {
    let isGood = true;
    const { reader, sink, seen } = await open({ isGood: () => isGood });
    reader.pause();
    await fill(sink);
    isGood = false;
    vi.advanceTimersByTime(400);
    await expect.poll(() => seen.left).toBeGreaterThan(0);
    // The stream has ended, but its reader has not taken the end: nothing may be written any more.
    vi.advanceTimersByTime(HEARTBEAT_MS * 2);
    await expect.poll(() => seen.ended).toBe(1);
  });

  it("holds little for a reader that takes nothing, and wakes who waits when the reader leaves", async () => {
    const { reader, sink, seen } = await open();
    reader.pause();
    await fill(sink);
    const drained = sink.drained();
    reader.destroy();
    await drained;
    await expect.poll(() => seen).toEqual({ ended: 1, left: 1 });
  });
});
