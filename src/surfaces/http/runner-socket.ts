/** A runner's WebSocket: frames in, frames out, in order. */
import type { WebSocket } from "ws";
import { exceededBound } from "#base/json-bounds.ts";
import type { Log } from "#base/log.ts";
import { cleanValue, mayHoldUnstorable } from "#base/text.ts";
import type { Principal } from "#engine/index.ts";
import type { Dispatcher } from "#engine/runs/index.ts";
import { RUNNER_FRAME_BOUNDS } from "#protocol/bounds.ts";
import { type RunnerFrame, runnerFrameSchema } from "#protocol/frames.ts";
import { SocketPulse } from "./socket-pulse.ts";

const MAX_ID_CHARS = 200;
const ALIVE_WITHIN_MS = 1_000;
/** A token that was taken away ends what it opened, within a second. */
const CHECK_EVERY_MS = 400;

export function serveRunner(
  socket: WebSocket,
  principal: Extract<Principal, { kind: "runner" }>,
  dispatcher: Dispatcher,
  { stillGood, log }: { stillGood(): Promise<boolean>; log: Log },
): void {
  const connection = dispatcher.connect(principal, {
    send: (frame) => {
      if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(frame));
    },
    close: (reason) => socket.close(1008, reason.slice(0, 100)),
    isAlive: () => answersPing(socket),
    isQuiet: () => pulse.isQuiet,
  });
  const pulse = new SocketPulse(socket, {
    dead: () => {
      log.warn({ runnerId: connection.runnerId }, "a runner has fallen silent; given up");
      connection.fellSilent();
    },
    heardAgain: () => dispatcher.poke(),
  });
  socket.on("message", (data, isBinary) => {
    const bytes = data as Buffer;
    // Before anything is made of it: what is nested deep or holds very many values costs far more
    // to parse than to send.
    if (exceededBound(bytes, RUNNER_FRAME_BOUNDS))
      return socket.close(1009, "a frame is nested too deep or holds too much");
    const { frame, id, op } = isBinary ? {} : parseFrame(String(bytes));
    if (!frame && id !== undefined) return refuseFrame(socket, id);
    // A piece that is shown may be lost, and the other turns on this line go on.
    if (!frame && op === "delta") return log.warn({ runnerId: connection.runnerId }, BAD_DELTA);
    if (!frame) return socket.close(1007, "not a runner frame");
    connection.receive(frame).catch((error: unknown) => {
      // The runner keeps what was not acknowledged and sends it again on the next connection.
      log.error({ err: error, op: frame.op }, "a runner frame failed");
      socket.close(1011, "try again");
    });
  });
  const check = async () => {
    if (!connection.closed && !(await stillGood()))
      await connection.revoke("the token was taken away");
  };
  const checks = setInterval(() => {
    check().catch((error: unknown) => log.warn({ err: error }, "could not check a runner's token"));
  }, CHECK_EVERY_MS);
  socket.on("close", () => {
    clearInterval(checks);
    dispatcher
      .disconnect(connection)
      .catch((error: unknown) => log.warn({ err: error }, "could not mark a runner offline"));
  });
  socket.on("error", (error) => log.warn({ err: error }, "a runner's socket failed"));
}

const BAD_DELTA = "a piece of an entry was not as this server knows it; it was left out";

/** `id` and `op`: of one that is no frame we know, but can be answered or left out. */
function parseFrame(text: string): { frame?: RunnerFrame; id?: string; op?: unknown } {
  try {
    const json: unknown = JSON.parse(text);
    // What agents, tools and models wrote is kept as far as it can be stored.
    const value = mayHoldUnstorable(text) ? cleanValue(json) : json;
    const parsed = runnerFrameSchema.safeParse(value);
    if (parsed.success) return { frame: parsed.data };
    const { id, op } = value as { id?: unknown; op?: unknown };
    return typeof id === "string" && id.length <= MAX_ID_CHARS ? { id, op } : { op };
  } catch {
    return {};
  }
}

/** Sent again it would be no better, so the runner is told instead of left to try. */
function refuseFrame(socket: WebSocket, id: string): void {
  const message = "The frame is not as this server knows it. Update the older of the two.";
  socket.send(JSON.stringify({ op: "refused", id, code: "frame_invalid", message }));
}

function answersPing(socket: WebSocket): Promise<boolean> {
  if (socket.readyState !== socket.OPEN) return Promise.resolve(false);
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), ALIVE_WITHIN_MS);
    socket.once("pong", () => {
      clearTimeout(timer);
      resolve(true);
    });
    socket.ping();
  });
}
