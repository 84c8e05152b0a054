/**
 * A runner's WebSocket: frames in, frames out, in order. A runner may be anybody's machine, so the cost of a
 * frame is bounded, and so is the number of frames under way.
 */
import type { WebSocket } from "ws";
import type { Log } from "#base/log.ts";
import { cleanValue, mayHoldUnstorable } from "#base/text/clean-text.ts";
import { exceededBound } from "#base/text/json-bounds.ts";
import type { Principal } from "#engine/index.ts";
import type { Dispatcher, RunnerConnection } from "#engine/runs/index.ts";
import { MAX_FRAME_ITEMS, MAX_PLAIN_FRAME_BYTES, RUNNER_FRAME_BOUNDS } from "#protocol/bounds.ts";
import { type RunnerFrame, runnerFrameSchema } from "#protocol/frames.ts";
import { type MessageRate, SocketIntake } from "#surfaces/live/index.ts";
import { frameCost, timeCost } from "./message-rates.ts";
import { SocketPulse } from "./socket-pulse.ts";

const MAX_ID_CHARS = 200;
const ALIVE_WITHIN_MS = 1_000;
/** A revoked token ends its sockets within a second. */
const CHECK_EVERY_MS = 400;
const REGISTER_WITHIN_MS = 10_000;
/** Frames that use the database at once. Others wait, so that one runner never fills its queue. */
const FRAMES_AT_ONCE = 32;
const FRAME_BYTES_AT_ONCE = 16 * 1024 * 1024;
const PATIENCE_MS = 60_000;
/** Limit of unread responses above which a runner's frames are not read. */
const HIGH_WATER_BYTES = 4 * 1024 * 1024;
const LOOK_AGAIN_MS = 20;
/** A runner that reads no response for this long is cut off. */
const READ_WITHIN_MS = 30_000;
/** More than the responses to all frames under way. */
const MAX_BACKLOG_BYTES = 64 * 1024 * 1024;
/** Frames that may wait for the outside; the connection bounds them, and leases must not wait behind them. */
const SLOW_FRAMES: ReadonlySet<string> = new Set(["tool", "repository"]);

export interface RunnerSocketOptions {
  stillGood(): Promise<boolean>;
  rate: MessageRate;
  log: Log;
}

