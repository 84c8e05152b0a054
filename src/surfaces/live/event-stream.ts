/** A session's log as server-sent events. */
import type { ServerResponse } from "node:http";
import type { PreparedEvent, SessionFeeds, Sink } from "./session-feed.ts";

const HEARTBEAT_MS = 15_000;
/** A reader that takes nothing for this many heartbeats is closed; it may return with its cursor. */
const MAX_MISSED_HEARTBEATS = 8;
/** Limit above which nothing more is written until the reader has taken all of it. */
const HIGH_WATER_BYTES = 64 * 1024;
/** A revoked credential ends its streams within a second. */
const CHECK_EVERY_MS = 400;
/** Time that an ended stream waits for its reader to take the rest. */
const END_WITHIN_MS = 2_000;

export interface EventStream {
  sessionId: string;
  after: number;
  /** Party that reads; see `Sink`. */
  party: string;
  stillGood(): Promise<boolean>;
  /** Called once, when the stream has ended. */
  ended(): void;
}

export function streamEvents(
  feeds: SessionFeeds,
  response: ServerResponse,
  { sessionId, after, party, stillGood, ended }: EventStream,
): void {
  // The response may have closed while the reader's rights were checked; then nothing would ever end this.
  if (response.destroyed || response.closed) {
    ended();
    return;
  }
  response.writeHead(200, {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",
    Connection: "keep-alive",
  });
  response.flushHeaders();
  const leave = feeds.follow(sessionId, after, sinkOf(response, party));
  let missed = 0;
  response.on("drain", () => {
    missed = 0;
  });
  // The reader may disconnect at any moment.
  response.on("error", () => response.destroy());
  const heartbeat = setInterval(() => {
    missed = response.writableNeedDrain ? missed + 1 : 0;
    if (missed >= MAX_MISSED_HEARTBEATS) response.destroy();
    else if (missed === 0) response.write(": still here\n\n");
  }, HEARTBEAT_MS);
  const check = setInterval(() => {
    stillGood().then(
      (good) => {
        if (!good) end();
      },
      () => {},
    );
  }, CHECK_EVERY_MS);
  const stop = () => {
    clearInterval(heartbeat);
    clearInterval(check);
    void leave();
  };
  /** Stops writing, also while the reader has not taken everything. */
  const end = () => {
    stop();
    response.end();
    setTimeout(() => response.destroy(), END_WITHIN_MS).unref();
  };
  response.on("close", () => {
    stop();
    ended();
  });
}

function sinkOf(response: ServerResponse, party: string): Sink {
  return {
    party,
    isFull: () => response.writableLength >= HIGH_WATER_BYTES,
    event: (event: PreparedEvent) => {
      const { seq, type, json } = event;
      event.streamed ??= Buffer.from(`id: ${seq}\nevent: ${type}\ndata: ${json}\n\n`);
      response.write(event.streamed);
    },
    delta: (delta) => {
      delta.streamed ??= Buffer.from(`event: delta\ndata: ${delta.json}\n\n`);
      response.write(delta.streamed);
    },
    drained: () =>
      new Promise((resolve) => {
        if (!response.writableNeedDrain || response.destroyed) return resolve();
        const done = () => {
          response.off("drain", done);
          response.off("close", done);
          resolve();
        };
        response.on("drain", done);
        response.on("close", done);
      }),
    // The reader has the cursor in the ids it was sent, so no message is needed.
    movedBack: () => {},
  };
}
