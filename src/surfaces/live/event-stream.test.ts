import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { streamEvents } from "./event-stream.ts";
import type { SessionFeeds, Sink } from "./session-feed.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
});
afterEach(() => {
  vi.useRealTimers();
});

it("ends with its credential, also when its reader takes nothing, and harms nobody", async () => {
  let isGood = true;
  let left = 0;
  const opened = Promise.withResolvers<{ sink: Sink; response: ServerResponse }>();
  const server = createServer((_request, response) => {
    const follow = (_id: string, _after: number, sink: Sink) => {
      opened.resolve({ sink, response });
      return async () => {
        left += 1;
      };
    };
    const feeds = { follow } as unknown as SessionFeeds;
    const stream = { sessionId: "ses_1", after: 0, party: "ann", ended: () => {} };
    streamEvents(feeds, response, { ...stream, stillGood: async () => isGood });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const reader = connect((server.address() as AddressInfo).port, "127.0.0.1");
  reader.on("error", () => {});
  reader.pause();
  reader.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  const { sink, response } = await opened.promise;
  const json = JSON.stringify("x".repeat(1_000_000));
  for (let seq = 1; seq <= 20; seq++) sink.event({ seq, type: "message", json });
  isGood = false;
  vi.advanceTimersByTime(400);
  await expect.poll(() => response.writableEnded).toBe(true);
  expect(left).toBe(1);
  // A heartbeat that is written now would be an error that nobody takes, and end the process.
  vi.advanceTimersByTime(60_000);
  await once(response, "close");
  reader.destroy();
  server.close();
});