export function serveRunner(
  socket: WebSocket,
  principal: Extract<Principal, { kind: "runner" }>,
  dispatcher: Dispatcher,
  { stillGood, rate, log }: RunnerSocketOptions,
): void {
  const connection = dispatcher.connect(principal, {
    send: (frame) => {
      if (socket.readyState !== socket.OPEN) return;
      if (socket.bufferedAmount > MAX_BACKLOG_BYTES) return socket.terminate();
      socket.send(JSON.stringify(frame));
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
  const frames = new FrameReader(socket, connection, { rate, log });
  new SocketIntake(socket, {
    rate,
    count: () => {},
    room: () => roomOf(socket),
    handle: (data, isBinary) => frames.read(data, isBinary),
    atOnce: FRAMES_AT_ONCE,
    atOnceBytes: FRAME_BYTES_AT_ONCE,
    patienceMs: PATIENCE_MS,
    gaveUp: () =>
      log.warn({ runnerId: connection.runnerId }, "a runner sent too much for too long"),
  });
  const unregistered = setTimeout(() => {
    if (!connection.runner) socket.close(1008, "register first");
  }, REGISTER_WITHIN_MS);
  const check = async () => {
    if (!connection.closed && !(await stillGood()))
      await connection.revoke("the token was taken away");
  };
  const unread = new UnreadAnswers(socket);
  const checks = setInterval(() => {
    if (unread.areStuck()) {
      log.warn({ runnerId: connection.runnerId }, "a runner does not read its answers; cut off");
      socket.terminate();
    }
    check().catch((error: unknown) => log.warn({ err: error }, "could not check a runner's token"));
  }, CHECK_EVERY_MS);
  socket.on("close", () => {
    clearInterval(checks);
    clearTimeout(unregistered);
    dispatcher
      .disconnect(connection)
      .catch((error: unknown) => log.warn({ err: error }, "could not mark a runner offline"));
  });
  socket.on("error", (error) => log.warn({ err: error }, "a runner's socket failed"));
}

/** Returns undefined when more responses may be written. */
function roomOf(socket: WebSocket): Promise<void> | undefined {
  if (socket.bufferedAmount <= HIGH_WATER_BYTES) return undefined;
  return new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
}

/** Detects a peer that reads none of its pending responses. */
class UnreadAnswers {
  readonly #socket: WebSocket;
  #least = 0;
  #since = performance.now();

  constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  areStuck(): boolean {
    const bytes = this.#socket.bufferedAmount;
    const now = performance.now();
    if (bytes <= HIGH_WATER_BYTES || bytes < this.#least) {
      this.#since = now;
      this.#least = bytes;
    } else if (this.#least <= HIGH_WATER_BYTES) this.#least = bytes;
    return now - this.#since > READ_WITHIN_MS;
  }
}

interface ReaderParts {
  rate: MessageRate;
  log: Log;
}

/** Turns messages into frames of a connection. */
class FrameReader {
  readonly #socket: WebSocket;
  readonly #connection: RunnerConnection;
  readonly #parts: ReaderParts;
  #hasLoggedBadDelta = false;
  /** Blobs are large: they are sent one after the other, and only while the peer reads. */
  #blobs = Promise.resolve();

  constructor(socket: WebSocket, connection: RunnerConnection, parts: ReaderParts) {
    this.#socket = socket;
    this.#connection = connection;
    this.#parts = parts;
  }

  /** Returns a promise that keeps one of the slots for frames under way. */
  read(bytes: Buffer, isBinary: boolean): Promise<void> | undefined {
    const from = performance.now();
    const done = this.#take(bytes, isBinary);
    this.#parts.rate.spend(timeCost(performance.now() - from));
    return done;
  }

  #take(bytes: Buffer, isBinary: boolean): Promise<void> | undefined {
    // Checked before parsing: a frame that is nested deep or holds very many values costs far more to parse
    // than to send.
    if (exceededBound(bytes, RUNNER_FRAME_BOUNDS)) {
      this.#socket.close(1009, "a frame is nested too deep or holds too much");
      return undefined;
    }
    const { frame, id, op } = isBinary ? {} : parseFrame(bytes);
    this.#parts.rate.spend(frameCost(frame?.op, bytes.length));
    if (frame) return this.#accept(frame);
    if (id !== undefined) refuseFrame(this.#socket, id);
    // A streamed piece may be lost, and the other turns on this connection continue.
    else if (op === "delta") this.#logBadDelta();
    else this.#socket.close(1007, "not a runner frame");
    return undefined;
  }

  #accept(frame: RunnerFrame): Promise<void> | undefined {
    if (frame.op !== "fetch_blob") return this.#dispatch(frame);
    this.#blobs = this.#blobs.then(async () => {
      for (let room = roomOf(this.#socket); room; room = roomOf(this.#socket)) {
        if (this.#socket.readyState !== this.#socket.OPEN) return;
        await room;
      }
      await this.#dispatch(frame);
    });
    return this.#blobs;
  }

  #dispatch(frame: RunnerFrame): Promise<void> | undefined {
    const done = this.#connection.receive(frame).catch((error: unknown) => {
      // The runner keeps unacknowledged frames and sends them again on the next connection.
      this.#parts.log.error({ err: error, op: frame.op }, "a runner frame failed");
      this.#socket.close(1011, "try again");
    });
    return SLOW_FRAMES.has(frame.op) ? undefined : done;
  }

  /** Logs once per connection: a runner that sends nothing else must not fill the log. */
  #logBadDelta(): void {
    if (this.#hasLoggedBadDelta) return;
    this.#hasLoggedBadDelta = true;
    const { runnerId } = this.#connection;
    this.#parts.log.warn({ runnerId }, BAD_DELTA);
  }
}

const BAD_DELTA = "a piece of an entry was not as this server knows it; it was left out";

/** `id` and `op`: of an unknown frame that can still be answered or skipped. */
function parseFrame(bytes: Buffer): { frame?: RunnerFrame; id?: string; op?: unknown } {
  try {
    const text = String(bytes);
    const json: unknown = JSON.parse(text);
    const { id, op, items } = json as { id?: unknown; op?: unknown; items?: unknown };
    const known = typeof id === "string" && id.length <= MAX_ID_CHARS ? { id, op } : { op };
    if (bytes.length > MAX_PLAIN_FRAME_BYTES && op !== "blob") return known;
    // Checked before the schema validates each item and reports each error.
    if (Array.isArray(items) && items.length > MAX_FRAME_ITEMS) return known;
    // Text of agents, tools and models is kept as far as it can be stored.
    const value = mayHoldUnstorable(text) ? cleanValue(json) : json;
    const parsed = runnerFrameSchema.safeParse(value);
    return parsed.success ? { frame: parsed.data } : known;
  } catch {
    return {};
  }
}

/** A retry would fail again, so the runner gets a refusal. */
function refuseFrame(socket: WebSocket, id: string): void {
  const message =
    "This server does not know this frame, or it is too large. Update the older of the two.";
  socket.send(JSON.stringify({ op: "refused", id, code: "frame_invalid", message }));
}

function answersPing(socket: WebSocket): Promise<boolean> {
  if (socket.readyState !== socket.OPEN) return Promise.resolve(false);
  return new Promise((resolve) => {
    // While the socket is paused by its rate, its pongs are not read either.
    if (socket.isPaused) return resolve(true);
    const end = (isAlive: boolean) => {
      clearTimeout(timer);
      socket.off("pong", answered);
      resolve(isAlive);
    };
    const answered = () => end(true);
    const timer = setTimeout(() => end(false), ALIVE_WITHIN_MS);
    socket.once("pong", answered);
    socket.ping();
  });
}
