/** A session's log as server-sent events. */
import type { ServerResponse } from "node:http";
import type { PreparedEvent, SessionFeeds, Sink } from "./session-feed.ts";

const HEARTBEAT_MS = 15_000;
/** A credential that was taken away ends what it opened, within a second. */
const CHECK_EVERY_MS = 400;
/** A stream that has ended waits so long for its reader to take the rest. */
const END_WITHIN_MS = 2_000;

export function streamEvents(
  feeds: SessionFeeds,
  sessionId: string,
  after: number,
  response: ServerResponse,
  stillGood: () => Promise<boolean>,
): void {
  // It may have closed while the reader's rights were looked up; then nothing would ever end this.
  if (response.destroyed || response.closed) return;
  response.writeHead(200, {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",
    Connection: "keep-alive",
  });
  response.flushHeaders();
  const leave = feeds.follow(sessionId, after, sinkOf(response));
  const heartbeat = setInterval(() => {
    if (!response.writableNeedDrain) response.write(": still here\n\n");
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
    leave();
  };
  /** Nothing is written from here on, also while the reader does not take what was. */
  const end = () => {
    stop();
    response.end();
    setTimeout(() => response.destroy(), END_WITHIN_MS).unref();
  };
  // Its reader may break off at any moment.
  response.on("error", () => response.destroy());
  response.on("close", stop);
}

function sinkOf(response: ServerResponse): Sink {
  return {
    event: ({ seq, type, json }: PreparedEvent) =>
      response.write(`id: ${seq}\nevent: ${type}\ndata: ${json}\n\n`),
    delta: ({ json }) => response.write(`event: delta\ndata: ${json}\n\n`),
    drained: () =>
      new Promise((resolve) =>
        response.writableNeedDrain ? response.once("drain", resolve) : resolve(undefined),
      ),
    // The reader has the cursor in the ids it was sent; nothing needs to be said.
    movedBack: () => {},
  };
}
